import type { ExitCode } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { WrittenRow } from "../../warehouse/state_columns.ts";
import type { stateTables } from "../../warehouse/state_tables.ts";
import type { Discrepancy } from "./discrepancy.ts";

export type VerifyLine = Readonly<WrittenRow<(typeof stateTables)["verifications"]>> & {
  /** `incomplete`: not everything could be read, `error` says why. `skipped`: there was nothing to compare. `incomparable`: not one row was equal, the service has changed all. */
  readonly status: "equal" | "different" | "incomplete" | "incomparable" | "skipped";
  readonly code: string | null;
};

export type VerifyDifference = Readonly<WrittenRow<(typeof stateTables)["verification_differences"]>> & {
  readonly kind: Discrepancy["kind"];
};

/** What `verify --json` prints. */
export interface VerifyReport {
  readonly run_id: string;
  /** `incomparable`: no row of any stream was equal, which proves nothing. */
  readonly status: "equal" | "different" | "incomplete" | "incomparable";
  readonly exit_code: ExitCode;
  readonly started_at: string;
  readonly finished_at: string;
  /** The same seed asks for the same details again. */
  readonly seed: string;
  readonly sample: number | null;
  readonly warnings: readonly Message[];
  readonly errors: readonly Message[];
  readonly streams: readonly VerifyLine[];
  /** Streams of which not one row was equal, as the service has changed all: nothing says whether the warehouse is right. */
  readonly incomparable: readonly string[];
  /** In how many nights at the latest looks at unchanged rows reach details that changed unseen; null: none did, or nothing is looked at. */
  readonly unseen_within_nights: number | null;
  readonly differences: readonly VerifyDifference[];
}
