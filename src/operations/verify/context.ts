import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Hasher } from "../../rows/hash.ts";
import type { Formats } from "../../rows/moment.ts";
import type { Api } from "../../source/client.ts";
import type { Limiter } from "../../source/limit.ts";
import type { StreamPolicy } from "../../sync/context.ts";
import type { StoredIn } from "../../warehouse/read/stored_rows.ts";

/** One company's part of a verification. */
export interface VerifyContext {
  readonly company: string;
  readonly api: Api;
  readonly limiter: Limiter;
  /** As readers see it: nothing is written there. */
  readonly warehouse: StoredIn;
  readonly clock: Clock;
  readonly hasher: Hasher;
  readonly formats: Formats;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  /** All streams there are, with the columns that were added to them. */
  readonly catalogue: readonly Stream[];
  /** Names of the streams that the configuration switches on. */
  readonly on: ReadonlySet<string>;
  readonly policyOf: (stream: string) => StreamPolicy;
  /** YYYY-MM-DD; nothing older is asked for. */
  readonly start: string | undefined;
  readonly seed: string;
  /** Details of each kind that are asked for; undefined: all. */
  readonly sample: number | undefined;
}
