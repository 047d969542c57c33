import { describe, expect, test } from "vitest";
import type { MeaningTests } from "../../../src/catalog/meaning.ts";
import { streams } from "../../../streams/index.ts";
import { invoiceRows } from "../../models/invoice_data.ts";
import { orderRows } from "../../models/orders/order_data.ts";
import { priceRows } from "../../models/price_data.ts";
import { gone } from "../../models/rows.ts";
import { spendRows } from "../../models/spend_data.ts";
import { type Contents, type ModelWarehouse, modelWarehouses, usualMeanings } from "../../models/warehouse.ts";
import { models } from "../../support/models.ts";
import { passing } from "../../support/warehouse.ts";
import { project } from "./accepted.ts";
import { madePackage } from "./made.ts";
import { calling, namedTests, propertiesOf, rendered, textOf, yamlOf } from "./rendered.ts";

type Files = ReturnType<typeof madePackage>;
type Rows = Contents["rows"];

/** Tables with a row a day: the latest counts that was not deleted, and says so for the tables beside it. */
const daily: Rows = {
  analytics_otif_by_vendor: [
    { observed_on: "2026-03-01" },
    { observed_on: "2026-03-02" },
    { observed_on: "2026-03-03", _deleted_at: gone },
    { observed_on: "2026-03-01", _company: "beta" },
  ],
  analytics_otif_by_vendor_vendors: [
    { observed_on: "2026-03-01", _index: 0, vendor_id: "V1", vendor_name: "of old" },
    { observed_on: "2026-03-02", _index: 0, vendor_id: "V1", vendor_name: "of late" },
    { observed_on: "2026-03-02", _index: 1, vendor_id: "V2", vendor_name: "deleted", _deleted_at: gone },
    { observed_on: "2026-03-03", _index: 0, vendor_id: "V1", vendor_name: "of a deleted day" },
    { observed_on: "2026-03-01", _index: 0, vendor_id: "V1", vendor_name: "of beta", _company: "beta" },
  ],
};
const findings: Rows = {
  findings: ["F1", "F2", "F3"].map((finding_item_id, at) => ({
    finding_item_id,
    finding_id: finding_item_id,
    surfaceable_savings_usd: "10.5",
    created_at: "2026-02-01T10:00:00Z",
    ...(at === 2 ? { _deleted_at: gone } : {}),
  })),
  finding_lineage: [{ finding_id: "F1", dismissed_at: "2026-02-03T10:00:00Z" }],
};
const meanings: MeaningTests = {
  ...usualMeanings,
  credit: { doc_type: ["it's 100% {row}", "*credit*"], linked_invoice_doc_id: "filled" },
};
const everything = Object.fromEntries(
  streams.flatMap(({ tables }) => [tables.main, ...tables.children]).map(({ name }) => [name, []]),
);

/** All these rows in one warehouse, each set in companies of its own. */
function together(...sets: readonly Rows[]): Rows {
  const all: Record<string, Rows[string]> = {};
  for (const [at, set] of sets.entries())
    for (const [name, rows] of Object.entries(set)) {
      const own = rows.map(row => ({ ...row, _company: `${row["_company"] ?? "acme"} ${at}` }));
      all[name] = [...(all[name] ?? []), ...own];
    }
  return all;
}

const history = { purchase_order_line_items_versions: [] };
const worlds: readonly (readonly [what: string, contents: Contents])[] = [
  [
    "every table",
    { rows: together(everything, invoiceRows, orderRows, priceRows, spendRows, findings, daily, history) },
  ],
  [
    "some tables, other meanings, a reporting currency",
    {
      rows: together(invoiceRows, spendRows),
      meanings,
      currency: { report: "EUR", rates: "date,currency,rate\n2026-01-05,USD,1.25\n2026-02-01,USD,1.6" },
    },
  ],
];

/** Makes the package's models in a schema of their own, marts as tables, and returns the marts. */
async function build({ query }: Pick<ModelWarehouse, "query">, files: Files, schema: string, vars = {}) {
  const { models, sources } = propertiesOf(files);
  const macro = calling(files, vars);
  const names = (expression: string): string => {
    const [, call, first, second] = /^(ref|source)\('(\w+)'(?:, '(\w+)')?\)$/.exec(expression) ?? [];
    if (call === "ref" && models.some(({ name }) => name === first)) return `${schema}.${first}`;
    const source = sources.find(({ name }) => name === first);
    if (call === "source" && source?.tables.some(({ name }) => name === second))
      return `${rendered(source.schema!, names)}.${second}`;
    return macro(expression) ?? expect.unreachable(`${expression} is nothing in this package`);
  };
  await query(`create schema ${schema}`);
  const of = (name: string, folder: string) => files.find(({ path }) => path === `models/${folder}/${name}.sql`)?.text;
  for (const { name } of models) {
    const today = "select * from procurement_analytics.calendar_today";
    const text = name === "calendar_today" ? today : (of(name, "staging") ?? of(name, "marts")!);
    const kind = of(name, "marts") === undefined ? "view" : "table";
    await query(`create ${kind} ${schema}.${name} as ${rendered(text, names)}`);
  }
  return models.filter(({ name }) => of(name, "marts") !== undefined);
}

