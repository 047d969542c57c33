import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { StreamProgress } from "../../../src/sync/stream_progress.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { historyOf } from "../../../src/warehouse/read/run_history.ts";
import { pruneRecords, SLICE } from "../../../src/warehouse/state/retention.ts";
import { beginRun, endRun, lastStreamRuns, RECENT_RUNS, writeStreamRun } from "../../../src/warehouse/state/run_log.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { warehouses } from "../warehouses.ts";

const DAY = 86_400_000;
const retention = 400 * DAY;
const at = (day: number) => new Date(Date.parse("2025-01-01T00:00:00Z") + day * DAY).toISOString();

/** A run of a day, with what its streams did. */
async function run(destination: Destination, day: number, streams: readonly string[], status = "succeeded" as const) {
  const { db } = destination;
  const run_id = `run-${String(day).padStart(4, "0")}`;
  const startedAt = at(day);
  await beginRun(destination, { run_id, command: "sync", started_at: startedAt, version: "0", process: "{}" });
  for (const stream of streams) {
    const progress = new StreamProgress(startedAt);
    await writeStreamRun(db, run_id, "acme", stream, progress.run);
    await writeStreamRun(db, run_id, "acme", stream, { ...progress.run, status, requests: day });
  }
  await endRun(db, run_id, { status, exit_code: 0, finished_at: startedAt, warnings: "[]", error: null });
  await pruneRecords(destination, retention, Date.parse(at(day)));
}

const count = async ({ db }: Destination, table: string, where = "true"): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.id("_tributary", table)}
    where ${sql.raw(where)}`.execute(db);
  return Number(rows[0]!.n);
};

async function made(make: () => Promise<Destination>): Promise<Destination> {
  const destination = await make();
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  return destination;
}

describe.each(warehouses)("$name", ({ make }) => {
  test("runs older than retention go, but for the last ones of each stream; so do rejects that are over, and verifications", async () => {
    const destination = await made(make);
    const { db } = destination;
    // A stream that is off since keeps what it did last.
    await run(destination, 0, ["items", "orders"]);
    for (let day = 1; day <= 40; day++) await run(destination, day, ["items"]);
    const reject = {
      run_id: "run-0000",
      company: "acme",
      stream: "items",
      raw: "1",
      reason: "no",
      key: null,
      field: null,
    };
    const seen = { context: null, first_seen_at: at(0), seen_at: at(0), times: 1, rows: 1, parent_key: null };
    const lines = [
      { digest: "open", scan: "a", resolved_at: null },
      { digest: "over", scan: "a", resolved_at: at(1) },
      { digest: "just over", scan: "a", resolved_at: at(41) },
    ];
    await db
      .insertInto("rejects")
      .values(lines.map(line => ({ ...reject, ...seen, ...line })))
      .execute();
    for (const day of [1, 300]) {
      const of = { run_id: `check-${day}`, company: "acme", stream: "items" };
      const counts = {
        rows_checked: 1,
        rows_equal: 0,
        differences: 1,
        changed_since: 0,
        changed_unseen: 0,
        requests: 1,
      };
      await db
        .insertInto("verifications")
        .values({ ...of, ...counts, status: "different", checked_at: at(day), seed: "", sample: null, error: null })
        .execute();
      await db
        .insertInto("verification_differences")
        .values({
          ...{ ...of, table_name: "items", key: "id=1", column_name: null, kind: "differs" },
          ...{ warehouse_value: null, service_value: null },
        })
        .execute();
    }
    await run(destination, 440, ["items"]);
    expect(await count(destination, "stream_runs", "stream = 'items'")).toBe(RECENT_RUNS);
    expect(await count(destination, "stream_runs", "stream = 'orders'")).toBe(1);
    expect(await count(destination, "runs")).toBe(RECENT_RUNS + 1);
    const left = await db.selectFrom("rejects").select("digest").orderBy("digest").execute();
    expect(left.map(({ digest }) => digest)).toEqual(["just over", "open"]);
    await run(destination, 441, []);
    for (const table of ["verifications", "verification_differences"])
      expect([table, await count(destination, table), await count(destination, table, "run_id = 'check-300'")]).toEqual(
        [table, 1, 1],
      );
  });

  test("more than a transaction's slice of old rows goes in one run", async () => {
    const destination = await made(make);
    await run(destination, 0, ["items"]);
    await run(destination, 900, []);
    await sql`insert into _tributary.stream_runs (run_id, company, stream, status, started_at)
      select 'old-' || i, 'acme', 'orders', 'succeeded', cast(${at(1)} as timestamptz)
      from generate_series(1, ${sql.lit(SLICE * 2 + 10)}) as t(i)`.execute(destination.db);
    await run(destination, 901, []);
    expect(await count(destination, "stream_runs")).toBe(1);
  });

  test("the last runs of each stream are found among those marked recent, a skipped or running one is none", async () => {
    const destination = await made(make);
    for (let day = 1; day <= 35; day++) await run(destination, day, ["items", ...(day < 3 ? ["orders"] : [])]);
    const { db, stateSchema } = destination;
    const skipped = new StreamProgress(at(36));
    for (let day = 36; day <= 70; day++) {
      const run_id = `run-00${day}`;
      const begun = { run_id, command: "sync", started_at: at(day), version: "0", process: "{}" };
      await beginRun(destination, begun);
      await writeStreamRun(db, run_id, "acme", "items", { ...skipped.run, started_at: at(day), status: "skipped" });
      const end = { status: "succeeded", exit_code: 0, finished_at: at(day), warnings: "[]", error: null };
      await endRun(db, run_id, end);
      await pruneRecords(destination, retention, Date.parse(at(day)));
    }
    expect(await count(destination, "stream_runs", "recent")).toBe(RECENT_RUNS + 2);
    const last = await lastStreamRuns({ db, stateSchema });
    expect(Object.fromEntries(last.map(row => [row.stream, Number((row as { requests?: number }).requests)]))).toEqual({
      items: 35,
      orders: 2,
    });
    const { streams } = await historyOf(destination, RECENT_RUNS);
    expect(streams.map(({ stream, runs }) => [stream, runs.length, runs.at(-1)?.run_id])).toEqual([
      ["items", RECENT_RUNS, "run-0035"],
      ["orders", 2, "run-0002"],
    ]);
    // A killed run's row is closed by the next, which finds it.
    await writeStreamRun(db, "run-0070", "acme", "orders", { ...skipped.run, started_at: at(70) });
    const next = { run_id: "run-0071", command: "sync", started_at: at(71), version: "0", process: "{}" };
    await beginRun(destination, next);
    expect((await lastStreamRuns({ db, stateSchema })).find(({ stream }) => stream === "orders")?.status).toBe(
      "failed",
    );
  });
});
