import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelWarehouse, modelWarehouses } from "../../models/warehouse.ts";
import { core } from "../../support/core.ts";
import { madePackage } from "./made.ts";
import { calling, type Names, namedTests, propertiesOf, rendered, textOf } from "./rendered.ts";

const tables = core.flatMap(stream => [stream.tables.main, ...stream.tables.children].map(({ name }) => name));
const gone = "2026-03-01T00:00:00Z";

const planted = {
  purchase_orders: [
    { po_number: "P1", is_open: true, total_amount: "12.5" },
    { po_number: "P2", is_open: false, _deleted_at: gone },
    { po_number: "P3", is_open: true, _company: "beta" },
  ],
  findings: ["P1", "P3", null].map((po_number, at) => ({ finding_item_id: `F${at}`, po_number })),
  invoices: [{ doc_id: "D1" }],
  purchase_order_details: [{ po_number: "P1" }],
  purchase_order_linked_documents: ["D1", "D2", "D3"].map((doc_id, _index) => ({
    po_number: "P1",
    _index,
    doc_id,
    doc_type: doc_id === "D3" ? "receipt" : "invoice",
  })),
  purchase_order_line_items: [
    { po_number: "P1", _index: 0 },
    { po_number: "P1", _index: 1, _deleted_at: gone },
  ],
};

