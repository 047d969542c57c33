import { expect } from "vitest";
import { onTheWall } from "./berlin.ts";
import type { Month } from "./month.ts";

interface Line {
  readonly run: string;
  readonly status: string;
  readonly code: number;
  readonly from: string;
  readonly to: string;
}

/** All runs, as the daemons told of them and as the warehouse recorded them; none began before the one before it had ended. */
export async function bookkeeping({ events, warehouse }: Month): Promise<{ told: Line[]; recorded: Line[] }> {
  const kinds = events.flatMap(({ kind }) => (kind === "started" || kind === "finished" ? [kind] : []));
  expect(kinds).toEqual(kinds.map((_, nth) => (nth % 2 === 0 ? "started" : "finished")));
  const told = events.flatMap(event => {
    if (event.kind !== "finished") return [];
    const { outcome } = event;
    if (!("run_id" in outcome)) throw new Error(`expected a run that began, got ${outcome.error}`);
    const { run_id: run, status, exit_code: code, started_at: from, finished_at: to } = outcome;
    expect([from, to]).toEqual([event.run.startedAt, event.finishedAt]);
    return [{ run, status, code, from, to }];
  });
  const rows = await warehouse.query<Record<"run_id" | "status", string> & { exit_code: number } & Moments>(
    "select run_id, status, exit_code, started_at, finished_at from _tributary.runs order by started_at",
  );
  const recorded = rows.map(row => ({
    run: row.run_id,
    status: row.status,
    code: Number(row.exit_code),
    from: row.started_at.toISOString(),
    to: row.finished_at.toISOString(),
  }));
  for (const [nth, { from }] of recorded.entries()) expect(from >= (recorded[nth - 1]?.to ?? "")).toBe(true);
  return { told, recorded };
}

type Moments = Record<"started_at" | "finished_at", Date>;

/** What the warehouse says of itself after the last night: nothing open, nothing owed, each stream as good as that night. */
export async function expectTables({ warehouse, simulator, clock }: Month, runs: readonly Line[]): Promise<void> {
  const good = runs.filter(({ code }) => code === 0);
  const nights = await warehouse.query<{ observed_on: string }>(
    "select cast(observed_on as varchar) as observed_on from procurement.findings_summary order by 1",
  );
  expect(nights.map(row => row.observed_on)).toEqual(good.map(({ from }) => from.slice(0, 10)));
  const { truth } = simulator;
  const streams = await warehouse.query<StreamRow>(
    `select stream, last_success_at, live_rows, details_pending from _tributary.streams where "on" and stream = table_name order by stream`,
  );
  const last = onTheWall(good.at(-1)!.to);
  expect(streams.map(row => ({ ...row, last_success_at: onTheWall(row.last_success_at) }))).toEqual([
    { stream: "findings", last_success_at: last, live_rows: truth.count("findings"), details_pending: null },
    { stream: "findings_summary", last_success_at: last, live_rows: good.length, details_pending: null },
    { stream: "ingested", last_success_at: last, live_rows: truth.count("ingested"), details_pending: null },
    { stream: "invoice_matches", last_success_at: last, live_rows: truth.count("invoices"), details_pending: 0 },
    { stream: "invoices", last_success_at: last, live_rows: truth.count("invoices"), details_pending: null },
  ]);
  const states = await warehouse.query<{ stream: string; state: Record<string, unknown> }>(
    "select stream, state from _tributary.stream_state order by stream",
  );
  const times = [...truth.rows("ingested")].map(row => Date.parse(String(row["ts"]))).filter(at => at > 0);
  const mark = (stream: string): number => Date.parse(String(states.find(row => row.stream === stream)?.state["mark"]));
  expect(mark("ingested")).toBe(Math.max(...times));
  expect(mark("ingested")).toBeLessThan(clock.now());
  for (const { state } of states) expect(state).toMatchObject({ filterDistrusted: false, backfill: null });
  for (const [what, count] of [
    ["holders", 0],
    ["rejects", 0],
    ["stream_runs where status = 'running' or finished_at is null", 0],
    ["details where outcome <> 'ok'", 0],
    ["details", truth.count("invoices")],
  ] as const) {
    const [row] = await warehouse.query<{ n: number }>(`select count(*) as n from _tributary.${what}`);
    expect([what, Number(row!.n)]).toEqual([what, count]);
  }
}

interface StreamRow {
  readonly stream: string;
  readonly last_success_at: Date;
  readonly live_rows: number;
  readonly details_pending: number | null;
}
