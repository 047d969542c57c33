import { counted, formatCount } from "../../counted.ts";
import type { StreamStatus } from "../../operations/status.ts";

type Compared = Pick<StreamStatus, "company" | "stream" | "service_rows" | "difference" | "difference_reason">;

/** Lines that are shown; the others are counted. */
const MOST_TOLD = 8;

/** The service's rows: `=` where the table has as many, nothing where it is not known. */
export function atService({ service_rows, difference }: Pick<Compared, "service_rows" | "difference">): string {
  if (service_rows === null) return "";
  return difference === 0 ? "=" : formatCount(service_rows);
}

/** One block, a line a stream whose table and service differ; no block without streams. */
export function differences(streams: readonly Compared[]): string[] {
  if (streams.length === 0) return [];
  const several = new Set(streams.map(one => one.company)).size > 1;
  const lines = streams.slice(0, MOST_TOLD).map(one => {
    const by = one.difference ?? 0;
    const rows = `${counted(Math.abs(by), "row")} ${by > 0 ? "more" : "fewer"}`;
    return `${several ? `${one.company}/` : ""}${one.stream}: ${rows} than at the service: ${one.difference_reason}`;
  });
  const rest = streams.length - lines.length;
  return [[...lines, ...(rest > 0 ? [`… and ${rest} streams more: \`--json\` names them`] : [])].join("\n")];
}
