import { timespan } from "../../duration.ts";
import type { Estimate } from "../../operations/estimate/estimate.ts";
import { formatCount, formatTable } from "./table.ts";

/** What a run would request, for people. */
export function estimateReport(estimate: Estimate): string {
  const { streams, requests, at_least, seconds, latency_ms, in_flight, asked } = estimate;
  const several = new Set(streams.map(line => line.company)).size > 1;
  const right = "right" as const;
  const columns = [
    ...(several ? [{ title: "company" }] : []),
    { title: "stream" },
    { title: "requests", align: right },
    { title: "why" },
  ];
  const rows = streams.map(line => [
    ...(several ? [line.company] : []),
    line.stream,
    `${line.at_least ? "≥ " : ""}${formatCount(line.requests)}`,
    line.why,
  ]);
  const least = at_least ? "At least " : "";
  return `${formatTable(columns, rows)}

${least}${formatCount(requests)} requests, about ${timespan(seconds * 1000)} for them at ${formatCount(latency_ms)} ms each and up to ${in_flight} at a time.
Nothing was written; finding out took ${asked} ${asked === 1 ? "request" : "requests"}.`;
}
