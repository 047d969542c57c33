import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Column, Table } from "../../src/catalog/columns.ts";
import { readMeanings } from "../../src/catalog/meaning.ts";
import { modelSelect } from "../../src/catalog/model.ts";
import { streams } from "../../streams/index.ts";
import { models as program } from "../support/models.ts";
import { type ModelWarehouse, modelWarehouses, usualMeanings } from "./warehouse.ts";

const ROWS = 1000;
const LINES_EACH = 3;
/** The core, and every table without which there is no such model. */
const needed = new Set(program.models.flatMap(model => model.needs));
const tables = streams
  .map(stream => ({ stream, own: [stream.tables.main, ...stream.tables.children] }))
  .filter(({ stream, own }) => stream.preset === "core" || own.some(({ name }) => needed.has(name)))
  .flatMap(({ own }) => own);

describe.each(modelWarehouses)("all models in $name", ({ name, make }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows: Object.fromEntries(tables.map(table => [table.name, []])) });
    for (const table of tables) await warehouse.query(fill(table, name === "postgres" ? "/" : "//"));
    await warehouse.query("analyze");
  });
  afterAll(() => warehouse.drop());

  /*
   * A model of a million rows must answer in seconds: it may read a row some times, but not once for every other row. What
   * a plan does with a thousand rows tells it, without a clock.
   */
  test("none holds every row against every other", async () => {
    expect([...warehouse.models].toSorted()).toEqual(program.models.map(model => model.name).toSorted());
    const heaviest = name === "postgres" ? rowsCompared : comparesAll;
    const work: Record<string, number> = {};
    for (const model of warehouse.models) work[model] = await heaviest(warehouse, model);
    // amount_currencies has a row for each row of two dozen tables, which is the most that a model does.
    expect(Object.entries(work).filter(([, rows]) => rows > 40 * ROWS)).toEqual([]);
  });

  // A dump of the database holds what it prints; DuckDB writes a cross join before an outer one as it cannot read it again.
  if (name !== "postgres")
    test("what DuckDB prints of a view makes it again", async () => {
      await warehouse.renew();
      const printed = await warehouse.query(
        "select view_name as name, sql from duckdb_views() where schema_name = 'procurement_analytics'",
      );
      expect(printed.length).toBeGreaterThan(program.models.length);
      // DuckDB 1.1, which readers may have, answers none that compares several columns with a query's at once.
      expect(printed.filter(({ sql }) => /\brow"?\([^()]*\) = any\(/i.test(String(sql)))).toEqual([]);
      for (const { name: view, sql } of printed) {
        await warehouse.query(
          String(sql).replace(/^create view \S+/i, `create temporary view "again_${String(view)}"`),
        );
      }
    });

  test("none takes a column that the service adds for one it works out", async () => {
    const there = new Set([...tables, ...program.models].map(table => table.name));
    const read = readMeanings(program.meanings, streams, usualMeanings);
    for (const model of program.models) {
      const text = modelSelect(
        model,
        other => there.has(other),
        { procurement: "procurement" },
        {
          meanings: read,
          currency: "EUR",
          schema: "procurement_analytics",
          product: warehouse.reading.dialect.product,
        },
      );
      await warehouse.query(`select * from (${withMoreColumns(text)}) more limit 0`);
    }
  });
});

/**
 * The model over tables to which the service has added columns, called like everything that the model calls something:
 * where it takes one of them for its own the database finds the name ambiguous.
 */
