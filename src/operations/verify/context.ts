import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Encoding, ServiceAccess, StreamPolicy } from "../../sync/context.ts";
import type { StreamProgress } from "../../sync/stream_progress.ts";
import type { Looked } from "../../warehouse/ddl/present_tables.ts";
import type { Result } from "./result.ts";

export interface VerifyContext {
  readonly company: string;
  readonly service: Pick<ServiceAccess, "api" | "limiter">;
  /** As readers see it: nothing is written there. */
  readonly warehouse: Looked;
  readonly clock: Clock;
  readonly encoding: Encoding;
  readonly signal: AbortSignal;
  /** All streams there are, with the columns that were added to them. */
  readonly catalogue: readonly Stream[];
  readonly on: ReadonlySet<string>;
  readonly policyOf: (stream: string) => StreamPolicy;
  /** YYYY-MM-DD; nothing older is asked for. */
  readonly start: string | undefined;
  /** Which details are asked for, and how many of each kind; undefined: all. */
  readonly sampling: { readonly seed: string; readonly sample: number | undefined };
}

export interface Comparing {
  readonly context: VerifyContext;
  readonly stream: Stream;
  readonly progress: StreamProgress;
  readonly result: Result;
}
