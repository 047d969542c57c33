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
  return {
    ...line,
    started_at: sum.started_at,
    requests: sum.requests + line.requests,
    retries: sum.retries + line.retries,
    pages: sum.pages + line.pages,
    rows_read: sum.rows_read + line.rows_read,
    inserted: sum.inserted + line.inserted,
    updated: sum.updated + line.updated,
    unchanged: sum.unchanged + line.unchanged,
    repeated: sum.repeated + line.repeated,
    // What a later run found staged was read by the one before it.
    carried: sum.carried,
    deleted: sum.deleted + line.deleted,
    rejected: sum.rejected + line.rejected,
    problems: sum.problems + line.problems,
    rounded: sum.rounded + line.rounded,
    bytes: sum.bytes + line.bytes,
  };
}
