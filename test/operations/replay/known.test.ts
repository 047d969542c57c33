import { expect, test } from "vitest";
import { id, moment, record, text } from "../../../schemas/fields.ts";
import { defineStream, feed, list, lookup, type Stream, scan } from "../../../src/catalog/stream.ts";
import { temporaryFolder } from "../../source/archive/folder.ts";
import { forget } from "../../support/forgetting.ts";
import { refused } from "../../support/interposed.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { page, type Say, told } from "../../sync/answers.ts";
import { addressIn, again } from "./again.ts";

/* What the tables know already, loaded once more: nothing comes, nothing goes. */

const DAY = 86_400_000;
const duckdb = warehouses[0]!;

/** A service of one stream whose runs are archived; `replay` loads the same warehouse again. */
async function place(make: typeof duckdb.make, stream: Stream, says: Record<string, Say>, streams: object = {}) {
  const config = { archive: { path: await temporaryFolder() }, streams };
  const its = await told(make, [stream], says, config);
  const night = async (order: object = {}) => {
    its.clock.advance(DAY);
    return its.run(order);
  };
  await night();
  const copy = again(its.warehouse, its.clock, config, await addressIn(its.warehouse));
  const all = () => its.warehouse.query(`select * from procurement.${stream.name} order by ${stream.key}`);
  const live = () =>
    its.warehouse.query(`select * from procurement.${stream.name} where _deleted_at is null order by ${stream.key}`);
  const replay = (span = {}) => copy.replay({ catalogue: [stream], span });
  return { ...its, config, night, all, live, copy, replay };
}

const said = text().nullable().describe("What.");

test.each(eitherWarehouse)(
  "$name: rows told apart by their place begin anew with each scan, where lists forget",
  async ({ make }) => {
    const history = defineStream({
      name: "histories",
      path: "/histories",
      mode: list({ rows: "histories", absence: "kept" }),
      row: record("Histories.", { insight: id().describe("Which."), said }),
      key: ["insight", "_index"],
      preset: "core",
    });
    const histories = ["a", "b", "a"].map((insight, n) => ({ insight, said: `${n}` }));
    const { night, live, replay } = await place(make, history, { "/histories": () => ({ histories }) });
    await night();
    const before = await live();
    expect(before).toHaveLength(3);
    const report = await replay({ from: "2026-01-01" });
    expect(report).toMatchObject({ exit_code: 0, streams: [{ rows_read: 6, inserted: 0, updated: 0 }] });
    expect(await live()).toEqual(before);
  },
);

test("so they do after a night that left a question of a lookup unanswered", async () => {
  const asOf = defineStream({
    name: "orders_as_of",
    path: "/as-of/{vendor}",
    mode: lookup({ rows: "orders" }),
    row: record("Orders.", { po: id().describe("Which.") }),
    key: ["vendor", "_index"],
    preset: "lookup",
  });
  const says: Record<string, Say> = {
    "/as-of/A": () => ({ orders: [{ po: "1" }, { po: "2" }] }),
    "/as-of/B": () => ({ orders: [{ po: "3" }] }),
  };
  const settings = { orders_as_of: { parameters: { vendor: ["A", "B"] } } };
  const { night, live, replay } = await place(duckdb.make, asOf, says, { settings });
  says["/as-of/B"] = () => refused(400, "BAD");
  expect(await night()).toMatchObject({ exit_code: 1 });
  const before = await live();
  expect(before).toHaveLength(3);
  expect((await replay()).streams).toMatchObject([{ rows_read: 5, inserted: 0, updated: 0, deleted: 0 }]);
  expect(await live()).toEqual(before);
});

test.each(eitherWarehouse)(
  "$name: rows that a loaded scan asked for by a status which the config names no more are not taken for deleted afterwards",
  async ({ make }) => {
    const things = defineStream({
      name: "things",
      path: "/things",
      mode: scan({ rows: "things", total: "total" }),
      row: record("Things.", { thing: id().describe("Which."), state: text().describe("How it stands.") }),
      key: ["thing"],
      preset: "core",
    });
    const rows = Array.from({ length: 9 }, (_, n) => ({ thing: `${n}`, state: n < 8 ? "open" : "closed" }));
    const shown: Say = ({ query }) => {
      const some = rows.filter(({ state }) => state === (query.get("status") ?? "open"));
      return page({ total: some.length, things: some }, null);
    };
    const settings = { things: { statuses: ["closed"] } };
    const its = await place(make, things, { "/things": shown }, { settings });
    const { night, live, configure, copy, replay, config } = its;
    await forget(its, [things], ["things"], { drop: true });
    for (const each of [configure, copy.configure]) each({ archive: config.archive });
    expect((await replay()).streams).toMatchObject([{ inserted: 9, deleted: 0 }]);
    expect((await night()).streams).toMatchObject([{ missing: 1, deleted: 0 }]);
    expect(await live()).toHaveLength(9);
  },
);

/** A feed that knows its own total, narrowed by days. */
const events = defineStream({
  name: "events",
  path: "/events",
  mode: feed({
    rows: "events",
    total: "total",
    highWaterColumn: "happened",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    fullScanPages: 0,
    fullScanEveryDays: 3,
    lookbackDays: 1,
  }),
  row: record("Events.", { event: id().describe("Which."), happened: moment().nullable().describe("When."), said }),
  key: ["event"],
  preset: "core",
});

