import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mutex } from "../../mutex.ts";
import { kyselyOver, parseOne } from "../duckdb/session/driver.ts";
import type { Resources } from "../duckdb/session/session.ts";
import type { Exportable } from "../parquet_source.ts";
import { ducklakeDialect } from "./dialect.ts";
import { lakeFailure } from "./failure.ts";
import { conditionOf, type LakeCondition } from "./maintenance.ts";
import type { LakePlace } from "./place.ts";
import { openLakeSession } from "./session.ts";

const MEMORY_MB = 128;
/** A statement that runs out of memory is repeated with so many times as much. */
const ROOM = 4;

/** Opens a lake for a look; undefined when there is none yet. @throws DestinationError */
export async function openDucklakeForReading(
  place: LakePlace,
  given: Partial<Resources> = {},
): Promise<(Exportable & { condition(): Promise<LakeCondition>; close(): Promise<void> }) | undefined> {
  const { schema, stateSchema } = place;
  const resources = { memoryLimitMb: MEMORY_MB, threads: 1, spill: join(tmpdir(), "tributary-reading"), ...given };
  const session = await openLakeSession(place, "read", resources);
  if (session === undefined) return undefined;
  const { connection } = session;
  const turns = new Mutex();
  const roomMb = given.isSparing === true ? ROOM * resources.memoryLimitMb : undefined;
  const db = kyselyOver(async () => connection, turns, { roomMb, failure: lakeFailure }).withSchema(stateSchema);
  return {
    ...{ dialect: ducklakeDialect, schema, stateSchema, db },
    condition: () => conditionOf(db, place),
    interrupt: () => connection.interrupt(),
    parseOne: text => parseOne(connection, text),
    close: () => turns.run(async () => session.close()),
  };
}
