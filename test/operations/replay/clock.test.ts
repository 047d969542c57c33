import { expect, test } from "vitest";
import { id, moment, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, feed } from "../../../src/catalog/stream.ts";
import { temporaryFolder } from "../../source/archive/folder.ts";
import { type Warehouse, warehouses } from "../../support/warehouse.ts";
import { page } from "../../sync/answers.ts";
import { scenario } from "../../sync/scenario.ts";
import { addressIn, again } from "./again.ts";

/* An archive that lacks the last run, and a clock that was set back: what that run brought is newer, whatever the times say. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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
  row: record("Events.", {
    event: id().describe("Which."),
    happened: moment().nullable().describe("When."),
    said: text().describe("What."),
  }),
  key: ["event"],
  preset: "core",
});
const guests = defineStream({
  name: "event_guests",
  path: "/events/{event}/guests",
  mode: detail({ of: "events", rows: "guests" }),
  row: record("Guests.", { guest: id().describe("Who.") }),
  key: ["event", "guest"],
  preset: "core",
});
const catalogue = [events, guests];

/** A service whose own clock is right, and a warehouse whose first run is archived; `off`: how far ahead our clock is then. */
async function place(make: () => Promise<Warehouse>, off: number) {
  const config = { archive: { path: await temporaryFolder() }, deletes: { min_rows: 50 } };
  const its = await scenario(make, {}, { config });
  const { clock, warehouse } = its;
  let ahead = 0;
  const shift = (ms: number) => {
    clock.advance(ms);
    ahead += ms;
  };
  const rows = ["e1", "e2", "e3"].map(event => ({ event, happened: "2026-03-10T10:00:00Z", said: "first" }));
  const came = { e1: ["Ann"], e2: ["Bob"], e3: ["Cid"] } as Record<string, string[]>;
  its.look = ({ path }) => {
    const [, first, event = ""] = path.split("/");
    if (first !== "events") return undefined;
    const date = new Date(clock.now() - ahead);
    if (event === "") return { ...page({ total: rows.length, events: rows }, null), date };
    return { status: 200, body: { data: { guests: (came[event] ?? []).map(guest => ({ guest })) } }, date };
  };
  shift(off);
  await its.sync({ catalogue, full: true });
  const copy = again(warehouse, clock, config, await addressIn(warehouse));
  const all = async () => [
    await warehouse.query("select event, said, _deleted_at, _changed_at from procurement.events order by event"),
    await warehouse.query("select event, guest, _deleted_at, _changed_at from procurement.event_guests order by 1, 2"),
  ];
  return { ...its, shift, rows, came, copy, all };
}

test.each(
  warehouses.flatMap(({ name, make }) => [
    { name, make, off: 0, before: -2 * HOUR, after: 0, how: "set back before it" },
    { name, make, off: 0, before: 0, after: -2 * HOUR, how: "set back after it" },
    { name, make, off: 3 * DAY, before: -3 * DAY, after: 0, how: "days ahead for the run before it" },
    { name, make, off: 3 * DAY, before: 0, after: -3 * DAY, how: "days ahead for both" },
  ]),
)("$name: nothing of a run that the archive lost is taken back, though the clock was $how", async setting => {
  const { backfill, configure, clock, shift, rows, came, copy, all } = await place(setting.make, setting.off);
  shift(setting.before);
  clock.advance(5 * 60_000);
  configure({});
  rows.push({ event: "e4", happened: "2026-03-11T10:00:00Z", said: "second" });
  for (const row of rows.slice(0, 2)) row.said = "second";
  Object.assign(came, { e1: ["Ann", "Dora"], e2: ["Eve"], e4: ["Fay"] });
  // It leaves open how far the feed is complete.
  const lost = await backfill({ catalogue, range: { from: "2026-03-01", to: undefined } });
  expect(lost.streams).toMatchObject([
    { inserted: 1, updated: 2 },
    { inserted: 3, deleted: 1 },
  ]);
  const truth = await all();
  shift(setting.after);
  clock.advance(5 * 60_000);
  const report = await copy.replay({ catalogue });
  expect(report).toMatchObject({ exit_code: 0, streams: [{ deleted: 0 }, { deleted: 0, inserted: 0, updated: 0 }] });
  const gap = { stream: "events", unarchived_run_at: expect.any(String) };
  expect(report.warnings).toMatchObject([{ code: "replay.archive_behind", fields: gap }]);
  expect(await all()).toEqual(truth);
});
