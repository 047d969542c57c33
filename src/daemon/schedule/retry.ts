import type { Schedule } from "../../config/config.ts";
import type { RunReport } from "../../sync/run/run.ts";

/**
 * Whether trying again soon can help, by exit code: a stream, the destination, another run in the way, a bug that met
 * special circumstances. Not a configuration (2) or a key (3), which a person mends; not a limit (5), because time and
 * plan limits are there to be kept and the next run goes on anyway; not a stop by a signal.
 */
export function worthRetrying(exitCode: number): boolean {
  return [1, 4, 6, 70].includes(exitCode);
}

/**
 * When the try after `failures` failed ones begins: `retry_after` from the end of the last, doubled with each.
 * Undefined after the last one allowed, and where the next regular run begins no later.
 */
export function retryTime(
  { retries, retryAfterMs }: Pick<Schedule, "retries" | "retryAfterMs">,
  failures: number,
  from: number,
  regular: number | undefined,
): number | undefined {
  if (failures > retries) return undefined;
  const at = from + retryAfterMs * 2 ** (failures - 1);
  return regular === undefined || at < regular ? at : undefined;
}

/** What a retry works on: the streams that did not succeed, and their company if it is one. Nothing named: everything again. */
export function unsuccessful(report: RunReport): { readonly names: readonly string[]; readonly company?: string } {
  const left = report.streams.filter(({ status }) => status !== "succeeded" && status !== "warning");
  if (left.length === 0 || left.length === report.streams.length) return { names: [] };
  const companies = [...new Set(left.map(({ company }) => company))];
  const names = [...new Set(left.map(({ stream }) => stream))];
  return companies.length === 1 && companies[0] !== undefined ? { names, company: companies[0] } : { names };
}
