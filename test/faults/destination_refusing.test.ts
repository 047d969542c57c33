import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { StoppedError } from "../../src/errors.ts";
import { textsOf } from "../../src/message.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { openPostgres } from "../../src/warehouse/postgres/open.ts";
import { sentence } from "../support/log.ts";
import { lineOf } from "../support/run.ts";
import { config, type Evening, evening, failing, type Night, names, type Plan } from "./night.ts";

let place: Evening;
beforeAll(async () => {
  place = await evening(inject("postgresUrl"));
});
afterAll(() => place.close());

/** A night that is over when the test is. */
async function begin(plan?: Plan): Promise<Night> {
  const night = await place.begin(plan);
  onTestFinished(() => night.end());
  return night;
}

/** The next run, with nothing in its way, ends as it should. */
async function expectGoodNext(night: Night): Promise<void> {
  const report = await night.sync({ names });
  expect([report.exit_code, report.errors]).toEqual([0, []]);
  expect(await night.wrong()).toEqual([]);
}

const isDetail = (path: string): boolean => /^\/po\/[^/]+$/.test(path);

describe("a PostgreSQL that refuses", () => {
  it.each([
    ["53100", "_tributary.stages", /cannot write to its disk .*Make room/],
    ["57014", "procurement.purchase_orders", /ended a statement of this run/],
  ])("with %s at %s is told once and not tried again; the next run goes on", async (code, table, told) => {
    const night = await begin();
    await night.admin.query(failing(table, code, 1_000));
    const report = await night.sync({ names });
    expect([report.exit_code, report.errors]).toMatchObject([6, [{ message: expect.stringMatching(told) }]]);
    expect(report.errors[0]?.message).not.toContain("\n");
    expect([night.pauses, await night.runs()]).toEqual([[], [["failed", 6]]]);
    await night.admin.query(`drop trigger failing on ${table}`);
    await expectGoodNext(night);
  });

  it.each([
    ["40001", "update", "_tributary.stages"],
    ["40P01", "delete", "procurement.items"],
    ["40P01", "update", "_tributary.runs"],
  ])(
    "with %s at each %s of %s a few times is asked again at once: one run, nothing twice",
    async (code, event, table) => {
      const night = await begin();
      await night.admin.query(failing(table, code, 3, event));
      const report = await night.sync({ names });
      expect([report.exit_code, report.errors]).toEqual([0, []]);
      expect(lineOf(report, "items")).toMatchObject({ inserted: 30, updated: 20 });
      expect(await night.wrong()).toEqual([]);
      expect([night.pauses, await night.runs()]).toEqual([[], [["succeeded", 0]]]);
      const { rows } = await night.admin.query("select last_value::integer as met from public.times");
      expect(rows[0].met).toBeGreaterThan(3);
    },
  );

  it("with a deadlock whenever it is asked: seven attempts, one error", async () => {
    const night = await begin();
    await night.admin.query(failing("procurement.items", "40P01", 1_000, "delete"));
    const report = await night.sync({ names: ["items"] });
    const refusal = { message: expect.stringMatching(/took a transaction back .*lock the tables/) };
    expect([report.exit_code, report.errors]).toMatchObject([6, [refusal]]);
    expect(night.pauses).toEqual([1, 2, 5, 10, 20, 40]);
    expect(await night.runs()).toEqual(new Array(7).fill(["failed", 6]));
    expect(lineOf(report, "items")).toMatchObject({ inserted: 0, updated: 0 });
    await night.admin.query("drop trigger failing on procurement.items");
    await expectGoodNext(night);
  });

  it("by limits of time, an isolation and quotes that were set for the database: the session makes its own", async () => {
    const night = await begin({ passing: () => new Promise(resolve => setTimeout(resolve, 1_050)) });
    const limits = [
      "statement_timeout = 1000",
      "idle_in_transaction_session_timeout = 1000",
      "idle_session_timeout = 1000",
    ];
    const others = ["lock_timeout = 1", "default_transaction_isolation = 'serializable'", "quote_all_identifiers = on"];
    for (const limit of [...limits, ...others])
      await night.admin.query(
        `do $$ begin execute format('alter database %I set ${limit.replaceAll("'", "''")}', current_database()); end $$`,
      );
    await night.admin.query(
      "create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1.1); return null; end $$; create trigger slow before insert on procurement.items execute function public.slow()",
    );
    const report = await night.sync({ names });
    expect([report.exit_code, report.errors, night.pauses]).toEqual([0, [], []]);
    expect(await night.wrong()).toEqual([]);
  });
});

