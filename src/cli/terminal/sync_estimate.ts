import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import type { Estimate } from "../../operations/estimate/estimate.ts";
import type { Look } from "./look.ts";
import { planReport } from "./plan_report.ts";
import { streamTable } from "./table.ts";

/** What a run would request, for people. `isWhole`: the figures behind the plan of a sync, too. */
export function estimateReport(estimate: Estimate, look: Look, isWhole = false): string {
  const { streams, requests, at_least, seconds, latency_ms, in_flight, asked, plan = [] } = estimate;
  const table = streamTable(
    streams,
    [
      ["requests", line => `${line.at_least ? "≥ " : ""}${formatCount(line.requests)}`, "right"],
      ["why", line => line.why],
    ],
    look,
    ["requests"],
  );
  const least = at_least ? "At least " : "";
  const total = `${least}${formatCount(requests)} requests, about ${timespan(seconds * 1000)} for them at ${formatCount(latency_ms)} ms each and up to ${in_flight} at a time.
Nothing was written; finding out took ${counted(asked, "request")}.`;
  return [table, total, ...planReport(plan, look, isWhole)].join("\n\n");
}
