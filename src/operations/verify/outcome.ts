import type { ExitCode } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { distinct, exitCodeOfAll, type Job, messageInReport } from "../../sync/run/report.ts";
import { longestWait } from "../../warehouse/details/planner.ts";
import { verifyMessages } from "./messages.ts";
import type { VerifyDifference, VerifyLine, VerifyReport } from "./report.ts";
import type { Result } from "./result.ts";

export interface ComparedLine {
  readonly job: Job;
  /** Undefined: nothing of it was compared. */
  readonly result: Result | undefined;
  readonly error: Message | null;
  readonly checkedAt: string;
}

export interface Compared {
  readonly lines: readonly ComparedLine[];
  readonly errors: readonly unknown[];
  /** Of the errors alone. */
  readonly exitCode: ExitCode;
}

interface Facts {
  readonly runId: string;
  readonly seed: string;
  readonly sample: number | null;
  readonly startedAt: string;
  readonly auditOf: (stream: string) => number | "rest";
}

/** What is said of a verification, without a secret in it. Differences end it with 1. */
export function reportOf(
  { lines, errors, exitCode }: Compared,
  { runId, seed, sample, startedAt, auditOf }: Facts,
  { clock, redact }: { readonly clock: { now(): number }; readonly redact: (text: string) => string },
): VerifyReport {
  const streams = lines.map(line => lineOf(line, { runId, seed, sample }, redact));
  const differ = streams.some(line => line.differences > 0);
  const incomparable = streams.filter(line => line.status === "incomparable");
  const isProven = incomparable.length === 0 || streams.some(line => line.rows_equal > 0);
  const status = differ ? "different" : exitCode !== 0 ? "incomplete" : isProven ? "equal" : "incomparable";
  const names = [...new Set(incomparable.map(({ stream }) => stream))];
  const rows = incomparable.reduce((sum, line) => sum + line.rows_checked, 0);
  const told = names.length === 0 ? [] : [verifyMessages.nothing_comparable({ streams: names, rows })];
  const jobs = lines.map(({ job }) => job);
  return {
    run_id: runId,
    status,
    exit_code: exitCodeOfAll([exitCode, differ || status === "incomparable" ? 1 : 0]),
    started_at: startedAt,
    finished_at: new Date(clock.now()).toISOString(),
    seed,
    sample,
    warnings: status === "incomparable" ? [] : told,
    errors: distinct([
      ...errors.map(error => messageInReport(error, jobs, redact)),
      ...(status === "incomparable" ? told : []),
    ]),
    streams,
    incomparable: names,
    unseen_within_nights: nightsOf(streams, auditOf),
    differences: lines.flatMap(line => differencesOf(line, runId, redact)),
  };
}

/** In how many nights at the latest looks at unchanged rows reach what changed unseen; null: none did, or no share of them is looked at. */
function nightsOf(streams: readonly VerifyLine[], auditOf: Facts["auditOf"]): number | null {
  const shares = streams.filter(line => line.changed_unseen > 0).map(line => auditOf(line.stream));
  const least = Math.min(...shares.map(share => (share === "rest" ? 0 : share)));
  return shares.length === 0 || least === 0 ? null : longestWait(least, 0);
}

function lineOf(
  line: ComparedLine,
  facts: Pick<Facts, "runId" | "seed" | "sample">,
  redact: (text: string) => string,
): VerifyLine {
  const { job, result, error, checkedAt } = line;
  const { runId, seed, sample } = facts;
  const { company, stream, progress } = job;
  const differences = result?.differences ?? 0;
  return {
    ...{ run_id: runId, company, stream: stream.name, status: statusOf(line), checked_at: checkedAt, seed, sample },
    rows_checked: result?.checked ?? 0,
    rows_equal: result?.equal ?? 0,
    differences,
    changed_since: result?.changedSince ?? 0,
    changed_unseen: result?.changedUnseen ?? 0,
    requests: progress.run.requests,
    error: error === null ? null : redact(error.message),
    code: error?.code ?? null,
  };
}

function statusOf({ result, error }: ComparedLine): VerifyLine["status"] {
  if (result !== undefined && result.differences > 0) return "different";
  if (error !== null) return "incomplete";
  if (result === undefined) return "skipped";
  return result.equal === 0 && result.changedSince + result.changedUnseen > 0 ? "incomparable" : "equal";
}

function differencesOf(
  { job, result }: ComparedLine,
  runId: string,
  redact: (text: string) => string,
): readonly VerifyDifference[] {
  const hidden = (text: string | null): string | null => (text === null ? null : redact(text));
  return (result?.discrepancies ?? []).map(({ table, key, column, kind, warehouse, service }) => ({
    ...{ run_id: runId, company: job.company, stream: job.stream.name, table_name: table, key: redact(key) },
    ...{ column_name: column ?? null, kind, warehouse_value: hidden(warehouse), service_value: hidden(service) },
  }));
}
