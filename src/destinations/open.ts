import type { Clock } from "../clock.ts";
import type { Destination } from "./destination.ts";

/** Which warehouse, as the config says. */
export type Where =
  | {
      readonly type: "duckdb";
      readonly path: string;
      readonly readers: "snapshot" | "direct";
      readonly keepVersions: number;
      readonly schema: string;
      readonly stateSchema: string;
    }
  | {
      readonly type: "postgres";
      readonly url: string;
      readonly schema: string;
      readonly stateSchema: string;
      readonly grantSelectTo: readonly string[];
    };

/** The run that opens it; another run is told all of this. `startedAt` is ISO 8601. */
export interface Opener {
  readonly runId: string;
  readonly holder: {
    readonly pid: number;
    readonly host: string;
    readonly command: string;
    readonly startedAt: string;
  };
  readonly clock: Clock;
}

/** Opens the warehouse for a run. A DuckDB file has one writer: waits `waitMs` for it. @throws DestinationError, HeldError, ConfigError */
export async function openDestination(where: Where, opener: Opener, waitMs: number): Promise<Destination> {
  // Only the chosen database's driver is loaded: the other's costs up to 70 ms and 30 MB.
  if (where.type === "postgres") {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ ...where, ...opener });
  }
  const { openDuckdb } = await import("./duckdb/open.ts");
  const file = await openDuckdb({ ...where, ...opener });
  try {
    await file.lock("", [], waitMs);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