/** Of three months, and what the service says of them. */
function happenings() {
  const rows = Array.from({ length: 9 }, (_, n) => ({
    event: `e${n}`,
    happened: `2026-0${1 + (n % 3)}-05T10:00:00Z`,
    said: "first",
  }));
  const answer: Say = ({ query }) => {
    const some = rows.filter(({ happened }) => happened >= (query.get("date_from") ?? ""));
    return page({ total: some.length, events: some }, null);
  };
  return { rows, says: { "/events": answer } };
}

test.each(eitherWarehouse)(
  "$name: a scan bounded by start misses nothing from before it, though start is gone since",
  async ({ make }) => {
    const { says } = happenings();
    const { night, live, configure, config, copy } = await place(make, events, says);
    configure({ ...config, streams: { start: "2026-02-01" } });
    expect((await night({ full: true })).streams).toMatchObject([{ rows_read: 6, deleted: 0 }]);
    const before = await live();
    expect(before).toHaveLength(9);
    const report = await copy.replay({ catalogue: [events] });
    expect(report).toMatchObject({ exit_code: 0, streams: [{ rows_read: 6, missing: 0, deleted: 0 }] });
    expect(await live()).toEqual(before);
  },
);

test.each(eitherWarehouse)(
  "$name: what a backfill published little by little is known, too: none of it goes, to come back at once",
  async ({ make }) => {
    const { rows, says } = happenings();
    const { clock, backfill, all, replay } = await place(make, events, says);
    clock.advance(DAY);
    for (const n of [1, 2, 3]) rows.push({ event: `new ${n}`, happened: "2026-03-06T10:00:00Z", said: "first" });
    says["/events"] = ({ query }) => {
      const from = Number(query.get("cursor") ?? 0);
      // Past the time after which a run publishes what it has.
      clock.advance(DAY / 24);
      const march = rows.filter(({ happened }) => happened >= "2026-03");
      return page({ events: march.slice(from, from + 1) }, from + 1 < march.length ? String(from + 1) : null);
    };
    const report = await backfill({ catalogue: [events], range: { from: "2026-03-01", to: undefined } });
    expect(report).toMatchObject({ exit_code: 0, streams: [{ inserted: 3 }] });
    const before = await all();
    expect((await replay()).streams).toMatchObject([{ status: "succeeded", inserted: 0, updated: 0, deleted: 0 }]);
    expect(await all()).toEqual(before);
  },
);

test.each(eitherWarehouse)(
  "$name: after an older state was asked for, its scan takes nothing for deleted that came since",
  async ({ make }) => {
    const { rows, says } = happenings();
    const { clock, night, all, replay } = await place(make, events, says);
    const to = new Date(clock.now() + 1).toISOString();
    rows.push({ event: "new", happened: clock.date().toISOString(), said: "first" });
    expect((await night({ full: true })).streams).toMatchObject([{ inserted: 1 }]);
    const before = await all();
    expect((await replay({ to })).streams).toMatchObject([{ rows_read: 9, deleted: 0 }]);
    expect((await replay()).streams).toMatchObject([{ inserted: 0, updated: 0, deleted: 0 }]);
    expect(await all()).toEqual(before);
  },
);

test("one that was not bounded marks no less of what a start leaves in that there is by now, and stores nothing before it", async () => {
  const { rows, says } = happenings();
  const its = await place(duckdb.make, events, says);
  const { night, live, copy, config } = its;
  rows.splice(1, 1);
  expect((await night({ full: true })).streams).toMatchObject([{ deleted: 1 }]);
  const before = await live();
  await forget(its, [events], ["events"], { drop: true });
  copy.configure({ ...config, streams: { start: "2026-02-01" } });
  expect((await copy.replay({ catalogue: [events] })).streams).toMatchObject([{ inserted: 6, deleted: 1 }]);
  const january = ["e0", "e3", "e6"];
  const within = before.map(row => String(row["event"])).filter(event => !january.includes(event));
  expect((await live()).map(row => row["event"])).toEqual(within);
});

const behind = { code: "replay.archive_behind", fields: { unarchived_run_at: expect.any(String) } };

test.each([
  // The next run reads the feed whole again, and with that the archive knows all that the run before had brought.
  ["was held back by the guard", 1, 1, { status: "succeeded", warnings: [] }],
  ["went well", 1_000, 0, { status: "warning", warnings: [behind] }],
])("what a run brought that is not in the archive and %s isn't taken back", async (_how, least, code, told) => {
  const { rows, says } = happenings();
  const { night, live, configure, config, clock, replay } = await place(duckdb.make, events, says);
  configure({ deletes: { min_rows: least } });
  rows[0]!.said = "second";
  rows.splice(6, 3);
  expect((await night({ full: true })).exit_code).toBe(code);
  configure(config);
  rows.push({ event: "new", happened: clock.date().toISOString(), said: "first" });
  expect((await night()).streams).toMatchObject([{ status: "succeeded", inserted: 1 }]);
  const before = await live();
  expect(await replay()).toMatchObject(told);
  expect(await live()).toEqual(before);
});
