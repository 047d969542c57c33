import { COUNTERS } from "../../warehouse/state/run_log.ts";
import { type RunReport, statusOf } from "./report.ts";

type Line = RunReport["streams"][number];

/** Several runs that were one order, as one: it ended as the last one did, with the warnings of all, and did what all of them did. */
export function mergeReports(reports: readonly RunReport[]): RunReport {
  const last = reports.at(-1)!;
  if (reports.length === 1) return last;
  const lines = reports.flatMap(report => report.streams);
  const streams = [...Map.groupBy(lines, line => JSON.stringify([line.company, line.stream])).values()].map(merged);
  const warnings = [...new Set(reports.flatMap(report => report.warnings))];
  const notes = [...new Set(reports.flatMap(report => report.notes))];
  const status = statusOf(last.exit_code, warnings);
  return { ...last, status, started_at: reports[0]!.started_at, warnings, notes, streams };
}

/** A stream's lines: it ended as the last one says, and did what all of them say. */
function merged(lines: readonly Line[]): Line {
  const worked = lines.filter(line => line.status !== "skipped");
  const [first, ...later] = worked.length === 0 ? lines.slice(-1) : worked;
  return later.reduce(added, first!);
}

function added(sum: Line, line: Line): Line {
  // What a later run found staged was read by the one before it.
  const total = { ...line, started_at: sum.started_at, carried: sum.carried };
  for (const name of COUNTERS) total[name] += sum[name];
  return total;
}