describe.each(modelWarehouses)("marts in $name", ({ name: type, make }) => {
  // DuckDB takes half a minute to plan the models over every table, and its types are where the package has them from.
  const own = type === "duckdb" ? worlds.slice(1) : worlds;
  test.each(own)("each has the rows and types of tributary's view: %s", async (_what, contents) => {
    const warehouse = await passing(make(contents));
    const has = (name: string) => name in contents.rows;
    const on = streams.filter(({ tables }) => [tables.main, ...tables.children].some(each => has(each.name)));
    const versioned = new Set(has("purchase_order_line_items_versions") ? ["purchase_order_details"] : []);
    const files = madePackage({
      type,
      streams: on,
      versioned,
      meanings: contents.meanings ?? usualMeanings,
      currency: contents.currency?.report,
    });
    const marts = await build(warehouse, files, "made");
    await warehouse.query("create schema seen");
    const lacking = async (one: string, other: string) =>
      (await warehouse.query(`select * from ${one} except all select * from ${other}`)).length;
    const columns = await warehouse.query(
      "select table_name, column_name, data_type from information_schema.columns where table_schema = 'made' order by ordinal_position",
    );
    const typeOf = type === "duckdb" ? "typeof" : "pg_typeof";
    expect(marts.map(({ name }) => name)).toEqual(expect.arrayContaining(["amount_currencies", "dim_vendors"]));
    for (const mart of marts) {
      const view = `seen.${mart.name}`;
      await warehouse.query(`create table ${view} as select * from procurement_analytics.${mart.name}`);
      const found = [await lacking(`made.${mart.name}`, view), await lacking(view, `made.${mart.name}`)];
      expect({ mart: mart.name, found }).toEqual({ mart: mart.name, found: [0, 0] });
      const said = mart.columns.map(each => `${typeOf}(cast(null as ${each.data_type})) as "${each.name}"`);
      const [words] = await warehouse.query(`select ${said.join(", ")}`);
      const own = columns
        .filter(each => each["table_name"] === mart.name)
        .map(each => [each["column_name"], each["data_type"]]);
      expect({ mart: mart.name, types: Object.entries(words!) }).toEqual({ mart: mart.name, types: own });
    }
  });

  test("a project's own variables say what rows are taken for, and where they are", async () => {
    const warehouse = await passing(make({ rows: spendRows }));
    const on = streams.filter(({ tables }) => tables.main.name in spendRows);
    const files = madePackage({ type, streams: on });
    const credits = async (schema: string) =>
      (
        await warehouse.query(
          `select sum(credit_count) as n, sum(unclear_count) as u from ${schema}.spend_by_vendor_month`,
        )
      )[0];
    await build(warehouse, files, "usual");
    await build(warehouse, files, "other", { meaning_credit: "case when {row}.total_amount > 100 then true end" });
    const counted =
      "count(case when total_amount > 100 then 1 end) as n, count(case when total_amount > 100 then null else 1 end) as u";
    const [expected] = await warehouse.query(`select ${counted} from procurement_analytics.invoices`);
    const canonical = (row: unknown) =>
      JSON.parse(JSON.stringify(row), (_, value) => (typeof value === "string" ? Number(value) : value));
    expect(canonical(await credits("other"))).toEqual(canonical(expected));
    expect(canonical(await credits("usual"))).not.toEqual(canonical(expected));
    await expect(build(warehouse, files, "nowhere", { warehouse_schema: "elsewhere" })).rejects.toThrow(/elsewhere/);
  });
});