/** SQL for a trigger of somebody's. */
const theirs = (body: string, when = "after", table = "items") =>
  `create function public.theirs() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
    create trigger theirs ${when} insert or update on procurement.${table} for each row execute function public.theirs()`;
const noTrigger = "drop function public.theirs() cascade";

describe("a PostgreSQL in which others made what refuses", () => {
  it.each([
    ["a trigger's own words", theirs("raise 'no news on Mondays';"), noTrigger, /no news on Mondays; PL\//],
    [
      "a trigger's table that is not there",
      theirs("insert into changes values (new.item_id);"),
      noTrigger,
      /"changes" does not exist; PL\/pgSQL function public\.theirs\(\) .*Mend the function/,
    ],
    [
      "a trigger that may leave out rows",
      theirs("if random() < 0.5 then return null; end if;", "before", "purchase_order_line_items"),
      noTrigger,
      /The trigger theirs may change or leave out rows .*DROP TRIGGER theirs ON procurement\.purchase_order_line_items;/,
    ],
    [
      "a rule that does nothing instead",
      "create rule theirs as on insert to procurement.items do instead nothing",
      "drop rule theirs on procurement.items",
      /The rule theirs replaces what is written to procurement\.items .*DROP RULE theirs ON procurement\.items;/,
    ],
    [
      "a trigger on definitions",
      `drop table procurement.items cascade;
        create function public.theirs() returns event_trigger language plpgsql as $$ begin raise 'ask first'; end $$;
        create event trigger theirs on ddl_command_start execute function public.theirs()`,
      "drop event trigger theirs",
      /ask first; PL\//,
    ],
    [
      "an index that has no room for a value",
      `create function public.words(text) returns text language sql immutable as
          $$ select string_agg(md5($1 || i), '') from generate_series(1, 200) i $$;
        create index wordy on procurement.items (public.words(description)) where item_id > 'ITM-000120'`,
      "drop index procurement.wordy",
      /the constraint wordy on procurement\.items, .*exceeds btree .*DROP INDEX/,
    ],
    [
      "a publication of some rows",
      "create publication few for table procurement.items where (description <> '')",
      "drop publication few",
      /made in the database, .*Column used in the publication WHERE expression/,
    ],
  ])("by %s is told as the destination's; the next run without it goes on", async (_what, made, undo, told) => {
    const night = await begin();
    await night.admin.query(made);
    const ended = await night.sync({ names }).catch((error: Error & { exitCode: number }) => error);
    const [exitCode, errors] = "errors" in ended ? [ended.exit_code, ended.errors] : [ended.exitCode, [ended]];
    expect([exitCode, night.pauses, errors]).toMatchObject([6, [], [{ message: expect.stringMatching(told) }]]);
    await night.admin.query(undo);
    await expectGoodNext(night);
  });
});

describe("a PostgreSQL that stays away", () => {
  it("is waited for a minute and a half, and the report tells what was done", async () => {
    const night = await begin({ passing: ({ gate }, path) => (isDetail(path) ? gate.shut() : undefined) });
    const report = await night.sync({ names });
    expect(night.pauses).toEqual([1, 2, 5, 10, 20, 40]);
    expect([report.exit_code, report.status]).toEqual([6, "failed"]);
    expect(report.errors).toMatchObject([{ message: expect.stringMatching(/was lost/) }]);
    const fields = { times: 6, reason: expect.stringMatching(/PostgreSQL/) };
    expect(report.notes).toMatchObject([{ code: "run.begun_again", fields }]);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "succeeded", inserted: 4 });
    expect(lineOf(report, "purchase_order_details")).toMatchObject({ status: "failed", inserted: 0 });
    night.gate.open();
    const next = await begin();
    await expectGoodNext(next);
  });

  it("before the run began is waited for as long as destination.connect_wait says", async () => {
    const night = await begin();
    night.gate.shut({ code: "57P03", message: "the database system is starting up" });
    await expect(night.sync({ names })).rejects.toMatchObject({ name: "DestinationError", exitCode: 6 });
    expect(night.pauses).toEqual([1, 2, 5, 7]);
    expect(night.said).toHaveLength(4);
    await expect(night.backfill({ names: ["items"] })).rejects.toThrow(/starting or stopping/);
    expect(night.pauses).toHaveLength(8);
    night.configure({ ...config, destination: { connect_wait: "2m" } });
    await expect(night.sync({ names })).rejects.toThrow(/starting or stopping/);
    expect(night.pauses.slice(8)).toEqual([1, 2, 5, 10, 20, 40, 40, 2]);
    expect(await night.runs()).toEqual([]);
  });

  it("is not waited for where nobody knows its host", async () => {
    const night = await begin();
    const url = new URL(night.url);
    url.hostname = "db.invalid";
    night.configure({ ...config, destination: { url: url.href } });
    await expect(night.sync({ names })).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/at the host db\.invalid, .*ENOTFOUND.*destination\.url/),
    });
    expect(night.pauses).toEqual([]);
  });

  it("is not waited for beyond --max-time, nor after a signal", async () => {
    const night = await begin();
    night.gate.shut();
    await expect(night.sync({ names, maxTimeMs: 9_000 })).rejects.toMatchObject({ exitCode: 6 });
    expect(night.pauses).toEqual([1, 2, 5]);
    const stopping = new AbortController();
    const stopped = await begin({
      pausing: () => stopping.abort(new StoppedError(sentence("Stopped by SIGINT."), 130)),
    });
    stopped.gate.shut();
    await expect(stopped.sync({ names }, stopping.signal)).rejects.toMatchObject({ exitCode: 130 });
    expect(stopped.pauses).toEqual([1]);
  });
});

