import { describe, expect, test } from "vitest";
import type { Relation } from "../../../src/catalog/relation.ts";
import { type Coverage, measureRelations } from "../../../src/warehouse/read/relation_measurement.ts";
import { warehouses } from "../warehouses.ts";
import { ensure, items, rowsOf, sites } from "./place.ts";

const assumed = { certainty: "assumed", toOne: true, note: "So it seems." } as const;
const toSites: Relation = {
  ...assumed,
  from: { table: "items", columns: ["name"] },
  to: { table: "sites", columns: ["site_id"] },
};
const some: Relation = {
  ...toSites,
  from: { table: "item_tags", columns: ["tag"] },
  where: { column: "item_id", values: ["a", "it's"] },
};
const pair: Relation = {
  ...assumed,
  from: { table: "items", columns: ["item_id", "name"] },
  to: { table: "item_tags", columns: ["item_id", "tag"] },
};
const byModel: Relation = { ...toSites, to: { table: "places", columns: ["site_id"] } };
const nowhere: Relation = { ...toSites, to: { table: "harbours", columns: ["id"] } };

describe.each(warehouses)("$name", ({ make }) => {
  test("live rows of a company are counted by whether their counterpart is there, once however many there are", async () => {
    const destination = await make();
    await ensure(destination, { on: [items(), sites] });
    await rowsOf(
      destination,
      `insert into procurement.items (_company, item_id, name, _deleted_at) values
      ('acme', 'a', 's1', null), ('acme', 'b', 's2', null), ('acme', 'c', 's3', null), ('acme', 'd', null, null),
      ('acme', 'e', 's1', null), ('acme', 'f', 's1', '2026-01-01T00:00:00Z'), ('beta', 'g', 's1', null)`,
    );
    await rowsOf(
      destination,
      `insert into procurement.sites (_company, site_id, _deleted_at) values
      ('acme', 's1', null), ('acme', 's2', '2026-01-01T00:00:00Z'), ('beta', 's3', null)`,
    );
    await rowsOf(
      destination,
      `insert into procurement.item_tags (_company, item_id, _index, tag) values
      ('acme', 'a', 0, 's1'), ('acme', 'a', 1, 's1'), ('acme', 'a', 2, 'x'), ('acme', 'b', 0, 's1'), ('acme', 'it''s', 0, null)`,
    );
    await rowsOf(
      destination,
      "create view procurement_analytics.places as select _company, site_id from procurement.sites",
    );
    const measure = (runId: string) =>
      measureRelations(destination, [toSites, some, pair, byModel, nowhere], {
        company: "acme",
        runId,
        now: "2026-03-15T00:00:00Z",
        isMadeOf: () => false,
        coverageOf: () => undefined,
      });
    await measure("r1");
    await measure("r2");
    const found = await rowsOf(
      destination,
      `select from_table, from_columns, to_table, to_columns, only_where, matched, unmatched, nulls, run_id
      from _tributary.relations order by from_table, from_columns, to_table`,
    );
    expect(found.map(row => Object.values(row))).toEqual([
      ["item_tags", "tag", "sites", "site_id", "item_id in ('a', 'it''s')", 2, 1, 1, "r2"],
      ["items", "item_id, name", "item_tags", "item_id, tag", null, 1, 3, 1, "r2"],
      ["items", "name", "places", "site_id", null, 3, 1, 1, "r2"],
      ["items", "name", "sites", "site_id", null, 2, 2, 1, "r2"],
    ]);
  });

  test("what the other side is made of is not looked for there", async () => {
    const destination = await make();
    await ensure(destination, { on: [items(), sites] });
    await rowsOf(
      destination,
      "insert into procurement.items (_company, item_id, name) values ('acme', 'a', 's1'), ('acme', 'b', null)",
    );
    const measuring = {
      company: "acme",
      runId: "r",
      now: "2026-03-15T00:00:00Z",
      isMadeOf: () => true,
      coverageOf: () => undefined,
    };
    await measureRelations(destination, [toSites], measuring);
    const found = await rowsOf(destination, "select matched, unmatched, nulls from _tributary.relations");
    expect(found).toEqual([{ matched: 1, unmatched: 0, nulls: 1 }]);
  });

  test("a row that can have no counterpart in what was loaded is not counted: of another kind, too new, or its detail not fetched", async () => {
    const destination = await make();
    await ensure(destination, { on: [items(), sites] });
    await rowsOf(
      destination,
      `insert into procurement.items (_company, item_id, name, _changed_at) values
      ('acme', 'a', 's1', '2026-03-01T00:00:00Z'), ('acme', 'b', 's9', '2026-03-01T00:00:00Z'),
      ('acme', 'c', 's8', '2026-03-03T00:00:00Z'), ('acme', 's3', 's7', null), ('acme', 'e', null, null)`,
    );
    await rowsOf(
      destination,
      "insert into procurement.sites (_company, site_id) values ('acme', 's1'), ('acme', 's3')",
    );
    const relation: Relation = { ...toSites, kind: "item_id" };
    const measured = async (one: Relation, coverage: Coverage) => {
      const measuring = { company: "acme", runId: "r", now: "2026-03-15T00:00:00Z", isMadeOf: () => false };
      await measureRelations(destination, [one], { ...measuring, coverageOf: () => coverage });
      return rowsOf(destination, "select only_where, matched, unmatched, nulls from _tributary.relations");
    };
    const all = { stream: "sites", time: undefined, fetched: undefined };
    const board = (on: boolean, loaded: string) =>
      rowsOf(
        destination,
        `insert into _tributary.streams (company, stream, table_name, "on", last_success_at, complete_to, rows, live_rows)
        values ('acme', 'sites', 'sites', ${on}, ${loaded}, ${loaded}, 2, 2)`,
      );
    const clear = () => rowsOf(destination, "delete from _tributary.streams");
    await board(false, "'2026-03-02T00:00:00Z'");
    expect(await measured(toSites, all)).toEqual([]);
    await clear();
    await board(true, "null");
    expect(await measured(toSites, all)).toEqual([]);
    await clear();
    await board(true, "'2026-03-02T00:00:00Z'");
    expect(await measured(toSites, all)).toEqual([{ only_where: null, matched: 1, unmatched: 3, nulls: 1 }]);
    expect(await measured(toSites, { ...all, time: "_changed_at" })).toEqual([
      { only_where: null, matched: 1, unmatched: 2, nulls: 1 },
    ]);
    const fetched = { table: "sites", key: [{ from: "item_id", to: "site_id" }] };
    expect(await measured(toSites, { ...all, fetched })).toEqual([
      { only_where: null, matched: 1, unmatched: 1, nulls: 1 },
    ]);
    expect(await measured(relation, all)).toEqual([
      { only_where: "item_id in ('a')", matched: 1, unmatched: 0, nulls: 0 },
    ]);
    await rowsOf(destination, "update procurement.sites set site_id = 'no ' || site_id");
    expect(await measured(relation, all)).toEqual([{ only_where: null, matched: 0, unmatched: 4, nulls: 1 }]);
  });
});