describe("what the package says of marts", () => {
  const marts = (files: Files) =>
    files.flatMap(({ path }) => /^models\/marts\/(\w+)\.sql$/.exec(path)?.[1] ?? []).sort();
  const files = madePackage({ type: "duckdb" });

  test("every model is a mart, but what shows the configuration's lines, which is a source; what they read of runs is one too", () => {
    const known = models.models.map(({ name }) => name);
    const views = propertiesOf(files).sources[1]!.tables.map(({ name }) => name);
    expect([...marts(files), ...views].sort()).toEqual([...known].sort());
    expect(views).toEqual(["assumptions"]);
    expect(propertiesOf(files).sources[2]!.tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["runs", "stream_runs", "streams", "currency_factors"]),
    );
  });

  test("their columns are under contract, described as in the views", () => {
    const { models: project_ } = project.parse(yamlOf(files, "dbt_project.yml"));
    expect(project_["tributary"]!["marts"]).toMatchObject({ "+contract": { enforced: true }, "+materialized": "view" });
    for (const { name, description, columns } of propertiesOf(files).models) {
      const model = models.models.find(each => each.name === name);
      if (model === undefined) continue;
      expect(description).toBe(model.description);
      expect(columns.map(each => [each.name, each.description])).toEqual(
        model.columns.map(each => [each.name, each.description]),
      );
    }
  });

  test("their keys and what they refer to are tests; of a key's columns only the company is always there", () => {
    const spend = propertiesOf(files).models.find(({ name }) => name === "spend_by_vendor_month")!;
    expect(namedTests(spend.data_tests)).toEqual([
      {
        test: "unique_key",
        arguments: { columns: ["_company", "vendor_id", "month", "currency_code", "currency_source"] },
        ...{ severity: "error", where: undefined },
      },
      {
        test: "related_in_company",
        arguments: { columns: ["vendor_id"], to: "ref('dim_vendors')", to_columns: ["vendor_id"] },
        ...{ severity: "error", where: undefined },
      },
    ]);
    expect(spend.columns.filter(({ data_tests }) => data_tests !== undefined).map(({ name }) => name)).toEqual([
      "_company",
    ]);
    const { key, references } = models.models.find(({ name }) => name === "invoice_exceptions")!;
    const tests = namedTests(propertiesOf(files).models.find(({ name }) => name === "invoice_exceptions")!.data_tests);
    expect(tests.map(each => each.arguments["to"] ?? each.arguments["columns"])).toEqual([
      key,
      ...references.map(({ to }) => (to.table === "invoices" ? "ref('stg_invoices')" : `ref('${to.table}')`)),
    ]);
  });

  test("a report's models are an exposure of it", () => {
    const [exposure] = propertiesOf(files).exposures;
    expect(exposure?.depends_on).toEqual(
      expect.arrayContaining(["ref('spend_by_vendor_month')", "source('procurement_analytics', 'assumptions')"]),
    );
    expect(exposure!.depends_on.filter(call => call.startsWith("source"))).toHaveLength(1);
  });

  test("without tributary's views there are marts all the same, and nothing reads a view", () => {
    const alone = madePackage({ type: "duckdb", views: false });
    expect(marts(alone)).toEqual(marts(files));
    expect(propertiesOf(alone).sources.map(({ name }) => name)).toEqual(["procurement", "_tributary"]);
    expect(alone.filter(({ text }) => text.includes("procurement_analytics'")).map(({ path }) => path)).toEqual([]);
  });

  test("a mart that lacks a table is not there, and what no stream brings means nothing", () => {
    const few = madePackage({
      type: "duckdb",
      streams: streams.filter(({ name }) => ["invoices", "findings"].includes(name)),
    });
    expect(marts(few)).toEqual(expect.arrayContaining(["spend_by_vendor_month", "findings_value"]));
    expect(marts(few)).not.toContain("purchase_order_fulfilment");
    const { vars } = project.parse(yamlOf(few, "dbt_project.yml"));
    expect(Object.keys(vars).filter(name => name.startsWith("meaning_"))).toEqual(
      ["credit", "paid", "held", "dismissed", "resolved"].map(name => `meaning_${name}`),
    );
    expect(Object.values(vars).filter(text => text.includes("{beside}"))).toEqual([]);
  });
});

test("a column that the configuration leaves out is null in staging models, as in the views, and marts go on", async () => {
  const excluded = streams.map(stream => {
    if (stream.name !== "invoices") return stream;
    const { main, children } = stream.tables;
    const out = main.columns.filter(({ name }) => name === "vendor_name");
    const columns = main.columns.filter(({ name }) => name !== "vendor_name");
    return { ...stream, tables: { main: { ...main, columns, excluded: out }, children } };
  });
  const files = madePackage({ type: "postgres", streams: excluded });
  expect(textOf(files, "models/staging/stg_invoices.sql")).toContain("  cast(null as text) as vendor_name\n");
  const { models: described } = propertiesOf(files);
  const column = described
    .find(({ name }) => name === "stg_invoices")!
    .columns.find(({ name }) => name === "vendor_name");
  expect(column?.description).toMatch(/^Left out by the configuration/);
});
