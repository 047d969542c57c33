import type { Encoder } from "../../rows/encoder.ts";
import type { Api } from "../../source/api.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import type { ServiceAccess } from "../context.ts";
import type { StreamProgress } from "../stream_progress.ts";
import type { Batches } from "./batches.ts";

/** What rows become that are read, and the record to go on from. */
export interface Intake {
  readonly encoder: Encoder;
  readonly batches: Batches;
  readonly record: ScanRecord;
}

/** What whoever reads a stream is given: who answers, and where the rows go. */
export interface Reading extends Intake {
  readonly api: Api;
  /** How many requests are made side by side, where there are several. */
  readonly width: number;
  readonly signal: AbortSignal;
  readonly progress: StreamProgress;
}

export function readingOf(
  { service, signal }: { readonly service: Pick<ServiceAccess, "api" | "limiter">; readonly signal: AbortSignal },
  { encoder, batches, record }: Intake,
  progress: StreamProgress,
): Reading {
  const { api, limiter } = service;
  // Twice as many as may be in flight: while one answer is taken the next request is on its way.
  return { api, width: limiter.state.maximum * 2, signal, progress, encoder, batches, record };
}
