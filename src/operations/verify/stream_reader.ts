import { randomUUID } from "node:crypto";
import { schemaFingerprint } from "../../rows/schema_fingerprint.ts";
import { Batches } from "../../sync/extract/batches.ts";
import type { Intake } from "../../sync/extract/reading.ts";
import { encoderOf } from "../../sync/stream/extraction.ts";
import { beginScan } from "../../warehouse/state/stream_state.ts";
import { Mirror } from "./comparing_stage.ts";
import type { Comparing } from "./context.ts";

/** What a stream is read through: its rows are encoded as a sync would, and compared instead of stored. */
export interface Instrument extends Intake {
  readonly mirror: Mirror;
}

export function instrumentOf({ context, stream, result }: Comparing): Instrument {
  const { warehouse, company, encoding, clock, service } = context;
  const mirror = new Mirror(
    warehouse,
    company,
    stream.tables,
    schemaFingerprint(stream.tables, encoding.hasher),
    result,
  );
  const encoder = encoderOf(encoding, stream, context.start);
  const nothing = async () => undefined;
  const batches = new Batches(mirror, encoder, { clock, limiter: service.limiter }, nothing, nothing);
  const record = beginScan(randomUUID(), "verify", true, new Date(clock.now()).toISOString());
  return { mirror, encoder, batches, record };
}
