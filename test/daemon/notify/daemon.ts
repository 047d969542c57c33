import type { Config, NotifyTarget } from "../../../src/config/config.ts";
import type { NotifyTools } from "../../../src/daemon/notify/delivery.ts";
import { Notifier } from "../../../src/daemon/notify/notify.ts";
import type { FinishedRun } from "../../../src/daemon/schedule/events.ts";
import type { Status, StreamStatus } from "../../../src/operations/status.ts";
import { createRedactor } from "../../../src/secrets.ts";
import { logTo, sentence } from "../../support/log.ts";
import { type HandClock, handClock } from "./clock.ts";

/** A run of `nightly` that ended now: by stream its error, null for success. */
export function ended(
  clock: HandClock,
  exitCode: number,
  streams: Readonly<Record<string, string | null>> = {},
  more: { readonly schedule?: string; readonly retryAt?: string } = {},
): FinishedRun {
  const finishedAt = new Date(clock.now()).toISOString();
  const startedAt = new Date(clock.now() - 90_000).toISOString();
  const run = { schedule: more.schedule ?? "nightly", cause: "schedule", startedAt, view: undefined } as const;
  const lines = Object.entries(streams).map(([name, error]) => streamRun(name, error, startedAt, finishedAt));
  const outcome = {
    run_id: `run-${clock.now()}`,
    status: exitCode === 0 ? "succeeded" : "failed",
    exit_code: exitCode as 0,
    started_at: startedAt,
    finished_at: finishedAt,
    warnings: [],
    notes: [],
    errors: lines.flatMap(({ error }) => (error === null ? [] : [sentence(error)])),
    streams: lines,
  } as const;
  return { kind: "finished", run, finishedAt, outcome, retryAt: more.retryAt };
}

/** One that could not begin. */
export function refused(clock: HandClock, exitCode: number, error: string): FinishedRun {
  return { ...ended(clock, exitCode), outcome: { exit_code: exitCode, error: sentence(error) } };
}

function streamRun(name: string, error: string | null, startedAt: string, finishedAt: string) {
  const [company = "acme", stream = name] = name.includes("/") ? name.split("/") : ["acme", name];
  const zero = { requests: 0, retries: 0, pages: 0, rows_read: 0, inserted: 0, updated: 0, unchanged: 0, repeated: 0 };
  const more = {
    carried: 0,
    missing: 0,
    deleted: 0,
    child_deleted: 0,
    rejected: 0,
    problems: 0,
    rounded: 0,
    before_start: 0,
    bytes: 0,
  };
  const unproven = { service_rows: null, table_rows: null, difference: null, difference_reason: null };
  const status = error === null ? ("succeeded" as const) : ("failed" as const);
  return {
    ...{ run_id: "r", company, stream, status, started_at: startedAt, finished_at: finishedAt, error },
    ...zero,
    ...more,
    ...unproven,
  };
}

/** A warehouse whose streams are complete to these moments. */
export function warehouseStatus(streams: Readonly<Record<string, string | null>>): Status {
  return {
    warehouse: {
      ...{ type: "duckdb", path: "w.duckdb", schema: "s", state_schema: "t" },
      ...{ loaded: true, published_at: null, note: null },
    },
    lake: null,
    running: null,
    last_run: null,
    next_run: null,
    workers: null,
    streams: Object.entries(streams).map(
      ([stream, completeTo]): StreamStatus => ({
        ...{ company: "acme", stream, on: true, status: "succeeded", rows: 1, live_rows: 1, details_pending: null },
        ...{ service_rows: 1, difference: 0, difference_reason: "equal" },
        ...{
          problems: 0,
          rejects: 0,
          distrusted_filter: null,
          details_freshness: null,
          error: null,
          last_success_at: completeTo,
          complete_to: completeTo,
        },
      }),
    ),
  };
}

export interface Office {
  readonly clock: HandClock;
  readonly notifier: Notifier;
  /** Log lines as they would be written. */
  readonly said: string[];
  readonly ending: AbortController;
}

/** A notifier with the configuration's defaults: once an hour, late after 26 hours. */
export function office(
  targets: readonly NotifyTarget[],
  more: Partial<NotifyTools> & { readonly secrets?: readonly string[]; readonly clock?: HandClock } = {},
): Office {
  const { secrets = [], clock = handClock(), ...tools } = more;
  const said: string[] = [];
  const ending = new AbortController();
  const settings: Pick<Config, "notify" | "freshness"> = {
    notify: { atMostEveryMs: 3_600_000, targets },
    freshness: { lateAfterMs: 26 * 3_600_000 },
  };
  const notifier = new Notifier(() => settings, {
    clock,
    log: logTo((text, facts) => said.push(JSON.stringify({ ...facts, text }))),
    redact: createRedactor(secrets),
    env: process.env,
    signal: ending.signal,
    ...tools,
  });
  return { clock, notifier, said, ending };
}

export const all = ["failure", "recovery", "late"] as const;

export const HOUR = 3_600_000;