/** What the package's SQL says in a real database, with `dbt run` and `dbt test` played by hand. */
describe.each(modelWarehouses)("the package's SQL in $name", ({ name: type, make }) => {
  const files = madePackage({ type, streams: core, companies: ["acme", "beta"] });
  const { sources, models: all } = propertiesOf(files);
  const models = all.filter(({ name }) => name.startsWith("stg_") && !name.endsWith("_latest"));
  const macro = calling(files);
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows: { ...Object.fromEntries(tables.map(name => [name, []])), ...planted } });
    await warehouse.query("create schema staged");
    for (const { name } of models)
      await warehouse.query(
        `create view staged.${name} as ${rendered(textOf(files, `models/staging/${name}.sql`), called)}`,
      );
  });
  afterAll(() => warehouse.drop());

  /** `ref()` and `source()` as dbt would fill them in. */
  const called: Names = expression => {
    const [, call, first, second] = /^(ref|source)\('(\w+)'(?:, '(\w+)')?\)$/.exec(expression) ?? [];
    if (call === "ref" && models.some(({ name }) => name === first)) return `staged.${first}`;
    if (call === "ref" && all.some(({ name }) => name === first)) return `procurement_analytics.${first}`;
    const source = sources.find(({ name }) => name === first);
    if (call === "source" && source?.tables.some(({ name }) => name === second))
      return `${rendered(source.schema!, called)}.${second}`;
    return macro(expression) ?? expect.unreachable(`${expression} is nothing in this package`);
  };

  /** The rows that a test of the package finds fault with. */
  const faults = (test: string, model: string, values: Readonly<Record<string, unknown>>) =>
    warehouse.query(
      rendered(textOf(files, `macros/${test}.sql`), expression => {
        if (expression === "model") return model;
        if (expression === "kind") return String(values["kind"] ?? "''");
        const value = { most_share: 0, ...values }[expression] as string | number | readonly string[];
        if (typeof value === "number") return String(value);
        return typeof value === "string" ? called(value) : value;
      }),
    );

  /** As dbt narrows what a test looks at. */
  const narrowed = (model: string, where: string | undefined) =>
    where === undefined ? model : `(select * from ${model} where ${where}) dbt_subquery`;

  test("every staging model is a view of its table's live rows", async () => {
    for (const { name, columns } of models) {
      const table = name.replace(/^stg_/, "");
      const lacking = await warehouse.query(
        `select ${columns.map(column => column.name).join(", ")} from staged.${name} except
         select ${columns.map(column => column.name).join(", ")} from procurement.${table} where _deleted_at is null`,
      );
      expect({ name, lacking }).toEqual({ name, lacking: [] });
    }
    const rows = (name: string, columns: string) =>
      warehouse.query(`select ${columns} from staged.${name} order by 1, 2`);
    expect(await rows("stg_purchase_orders", "_company, po_number, total_amount")).toEqual([
      { _company: "acme", po_number: "P1", total_amount: "12.5" },
      { _company: "beta", po_number: "P3", total_amount: null },
    ]);
    expect(await rows("stg_purchase_order_line_items", "_index, po_number")).toEqual([{ _index: 0, po_number: "P1" }]);
  });

  test("every test of a key runs, and finds nothing in keys that are right", async () => {
    for (const { name, data_tests } of sources[0]!.tables)
      for (const { test, arguments: values, where } of namedTests(data_tests))
        expect({ name, faults: await faults(test, narrowed(`procurement.${name}`, where), values) }).toEqual({
          name,
          faults: [],
        });
  });

  test("two live lines of a row with one id are found, others are not", async () => {
    const lines = sources[0]!.tables.find(({ name }) => name === "purchase_order_line_items")!;
    const { test, arguments: values, where } = namedTests(lines.data_tests)[1]!;
    const found = () => faults(test, narrowed("procurement.purchase_order_line_items", where), values);
    const line = (po_number: string, index: number, own: string | null, deleted: string) =>
      warehouse.query(
        `insert into procurement.purchase_order_line_items (_company, po_number, _index, _line_id, _deleted_at)
          values ('acme', '${po_number}', ${index}, ${own === null ? "null" : `'${own}'`}, ${deleted})`,
      );
    await line("P7", 0, "10", "null");
    await line("P7", 1, "20", "null");
    await line("P7", 2, "10", "timestamptz '2026-03-01 00:00:00Z'");
    await line("P7", 3, null, "null");
    await line("P7", 4, null, "null");
    await line("P8", 0, "10", "null");
    expect(await found()).toEqual([]);
    await line("P7", 5, "20", "null");
    expect(await found()).toMatchObject([{ _company: "acme", po_number: "P7", _line_id: "20" }]);
    await warehouse.query("delete from procurement.purchase_order_line_items where po_number in ('P7', 'P8')");
  });

  test("every relation's test runs, and only what has no counterpart in its company is found", async () => {
    const found: Record<string, unknown> = {};
    for (const { name, data_tests } of models)
      for (const { test, arguments: values, where } of namedTests(data_tests)) {
        const rows = await faults(test, narrowed(String(called(`ref('${name}')`)), where), values);
        if (rows.length > 0) found[`${name} → ${values["to"]}`] = rows;
      }
    expect(found).toEqual({
      "stg_findings → ref('stg_purchase_orders')": [{ _company: "acme", po_number: "P3" }],
      "stg_purchase_order_linked_documents → ref('stg_invoices')": [{ _company: "acme", doc_id: "D2" }],
    });
  });

  test("a key that stands there twice is found, of one company only", async () => {
    const twice = `(select 'acme' as _company, po_number, 0 as line from procurement.purchase_orders
      union all select _company, po_number, 0 from procurement.purchase_orders where _company = 'acme') rows_of`;
    const found = await faults("unique_key", twice, { columns: ["_company", "po_number", "line"] });
    expect(found.sort((a, b) => (String(a["po_number"]) < String(b["po_number"]) ? -1 : 1))).toEqual([
      { _company: "acme", po_number: "P1", line: 0, row_count: 2 },
      { _company: "acme", po_number: "P2", line: 0, row_count: 2 },
    ]);
  });

  test("two present versions of a row are found, one present and one ended are right", async () => {
    const version = (row: string, from: number, current: boolean) =>
      `select 'acme' as _company, '${row}' as id, ${from} as _valid_from, ${current} as _is_current`;
    const history = (...versions: string[]) => `(${versions.join(" union all ")}) rows_of`;
    const current = (rows: string) =>
      faults("unique_key", `(select * from ${rows} where _is_current) dbt_subquery`, { columns: ["_company", "id"] });
    expect(await current(history(version("a", 1, false), version("a", 2, true), version("b", 1, true)))).toEqual([]);
    expect(await current(history(version("a", 1, true), version("a", 2, true), version("b", 1, true)))).toEqual([
      { _company: "acme", id: "a", row_count: 2 },
    ]);
  });

  test("a value without a counterpart in the same company is found, a null needs none", async () => {
    const pointing = `(select 'acme' as _company, 'P1' as po, 'x' as more union all select 'acme', 'P2', 'x'
      union all select 'acme', 'P3', 'x' union all select 'beta', 'P3', 'x' union all select 'beta', null, 'x'
      union all select 'beta', 'P1', null) rows_of`;
    const to = { to: "ref('stg_purchase_orders')", to_columns: ["po_number"] };
    const found = await faults("related_in_company", pointing, { columns: ["po"], ...to });
    const named = (rows: Record<string, unknown>[]) => rows.map(row => `${row["_company"]} ${row["po"]}`).sort();
    // P2 is no longer live, P3 is another company's.
    expect(named(found)).toEqual(["acme P2", "acme P3", "beta P1"]);
    const pair = { columns: ["po", "more"], to: to.to, to_columns: ["po_number", "'x'"] };
    expect(named(await faults("related_in_company", pointing, pair))).toEqual(["acme P2", "acme P3"]);
    // Three of five values have none.
    for (const [most_share, expected] of [
      [0.59, 3],
      [0.61, 0],
    ])
      expect(await faults("related_in_company", pointing, { columns: ["po"], ...to, most_share })).toHaveLength(
        expected!,
      );
  });

  test("of a relation that some kinds of rows have, the other kinds are not found", async () => {
    const pointing = (...rows: string[]) =>
      `(${rows.map(row => `select 'acme' as _company, ${row}`).join(" union all ")}) rows_of`;
    const relation = { columns: ["po"], to: "ref('stg_purchase_orders')", to_columns: ["po_number"] };
    const found = (rows: string, kind: string) => faults("related_in_company", rows, { ...relation, kind });
    const rows = pointing("'P1' as po, 'order' as type", "'M1', 'mail'", "'X1', 'order'", "'M2', null");
    expect(await found(rows, "type")).toEqual([{ _company: "acme", po: "X1" }]);
    expect(await found(rows, "''")).toHaveLength(3);
    // Where no kind has a match, the relation is not there at all.
    expect(await found(pointing("'M1' as po, 'mail' as type"), "type")).toHaveLength(1);
    const ingested = models.find(({ name }) => name === "stg_ingested")!;
    const [toInvoices] = namedTests(ingested.data_tests).filter(each => each.arguments["to"] === "ref('stg_invoices')");
    expect(toInvoices?.arguments).toMatchObject({ kind: "type" });
  });

  test("a stream is as fresh as the last sync that brought it to the company which had it longest ago", async () => {
    const { config } = sources[0]!.tables.find(({ name }) => name === "purchase_order_line_items")!;
    // dbt attaches a file under a name; here it is the one that is open.
    const query = rendered(config!.loaded_at_query!, called).replaceAll(`"warehouse".`, "");
    const loadedAt = async (): Promise<string | null> => {
      // As dbt calls it.
      const [row] = await warehouse.query(`with source_query as (${query}) select (select * from source_query) as at`);
      return (row?.["at"] as Date | null)?.toISOString() ?? null;
    };
    const ran = async (
      company: string,
      day: string,
      { command = "tributary sync", status = "succeeded", error = "" } = {},
    ) => {
      const id = `${company} ${day}`;
      const moment = `2026-03-${day}T02:00:00Z`;
      await warehouse.query(`insert into _tributary.runs (run_id, command, status, started_at, version, process, warnings)
        values ('${id}', '${command}', 'succeeded', '${moment}', '1', '{}', '[]')`);
      await warehouse.query(`insert into _tributary.stream_runs (run_id, company, stream, status, started_at, finished_at, error)
        values ('${id}', '${company}', 'purchase_order_details', '${status}', '${moment}', '${moment}', ${error === "" ? "null" : `'${error}'`})`);
    };
    expect(await loadedAt()).toBeNull();
    await ran("acme", "01");
    expect(await loadedAt()).toBeNull();
    await ran("beta", "02", { status: "warning" });
    expect(await loadedAt()).toBe("2026-03-01T02:00:00.000Z");
    await ran("acme", "04");
    expect(await loadedAt()).toBe("2026-03-02T02:00:00.000Z");
    // None of these brought what the service has now: what is in the way of it, or came from elsewhere.
    await ran("beta", "05", { status: "failed", error: "no answer" });
    await ran("beta", "06", { status: "stopped" });
    await ran("beta", "07", { status: "warning", error: "the key may not read it" });
    await ran("beta", "08", { command: "tributary replay" });
    await ran("beta", "09", { command: "tributary backfill" });
    await ran("gamma", "01");
    expect(await loadedAt()).toBe("2026-03-02T02:00:00.000Z");
    await ran("beta", "10", { command: "tributary schedule nightly" });
    expect(await loadedAt()).toBe("2026-03-04T02:00:00.000Z");
  });
});
