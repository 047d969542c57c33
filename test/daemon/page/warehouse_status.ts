import { onTestFinished } from "vitest";
import { type PageOptions, type ServedPage, servePage } from "../../../src/daemon/page/server.ts";
import type { PageSource } from "../../../src/daemon/page/source.ts";
import type { FleetStatus, WorkerStatus } from "../../../src/fleet/view.ts";
import type { Status, StreamStatus } from "../../../src/operations/status.ts";
import type { History } from "../../../src/warehouse/read/run_history.ts";
import { groups } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";

export const now = "2026-03-15T12:00:00.000Z";

/** A stream that is all right, but for what the test says. */
export function stream(facts: Partial<StreamStatus> = {}): StreamStatus {
  return {
    company: "acme",
    stream: "items",
    on: true,
    status: "succeeded",
    last_success_at: "2026-03-15T02:00:00.000Z",
    complete_to: "2026-03-15T02:00:00.000Z",
    rows: 12,
    live_rows: 10,
    details_pending: null,
    ...{ service_rows: 10, difference: 0, difference_reason: "equal" },
    problems: 0,
    rejects: 0,
    distrusted_filter: null,
    details_freshness: null,
    error: null,
    ...facts,
  };
}

export function warehouseStatus(streams: readonly StreamStatus[], facts: Partial<Status> = {}): Status {
  return {
    warehouse: {
      type: "postgres",
      path: null,
      schema: "procurement",
      state_schema: "_tributary",
      loaded: true,
      published_at: null,
      note: null,
    },
    lake: null,
    running: null,
    last_run: null,
    next_run: null,
    workers: null,
    streams,
    ...facts,
  };
}

/** A worker that is all right and does nothing, but for what the test says. */
export function worker(facts: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    ...{
      id: "tributary-work-7d9c4b6f5d-x2x9z-1-9f3e",
      host: "tributary-work-7d9c4b6f5d-x2x9z",
      pid: 1,
      version: "1.0.0",
    },
    ...{ started_at: "2026-03-15T11:00:00.000Z", seen_at: "2026-03-15T11:59:59.000Z", seen_seconds_ago: 1.2 },
    ...{ up: true, draining: false, refusal: null, jobs: [] },
    ...facts,
  };
}

export function fleet(workers: readonly WorkerStatus[], facts: Partial<FleetStatus> = {}): FleetStatus {
  const queue = { waiting_companies: 0, active_companies: 0, runs: [] };
  return { note: null, workers, queue, ...facts };
}

/** One that waits for a worker, but for what the test says. */
export const queuedRun = (facts: Partial<FleetStatus["queue"]["runs"][number]> = {}) => ({
  ...{ run_id: "20260315T020000-1a2b3c4d", command: "schedule nightly", state: "waiting" as const, conductor: null },
  waiting_companies: [],
  ...facts,
});

/** A source of what the test says, without a daemon. */
export function telling(status: () => Status, history?: History): PageSource {
  return {
    lateAfterMs: () => 26 * 3_600_000,
    status: async () => status(),
    history: async () => history,
    record: async () => ({ problems: [], changes: [], added: [], shaped: [], asked: [] }),
    groups,
    daemon: undefined,
  };
}

export interface Served extends ServedPage {
  /** What was logged as a warning. */
  readonly warned: object[];
}

/** A page on a free port of this machine, gone with the test. */
export async function served(source: PageSource, options: Partial<PageOptions> = {}): Promise<Served> {
  const warned: object[] = [];
  const page = await servePage({
    listen: { host: "127.0.0.1", port: 0 },
    access: () => ({ token: undefined, login: undefined }),
    source,
    routes: [],
    log: { ...silentLog, warn: (_, facts = {}) => void warned.push(facts) },
    clock: stillClock(now),
    redact: text => text,
    ...options,
  });
  onTestFinished(() => page.close());
  return { ...page, warned };
}