describe("a run that is tried again", () => {
  /** Lost at the first detail, and in another's hands when it is there again. */
  async function taken(before: (night: Night) => Promise<unknown> | unknown): Promise<[Night, RunReport]> {
    let other: Awaited<ReturnType<typeof openPostgres>> | undefined;
    let cut = false;
    const night = await begin({
      async passing(self, path) {
        if (cut || !isDetail(path)) return;
        cut = true;
        await before(self);
        self.gate.cut();
      },
      async pausing({ url }) {
        const holder = { pid: 4711, host: "elsewhere", command: "tributary sync", startedAt: "2026-03-16T12:00:00Z" };
        const names_ = { schema: "procurement", stateSchema: "_tributary", grantSelectTo: [], runId: "run-other" };
        other = await openPostgres({ url, ...names_, holder, clock: systemClock });
        await other.lock("acme", ["purchase_orders"], 0);
      },
    });
    const report = await night.sync({ names });
    await other?.close();
    return [night, report];
  }

  it("finds its streams in another run's hands: exit code 4, and what it did is told", async () => {
    const [night, report] = await taken(() => undefined);
    expect([report.exit_code, report.errors]).toMatchObject([
      4,
      [{ message: expect.stringMatching(/held by run run-other/) }],
    ]);
    expect(lineOf(report, "purchase_orders")).toMatchObject({ status: "succeeded", inserted: 4, updated: 2 });
    expect(lineOf(report, "purchase_order_details").status).toBe("failed");
    expect(night.pauses).toEqual([1]);
    await expectGoodNext(night);
  });

  it("finds them there after one had failed by itself: that stays told, and decides", async () => {
    const { faults } = place.simulator;
    Object.assign(faults, { only: "/items", hasMoreWithoutCursor: 1 });
    const failed = /\/items .*next_cursor is missing/;
    const [, report] = await taken(async ({ clock, said }) => {
      for (let look = 0; look < 10_000 && !said.some(line => failed.test(line)); look++) await clock.sleep(20);
    });
    Object.assign(faults, { only: null, hasMoreWithoutCursor: 0 });
    expect([report.exit_code, report.status]).toEqual([6, "failed"]);
    expect(textsOf(report.errors)).toEqual([
      expect.stringMatching(failed),
      expect.stringMatching(/was lost/),
      expect.stringMatching(/held by run run-other/),
    ]);
  });

  it("spends no more requests than one", async () => {
    let asked = 0;
    const night = await begin({
      passing({ gate }, path) {
        if (isDetail(path) && ++asked === 2) gate.cut();
      },
    });
    place.simulator.requests.clear();
    const report = await night.sync({ names, maxRequests: 7 });
    expect(report.exit_code).toBe(5);
    expect(night.pauses).toEqual([1]);
    expect(place.simulator.requests.total).toBe(7);
    await expectGoodNext(night);
  });

  it("begins a backfill once, though it was told to forget an earlier one", async () => {
    let cut = false;
    const night = await begin({
      passing({ gate }, path) {
        if (cut || !isDetail(path)) return;
        cut = true;
        gate.cut();
      },
    });
    place.simulator.requests.clear();
    const report = await night.backfill({ names, restart: true, range: { from: "2020-01-01", to: undefined } });
    expect([report.exit_code, night.pauses]).toEqual([0, [1]]);
    expect(place.simulator.requests.count("/po")).toBe(1);
    expect(await night.wrong()).toEqual([]);
  });
});
