import { describe, expect, test } from "vitest";
import type { Table } from "../../../src/catalog/columns.ts";
import { isReserved } from "../../../src/catalog/reserved_words.ts";
import { duckdbDialect } from "../../../src/warehouse/duckdb/session/dialect.ts";
import { postgresDialect } from "../../../src/warehouse/postgres/dialect.ts";
import { streams } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { core } from "../../support/core.ts";
import { models as ours } from "../../support/models.ts";
import { profiles, project } from "./accepted.ts";
import { madePackage } from "./made.ts";
import { namedTests, propertiesOf, textOf, yamlOf } from "./rendered.ts";

describe.each([
  { dialect: duckdbDialect, what: "every stream", streams, without: [] as string[] },
  {
    dialect: postgresDialect,
    what: "the core streams",
    streams: core,
    without: ["contract_leakage", "contract_utilisation", "item_price_trend"],
  },
])("the package of $what, for $dialect.name", ({ dialect, streams, without }) => {
  const tables = streams.flatMap(stream => [stream.tables.main, ...stream.tables.children]);
  const files = madePackage({ type: dialect.name, streams });
  const { sources, models: all, macros } = propertiesOf(files);
  const models = all.filter(({ name }) => name.startsWith("stg_") && !name.endsWith("_latest"));
  const marts = all.filter(({ name }) => !name.startsWith("stg_"));
  const [source] = sources;

  test("dbt accepts its YAML", () => {
    project.parse(yamlOf(files, "dbt_project.yml"));
    const profile = profiles.parse(yamlOf(files, "profiles.yml"));
    expect(Object.keys(profile)).toEqual([(yamlOf(files, "dbt_project.yml") as { profile: string }).profile]);
    expect(sources.map(({ name }) => name)).toEqual(["procurement", "procurement_analytics", "_tributary"]);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual([...new Set(paths)]);
  });

  test("every table is a source with all its columns and their types, each described", () => {
    expect(source?.tables.map(({ name }) => name)).toEqual(tables.map(({ name }) => name));
    for (const [index, { name, columns, config }] of source!.tables.entries()) {
      const table = tables[index]!;
      const own = new Map(table.columns.map(column => [column.name, dialect.columnType(column.kind)]));
      const said = new Map(columns.map(column => [column.name, column.data_type]));
      expect({ name, lacking: [...own].filter(([column, type]) => said.get(column) !== type) }).toEqual({
        name,
        lacking: [],
      });
      expect(config?.meta?.["key"]).toEqual(["_company", ...table.key]);
      const terse = columns.filter(
        column => (column.description ?? "").length < 10 || column.description === column.name,
      );
      expect(terse).toEqual([]);
    }
  });

  test("every key is tested in its source: each column is present, all together unique", () => {
    for (const [index, { columns, data_tests }] of source!.tables.entries()) {
      const { key, path } = tables[index]!;
      const present = columns.filter(column => column.data_tests?.includes("not_null")).map(({ name }) => name);
      expect(present.sort()).toEqual(["_company", ...key].sort());
      const unique = { test: "unique_key", severity: "error" };
      const line = { columns: ["_company", ...key.slice(0, -1), "_line_id"] };
      expect(namedTests(data_tests)).toEqual([
        { ...unique, arguments: { columns: ["_company", ...key] }, where: undefined },
        ...(path.length === 0
          ? []
          : [{ ...unique, arguments: line, where: "_deleted_at is null and _line_id is not null" }]),
      ]);
    }
  });

  test("every table has a staging model of its own names and types, described like it", () => {
    expect(models.map(({ name }) => name)).toEqual(tables.map(({ name }) => `stg_${name}`));
    for (const [index, { name, columns }] of models.entries()) {
      const own = tables[index]!.columns.map(column => column.name);
      expect(columns.map(column => column.name)).toEqual(["_company", ...own, "_changed_at"]);
      const text = textOf(files, `models/staging/${name}.sql`);
      expect(text).toContain(`\nselect\n  _company,\n`);
      expect(text).toContain(
        `\nfrom {{ source('procurement', '${tables[index]!.name}') }}\nwhere _deleted_at is null\n`,
      );
    }
  });

  test("tests are those of macros that are there, with the arguments they take", () => {
    const taken = new Map(
      macros.flatMap(({ name }) => {
        const test = /^test_(\w+)$/.exec(name)?.[1];
        if (test === undefined) return [];
        const [, given] = new RegExp(`\\{% test ${test}\\(model, (.*)\\) %\\}`).exec(
          textOf(files, `macros/${test}.sql`),
        )!;
        return [[test, given!.split(", ")] as const];
      }),
    );
    const used = [...source!.tables, ...models].flatMap(({ data_tests }) => namedTests(data_tests));
    expect(new Set(used.map(each => each.test))).toEqual(new Set(["unique_key", "related_in_company"]));
    for (const each of used) {
      const own = Object.keys(each.arguments);
      const known = taken.get(each.test)!.map(word => word.split("="));
      expect(own).toEqual(known.flatMap(([name, usual]) => (usual === undefined || own.includes(name!) ? [name] : [])));
    }
  });

  test("every relation whose ends are in the package is a test: an error what is certain, a warning what is assumed", () => {
    const there = new Set([...sources[0]!.tables, ...marts].map(({ name }) => name));
    const known = relationsOf(streams).filter(({ to }) => there.has(to.table));
    const tested = models.flatMap(({ name, data_tests }) =>
      namedTests(data_tests).map(each => [name.replace(/^stg_/, ""), each] as const),
    );
    const asRelation = ([from, { arguments: values, severity, where = "" }]: (typeof tested)[number]) => {
      const [, to] = /^ref\('(?:stg_)?(\w+)'\)$/.exec(String(values["to"])) ?? [];
      return [from, values["columns"], to, values["to_columns"], severity === "error" ? "certain" : "assumed", where];
    };
    const wanted = known.map(({ from, to, certainty, where }) => [
      from.table,
      from.columns,
      to.table,
      to.columns,
      certainty,
      where === undefined ? "" : `${where.column} in ('${where.values.join("', '")}')`,
    ]);
    const sorted = (rows: readonly (readonly unknown[])[]) => rows.map(row => JSON.stringify(row)).sort();
    expect(sorted(tested.map(asRelation))).toEqual(sorted(wanted));
    expect(new Set(wanted.map(row => row[4]))).toEqual(new Set(["certain", "assumed"]));
    const names = models.flatMap(({ data_tests = [] }) =>
      data_tests.flatMap(each => Object.values(each)[0]?.name ?? []),
    );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test("the models beside the tables are marts or sources; those that lack a table are not", () => {
    const given = [...sources[1]!.tables, ...marts].map(({ name }) => name);
    const lacking = ours.models.map(({ name }) => name).filter(name => !given.includes(name));
    expect(lacking).toEqual(without);
    expect(given.length).toBeGreaterThan(10);
  });

  test("the same configuration makes the same bytes", () => {
    expect(madePackage({ type: dialect.name, streams })).toEqual(files);
  });
});

test("a history is a source of its own: one version at a moment, one present version, and no staging model", () => {
  const files = madePackage({ type: "duckdb", streams: core, versioned: new Set(["invoice_matches"]) });
  const { sources, models } = propertiesOf(files);
  const names = sources[0]!.tables.map(({ name }) => name);
  expect(names.filter(name => name.endsWith("_versions"))).toEqual([
    "invoice_matches_versions",
    "invoice_line_items_versions",
    "invoice_procurement_chain_versions",
    "invoice_communication_hints_versions",
    "invoice_money_documents_versions",
  ]);
  const lines = sources[0]!.tables.find(({ name }) => name === "invoice_line_items_versions")!;
  expect(namedTests(lines.data_tests)).toEqual([
    {
      test: "unique_key",
      arguments: { columns: ["_company", "doc_id", "_index", "_valid_from"] },
      severity: "error",
      where: undefined,
    },
    {
      test: "unique_key",
      arguments: { columns: ["_company", "doc_id", "_index"] },
      severity: "error",
      where: "_is_current",
    },
    {
      test: "unique_key",
      arguments: { columns: ["_company", "doc_id", "_line_id"] },
      severity: "error",
      where: "_is_current and _line_id is not null",
    },
  ]);
  expect(lines.config?.loaded_at_query).toContain("stream = 'invoice_matches'");
  expect(lines.columns.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["_valid_from", "_valid_to", "_is_current"]),
  );
  expect(models.filter(({ name }) => name.endsWith("_versions"))).toEqual([]);
  expect(propertiesOf(madePackage({ type: "duckdb", streams: core })).models).toEqual(models);
});

test("models that lack a table are no sources, and relations to what is off are no tests", () => {
  const few = streams.filter(({ name }) => ["purchase_orders", "findings"].includes(name));
  const { sources, models } = propertiesOf(madePackage({ type: "postgres", streams: few }));
  const names = models.map(({ name }) => name);
  expect(sources[1]?.tables.map(({ name }) => name)).toEqual(["assumptions"]);
  expect(names).toContain("calendar_today");
  expect(names).not.toContain("three_way_match");
  const tests = models.flatMap(({ data_tests }) => namedTests(data_tests)).map(each => each.arguments["to"]);
  expect(tests).toContain("ref('stg_purchase_orders')");
  expect(tests).not.toContain("ref('stg_invoices')");
});

test("a column that is kept out of the warehouse is in no model and no test", () => {
  const without = (table: Table, name: string): Table => ({
    ...table,
    columns: table.columns.filter(column => column.name !== name),
  });
  const few = core.map(stream => {
    const { main, children } = stream.tables;
    const kept = children.map(child => (child.name.endsWith("linked_documents") ? without(child, "doc_type") : child));
    return {
      ...stream,
      tables: { main: stream.name === "findings" ? without(main, "po_number") : main, children: kept },
    };
  });
  const relationsIn = (files: ReturnType<typeof madePackage>) =>
    propertiesOf(files).models.flatMap(({ name, data_tests }) =>
      namedTests(data_tests).map(each => `${name}.${each.arguments["columns"]}`),
    );
  const before = relationsIn(madePackage({ type: "duckdb", streams: core }));
  const files = madePackage({ type: "duckdb", streams: few });
  const gone = ["stg_findings.po_number", "stg_purchase_order_linked_documents.doc_id"];
  expect(before).toEqual(expect.arrayContaining(gone));
  expect(relationsIn(files)).toEqual(before.filter(name => !gone.includes(name)));
  expect(textOf(files, "models/staging/stg_findings.sql")).not.toContain("  po_number,");
});

test("names of columns need no quotes in a staging model, unless an unknown field brought one that does", () => {
  const tables = streams.flatMap(stream => [stream.tables.main, ...stream.tables.children]);
  const names = tables.flatMap(({ columns }) => columns.map(({ name }) => name));
  expect(names.filter(name => isReserved(name) || !/^[a-z_][a-z0-9_]*$/.test(name))).toEqual([]);
});

test("what YAML 1.1 or a template would read as something else stays text", () => {
  const files = madePackage({ type: "duckdb", streams: core, companies: ["on", "O'Hara {{ co }}"], schema: "no" });
  const [source] = propertiesOf(files).sources;
  expect(source?.name).toBe("no");
  expect(textOf(files, "models/sources.yml")).toContain('name: "no"\n');
  const query = source!.tables[0]!.config!.loaded_at_query!;
  expect(query).toContain("company in ('on', 'O''Hara {{ '{{' }} co }}')");
  expect(query).toContain("count(*) = 2 ");
});

test.each([
  ["26h", { count: 26, period: "hour" }, { count: 52, period: "hour" }],
  ["7d", { count: 7, period: "day" }, { count: 14, period: "day" }],
  ["12h", { count: 12, period: "hour" }, { count: 1, period: "day" }],
  ["90m", { count: 90, period: "minute" }, { count: 3, period: "hour" }],
  ["20s", { count: 1, period: "minute" }, { count: 1, period: "minute" }],
] as const)("data later than %s is a warning, twice as late an error", (lateAfter, warn_after, error_after) => {
  const [source] = propertiesOf(madePackage({ type: "duckdb", streams: core, lateAfter })).sources;
  expect(source?.config?.freshness).toEqual({ warn_after, error_after });
});
