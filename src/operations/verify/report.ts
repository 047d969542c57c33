import type { ExitCode } from "../../errors.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** One stream of one company: a row of `verifications`. */
export interface VerifyLine {
  readonly run_id: string;
  readonly company: string;
  readonly stream: string;
  /** `incomplete`: not everything could be read, `error` says why. `skipped`: there was nothing to compare. */
  readonly status: "equal" | "different" | "incomplete" | "skipped";
  readonly checked_at: string;
  readonly seed: string;
  readonly sample: number | null;
  readonly rows_checked: number;
  readonly rows_equal: number;
  readonly differences: number;
  readonly changed_since: number;
  readonly requests: number;
  readonly error: string | null;
}

/** A difference: a row of `verification_differences`. */
export interface VerifyDifference {
  readonly run_id: string;
  readonly company: string;
  readonly stream: string;
  readonly table_name: string;
  readonly key: string;
  readonly column_name: string | null;
  readonly kind: Discrepancy["kind"];
  readonly warehouse_value: string | null;
  readonly service_value: string | null;
}

/** What `verify --json` prints. */
export interface VerifyReport {
  readonly run_id: string;
  readonly status: "equal" | "different" | "incomplete";
  readonly exit_code: ExitCode;
  readonly started_at: string;
  readonly finished_at: string;
  /** The same seed asks for the same details again. */
  readonly seed: string;
  readonly sample: number | null;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  readonly streams: readonly VerifyLine[];
  readonly differences: readonly VerifyDifference[];
}

/** What `verify --dry-run` prints: at least so many requests, without one having been sent. */
export interface VerifyEstimate {
  readonly dry_run: true;
  readonly requests: number;
  readonly streams: readonly {
    readonly company: string;
    readonly stream: string;
    readonly requests: number;
    readonly why: string;
  }[];
}
