import { expect, test } from "vitest";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { archived, temporaryFolder } from "../../source/archive/folder.ts";
import { compareWarehouses } from "../../support/truth.ts";
import { type Warehouse, warehouses } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../../sync/scenario.ts";
import { again } from "./again.ts";
import { type Stock, shop, shopAnswer, stocked } from "./shop.ts";

const DAY = 86_400_000;
const catalogue = shop;
const settings = { prices: { from: { thing: "things.thing" } } };
const configOf = (path: string) => ({ archive: { path }, deletes: { min_rows: 3 }, streams: { settings } });

/** Nights with everything that makes a replay more than reading what was there last. */
async function live(place: Scenario, stock: Stock): Promise<void> {
  const night = async (order: object = {}): Promise<RunReport> => {
    place.clock.advance(DAY);
    return place.sync({ catalogue, ...order });
  };
  expect((await night()).exit_code).toBe(0);
  // Rows change and come; a detail is no longer there.
  Object.assign(stock.things[0]!, { name: "another" });
  Object.assign(stock.things[5]!, { name: "without" });
  stock.things.push({ thing: "T9", name: "new" });
  stock.events.push({ event: 9, happened: "2026-03-16T09:00:00Z", said: "later" });
  stock.gone.add("/things/T0");
  await night();
  // A row is gone by its own 404 alone, as the total cannot be believed; another is only not listed.
  stock.total = 99;
  const hidden = stock.things.splice(1, 1)[0]!;
  stock.gone.add("/things/T1");
  stock.sum = 20;
  await night();
  stock.total = undefined;
  // Ends in the middle of a list, and is gone on with by the next night.
  Object.assign(stock.things[3]!, { price: JSON.rawJSON("0.1234567894") });
  expect((await night({ names: ["things"], maxRequests: 2 })).exit_code).toBe(5);
  stock.events.splice(1, 1);
  await night();
  // Everything is gone but two, which the guard holds back until it is told that this is right.
  const away = stock.things.splice(2);
  expect((await night()).exit_code).toBe(1);
  await night({ confirmDeletes: true });
  // And comes back.
  stock.gone.clear();
  stock.things.push(hidden, ...away);
  await night({ full: true });
  place.clock.advance(DAY);
  stock.events[0]!["said"] = "told anew";
  const range = { from: "2026-02-20", to: undefined };
  expect((await place.backfill({ catalogue, names: ["events"], range })).exit_code).toBe(0);
  // The end: what only a 404, only a second look, and only an accepted deletion shows to be gone.
  stock.others.splice(1);
  await night();
  stock.total = 99;
  stock.gone.add(`/things/${String(stock.things.splice(1, 1)[0]!["thing"])}`);
  const last = await night({ confirmDeletes: true });
  expect(last.streams.filter(line => line.deleted > 0)).toMatchObject([
    { stream: "others", deleted: 5 },
    { stream: "things", deleted: 1 },
    { stream: "prices", deleted: 2 },
  ]);
}

test("empty warehouses of both kinds get the tables that the runs had made, without a request; and once more changes nothing", async () => {
  const path = await temporaryFolder();
  const stock = stocked();
  const [first, ...others] = warehouses;
  const place = await scenario(first!.make, {}, { config: configOf(path) });
  place.look = passing => shopAnswer(stock, passing);
  await live(place, stock);
  place.look = () => {
    throw new Error("nobody may ask");
  };
  const state = await stateOf(place.warehouse);
  const rowState = await rowStatesOf(place.warehouse);

  for (const { make } of [first!, ...others]) {
    const copy = again(await make(), place.clock, configOf(path));
    const report = await copy.replay({ catalogue });
    expect(report.errors).toEqual([]);
    expect(report.streams.map(line => line.requests)).toEqual(report.streams.map(() => 0));
    const compared = await compareWarehouses(place.warehouse, copy.warehouse, catalogue);
    expect(compared.differences).toEqual([]);
    expect(compared.rows).toBeGreaterThan(50);
    expect(await stateOf(copy.warehouse)).toEqual(state);
    expect(await rowStatesOf(copy.warehouse)).toEqual(rowState);
    const runs = await copy.warehouse.query("select command, status, exit_code from _tributary.runs");
    expect(runs).toMatchObject([{ command: "replay", status: report.status, exit_code: 0 }]);
  }

  const before = await momentsOf(place.warehouse);
  const own = again(place.warehouse, place.clock, configOf(path), await urlOf(place.warehouse));
  place.clock.advance(DAY);
  expect(moved(await own.replay({ catalogue }))).toEqual([]);
  expect(await stateOf(place.warehouse)).toEqual(state);
  expect(await momentsOf(place.warehouse)).toEqual(before);

  const { lines, odd } = await archived(path);
  expect(odd).toEqual([]);
  const texts = lines.map(({ body }) => body.toString());
  expect(texts.filter(text => /sk-of-theirs|hush|api_key/.test(text))).toEqual([]);
  expect(texts.join()).toContain("1234567890123456789.123456789");
});

function moved({ streams, errors }: RunReport) {
  const lines = streams.filter(line => line.inserted + line.updated + line.deleted > 0);
  return [
    ...errors,
    ...lines.map(({ stream, inserted, updated, deleted }) => ({ stream, inserted, updated, deleted })),
  ];
}

/** The address by which the warehouse knows its service. */
async function urlOf(warehouse: Warehouse): Promise<string> {
  const rows = await warehouse.query("select * from _tributary.warehouse");
  return /http:\/\/127\.0\.0\.1:\d+/.exec(JSON.stringify(rows))![0];
}

async function stateOf({ query }: Warehouse) {
  const rows = await query<{ stream: string; state: unknown }>(
    `select s.stream, s.state, d.complete_to, d.rows, d.live_rows, d.details_pending
      from _tributary.stream_state s join _tributary.streams d on d.stream = s.stream order by 1`,
  );
  return rows.map(({ state, ...rest }) => {
    const { mark, lastFullAt, lastFullPages } = (typeof state === "string" ? JSON.parse(state) : state) as Record<
      string,
      unknown
    >;
    return { mark, lastFullAt, lastFullPages, ...rest };
  });
}

const rowStatesOf = ({ query }: Warehouse) =>
  query(
    "select stream, parent_key, cast(parent_hash as varchar) as hash, outcome, fetched_at from _tributary.details order by 1, 2",
  );

async function momentsOf({ query }: Warehouse) {
  const tables = catalogue.flatMap(({ tables: { main, children } }) => [main, ...children]);
  const each = tables.map(
    ({ name }) => `select '${name}' as name, max(_changed_at) as at, count(*) as n from procurement.${name}`,
  );
  return query(each.join(" union all "));
}