function withMoreColumns(text: string): string {
  const called = new Set([...text.matchAll(/\bas (\w+)\b(?! \()/g)].map(([, name]) => name!));
  const ENDS = "where|left|join|cross|on|group|union|order|having";
  const table = new RegExp(`\\bprocurement(?:_analytics)?\\.(\\w+)\\b(?!\\s+(?!(?:${ENDS})\\b)[a-z])`, "g");
  const more = (found: string, name: string) => {
    const columns = tables.find(other => other.name === name)?.columns;
    if (columns === undefined) return found;
    const own = new Set(["_company", "_changed_at", "_deleted_at", ...columns.map(column => column.name)]);
    const added = [...called].filter(column => !own.has(column)).map(column => `, true as ${column}`);
    return `(select *${added.join("")} from ${found})`;
  };
  return text
    .replace(table, (found, name: string) => `${found} ${name}`)
    .replace(/\bprocurement(?:_analytics)?\.(\w+)/g, more);
}

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Join Filter"?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}

const planNode: z.ZodType<PlanNode> = z.object({
  "Actual Rows": z.number(),
  "Actual Loops": z.number(),
  "Rows Removed by Join Filter": z.number().optional(),
  get Plans() {
    return z.array(planNode).optional();
  },
});

/** The most rows that one step of PostgreSQL's plan brought forth or compared in vain. */
async function rowsCompared(warehouse: ModelWarehouse, model: string): Promise<number> {
  const explain = `explain (analyze, timing off, format json) select * from procurement_analytics.${model}`;
  const [answer] = await warehouse.query(explain);
  const [{ Plan }] = z.tuple([z.object({ Plan: planNode })]).parse(answer!["QUERY PLAN"]);
  const most = (node: PlanNode): number => {
    const own = (node["Actual Rows"] + (node["Rows Removed by Join Filter"] ?? 0)) * node["Actual Loops"];
    return Math.max(own, ...(node.Plans ?? []).map(most));
  };
  return most(Plan);
}

/** DuckDB says by a step's name that it compares all with all; a product with a handful of rows is none. */
async function comparesAll(warehouse: ModelWarehouse, model: string): Promise<number> {
  const plan = await warehouse.explain(`select * from procurement_analytics.${model}`);
  expect(plan).toContain("SCAN");
  return /NESTED_LOOP_JOIN|BLOCKWISE_NL_JOIN/.test(plan) ? Number.POSITIVE_INFINITY : 0;
}

/** Rows that hang together: line i belongs to the order, the invoice or the item i / 3. */
function fill(table: Table, wholeDivision: string): string {
  const isChild = table.path.length > 0 || table.key.includes("_index");
  const number = isChild ? `(i ${wholeDivision} ${LINES_EACH})` : "i";
  const columns = [
    ...table.columns.map(column => [column.name, filling(table, column, number)]),
    ["_changed_at", MOMENT],
  ];
  const names = columns.map(([column]) => `"${column}"`).join(", ");
  const values = columns.map(([, value]) => value).join(", ");
  const series = `generate_series(0, ${(isChild ? ROWS * LINES_EACH : ROWS) - 1}) g(i)`;
  return `insert into procurement.${table.name} (_company, ${names}) select 'acme', ${values} from ${series}`;
}

const MOMENT = "timestamp '2026-03-15 12:00:00'";
/** One name for what is the same thing in several tables. */
const things: Readonly<Record<string, string>> = { matched_po_number: "po_number", id: "doc_id" };

function filling(table: Table, { name, kind, nullable }: Column, number: string): string {
  if (name === "_index") return `i % ${LINES_EACH}`;
  switch (kind) {
    case "id":
    case "text":
      if (name.includes("currency")) return "'EUR'";
      if (table.key.includes(name) || name.endsWith("po_number") || name === "doc_id")
        return `'${things[name] ?? name} ' || ${number}`;
      if (name === "vendor_id") return `'V' || (${number} % 40)`;
      if (name === "document_number") return `'N' || (${number} % 400)`;
      return nullable ? `case when ${number} % 3 = 0 then '${name}' end` : `'${name}'`;
    case "json":
      return "'[]'";
    case "flag":
      return `${number} % 2 = 0`;
    case "date":
      if (table.key.includes(name)) return `date '2020-01-01' + cast(${number} as integer)`;
      return `date '2025-06-01' + cast(${number} % 400 as integer)`;
    case "moment":
      return MOMENT;
    case "money":
    case "quantity":
    case "count":
    case "percent":
    case "score":
      return `${number} % 50`;
  }
}
