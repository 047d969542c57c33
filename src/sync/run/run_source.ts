import type { Stream } from "../../catalog/stream.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { runCompany } from "./jobs.ts";

/** What a company's streams are loaded from, and how: `sync` asks the service for what is due, a backfill for what its plans name, a replay takes archive or rejects. */
export interface RunSource {
  /** False: everything is at hand, and no request is sent. */
  readonly asksService: boolean;
  /** Other runs go first: it waits for the lock without asking the holder to make room. */
  readonly givesWay: boolean;
  /** Called with the locks held and the tables made, before the first stream. */
  begin?(destination: Destination, companies: readonly string[], catalogue: readonly Stream[]): Promise<void>;
  readonly runCompany: typeof runCompany;
}

export const fromService: RunSource = { asksService: true, givesWay: false, runCompany };
