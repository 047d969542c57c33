import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { count, id, percent, quantity, table, text } from "../../../schemas/fields.ts";
import { detail, type Stream, scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { contents } from "../../support/tables.ts";
import { passing, postgresWarehouse, type Warehouse, warehouses } from "../../support/warehouse.ts";
import { page, told } from "../../sync/answers.ts";

const NIGHT = 86_400_000;

/** A list with details as a version knows them: what it counts is whole or may have a fraction, a rate is a number or a text. */
function version(counted: typeof count, rate: typeof percent | typeof text): readonly Stream[] {
  const fields = {
    visits: counted().nullable().describe("How often somebody came."),
    stayed: counted().nullable().describe("Days that they stayed."),
  };
  const things = streamOf("things", { thing: id(), ...fields }, { mode: scan({ rows: "things" }) });
  const parts = streamOf(
    "thing_parts",
    {
      thing: id(),
      moves: table("thing_moves", "Its moves.", {
        change_pct: rate().nullable(),
        steps: counted().nullable(),
      }),
    },
    { path: "/things/{thing}", mode: detail({ of: "things" }) },
  );
  return [things, parts];
}

const old = version(count, percent);
const young = version(quantity, text);

function service() {
  const things = [
    { thing: "T1", visits: 3, stayed: 2 },
    { thing: "T2", visits: 1.5, stayed: "12345678901234567890.25" },
    { thing: "T3", visits: "many", stayed: null },
  ];
  const moves: Record<string, object[]> = {
    T1: [{ change_pct: "12.5%", steps: 1 }],
    T2: [
      { change_pct: "7.5", steps: "2.25" },
      { change_pct: "100", steps: 2 },
    ],
    T3: [{ change_pct: null, steps: null }],
  };
  const says = {
    "/things": () => page({ things }, null),
    ...Object.fromEntries(things.map(({ thing }) => [`/things/${thing}`, () => ({ thing, moves: moves[thing] })])),
  };
  return { things, says };
}

async function placeOf(make: () => Promise<Warehouse>) {
  const { things, says } = service();
  const config = { views: true, streams: { defaults: { details: { audit: 0 }, history: true, max_reject_share: 1 } } };
  const place = await told(make, young, says, config);
  const night = (catalogue: readonly Stream[]) => {
    place.clock.advance(NIGHT);
    return place.run({ catalogue });
  };
  const movesIn = (name: string) =>
    place.warehouse.query(`select thing, _index, change_pct, steps + 0.0 as steps, _problems from ${name}
      where thing <> 'T3' order by thing, _index`);
  return { ...place, things, says, night, movesIn };
}

/** Moments, and what tells whether a row counts as changed. */
const stamps = (all: ReadonlyMap<string, string>) =>
  [...all].sort().map(([key, row]) => {
    const { _changed_at, _first_seen_at, _deleted_at } = JSON.parse(row);
    return [key, _changed_at, _first_seen_at, _deleted_at];
  });

describe.each(warehouses)("$name", ({ make }) => {
  test("columns get a roomier type in place: what had not fit comes out of _problems, and no row counts as changed", async () => {
    const { night, warehouse, asked, said, movesIn, count: counted } = await placeOf(make);
    expect((await night(old)).exit_code).toBe(0);
    const before = await contents(warehouse, old);
    expect(await counted("things", "_problems is not null")).toBe(2);
    expect(await counted("thing_moves", "change_pct is null and thing <> 'T3'")).toBe(1);
    said.length = 0;
    const report = await night(young);
    expect(report.exit_code).toBe(0);
    for (const line of report.streams) expect(line).toMatchObject({ updated: 0, inserted: 0 });
    expect(asked.map(path => path.split("?")[0])).toEqual(["/things"]);
    expect(said).toContain("changed types of things: visits numeric(38,9), stayed numeric(38,9)");
    const after = await contents(warehouse, young);
    expect(stamps(after)).toEqual(stamps(before));
    for (const name of ["procurement.things", "procurement_analytics.things"]) {
      const own = await warehouse.query(`select thing, visits + 0.0 as visits, stayed + 0.0 as stayed from ${name}
        where thing <> 'T3' order by thing`);
      expect(JSON.parse(JSON.stringify(own).replaceAll(/\.?0+(?=")/g, ""))).toEqual([
        { thing: "T1", visits: "3", stayed: "2" },
        { thing: "T2", visits: "1.5", stayed: "12345678901234567890.25" },
      ]);
    }
    expect(await counted("things", "_problems is not null and thing = 'T3'")).toBe(1);
    expect(await counted("things", "_problems is not null")).toBe(1);
    for (const name of ["procurement.thing_moves", "procurement.thing_moves_versions"])
      expect(await movesIn(name)).toMatchObject([
        { thing: "T1", change_pct: "12.5%", _problems: null },
        { thing: "T2", change_pct: "7.5", _problems: null },
        { thing: "T2", change_pct: "100", _problems: null },
      ]);
    expect(await counted("things_versions")).toBe(3);
    expect(await counted("thing_moves_versions")).toBe(4);
    // The next run finds nothing to do.
    said.length = 0;
    expect((await night(young)).streams.map(line => line.updated)).toEqual([0, 0]);
    expect(said.filter(sentence => sentence.startsWith("changed types"))).toEqual([]);
    expect(stamps(await contents(warehouse, young))).toEqual(stamps(before));
  });

  test("an older version refuses tables whose columns got another type, and writes nothing", async () => {
    const { night, warehouse } = await placeOf(make);
    await night(young);
    const before = await contents(warehouse, young);
    await expect(night(old)).rejects.toMatchObject({ message: expect.stringContaining("nothing was changed") });
    expect(await contents(warehouse, young)).toEqual(before);
  });
});

test("somebody's own view over such a column is named, with what to do, before anything is changed", async () => {
  const { night, warehouse, count: counted } = await placeOf(() => passing(postgresWarehouse(inject("postgresUrl"))));
  await night(old);
  const client = new pg.Client({ connectionString: String(warehouse.destination["url"]) });
  await client.connect();
  onTestFinished(() => client.end());
  const own = `own_${randomUUID().slice(0, 8)}`;
  await client.query(`create schema ${own}; create view ${own}.stays as select thing, stayed from procurement.things;
    create view ${own}.names as select thing from procurement.things;
    create view ${own}.over_ours as select visits from procurement_analytics.things`);
  await expect(night(young)).rejects.toMatchObject({
    exitCode: 6,
    message: expect.stringMatching(
      new RegExp(
        `nothing was changed.*${own}\\.over_ours, ${own}\\.stays of yours read columns.*pg_get_viewdef.*drop them, run again`,
      ),
    ),
  });
  expect(await counted("things", "stayed = 2")).toBe(1);
  await client.query(`drop view ${own}.stays; drop view ${own}.over_ours`);
  expect((await night(young)).exit_code).toBe(0);
  const { rows } = await client.query(`select count(*)::int as n from ${own}.names`);
  expect(rows).toEqual([{ n: 3 }]);
});
