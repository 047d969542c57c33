import type { PageSource } from "../../../src/daemon/page/source.ts";
import type { RunStatus, Status } from "../../../src/operations/status.ts";
import type { History, PastRun, PastStreamRun } from "../../../src/warehouse/read/run_history.ts";
import { served } from "./warehouse_status.ts";

/** The page as text and as markup. */
export async function shown(source: PageSource, path = ""): Promise<{ markup: string; words: string }> {
  const { url } = await served(source);
  const markup = await (await fetch(url + path)).text();
  const body = markup.slice(markup.indexOf("<body>"));
  const words = body
    .replace(/<title>.*?<\/title>|<\/?a\b[^>]*>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&#39;", "'");
  return { markup, words };
}

export const part = (facts: Partial<PastStreamRun> = {}): PastStreamRun => ({
  run_id: "r1",
  company: "acme",
  stream: "items",
  status: "succeeded",
  started_at: "2026-03-15T02:00:01.000Z",
  finished_at: "2026-03-15T02:00:31.000Z",
  requests: 13,
  rows_read: 1_204,
  inserted: 4,
  updated: 2,
  deleted: 1,
  rejected: 0,
  error: null,
  ...facts,
});

export const past = (facts: Partial<PastRun> = {}): PastRun => ({
  run_id: "r1",
  command: "sync",
  status: "succeeded",
  started_at: "2026-03-15T02:00:00.000Z",
  finished_at: "2026-03-15T02:01:00.000Z",
  error: null,
  warnings: [],
  streams: [part()],
  ...facts,
});

export const ended = (facts: Partial<RunStatus> = {}): Pick<Status, "last_run"> => ({
  last_run: {
    run_id: "r1",
    command: "sync",
    status: "succeeded",
    exit_code: 0,
    started_at: "2026-03-15T02:00:00.000Z",
    finished_at: "2026-03-15T02:01:00.000Z",
    warnings: [],
    error: null,
    snapshot: null,
    ...facts,
  },
});

export const history = (...runs: readonly PastRun[]): History => ({
  runs,
  streams: [{ company: "acme", stream: "items", runs: runs.flatMap(run => run.streams).toReversed() }],
});
