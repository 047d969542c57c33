import { describe, expect, it } from "vitest";
import type { Column, Table } from "../../src/catalog/columns.ts";
import { groups, streams } from "../../streams/index.ts";
import { coreTables, names } from "./names.ts";
import { coreTablesOf } from "./names_file.ts";
import { tellingWords } from "./telling.ts";

const tables: readonly Table[] = streams.flatMap(({ tables: { main, children } }) => [main, ...children]);
const byName = tables.map(table => [table.name, table] as const);
const columnOf = (table: string, column: string) =>
  tables.find(candidate => candidate.name === table)?.columns.find(candidate => candidate.name === column);

const places = tables.flatMap(table =>
  table.columns.map(column => ({ table, column, at: `${table.name}.${column.name}` })),
);
const where = (test: (column: Column, table: Table) => boolean) =>
  places.filter(({ column, table }) => test(column, table)).map(({ at }) => at);

const core = new Set(
  streams
    .filter(stream => stream.preset === "core")
    .flatMap(stream => [stream.tables.main, ...stream.tables.children].map(table => table.name)),
);
const inCore = (test: (column: Column, table: Table) => boolean) =>
  where((column, table) => core.has(table.name) && test(column, table));
// One row a day: what changes by itself there is what it is kept for.
const daily = new Set(
  streams
    .filter(stream => stream.mode.kind === "snapshot")
    .flatMap(stream => [stream.tables.main, ...stream.tables.children].map(table => table.name)),
);

// What the tests below say when something is missing: which file mends it.
const inSchema = "mend it in the table's schema in schemas/";
const description = `expected descriptions of one sentence that say more than the name; ${inSchema}`;
const promised =
  "gone, or in a larger preset: configurations and SQL of users name them (who means it edits test/schemas/names.ts)";
const listed = (what: string) =>
  `${what}: where that is right, add the column to the list in test/schemas/catalogue.test.ts, else ${inSchema}`;

describe("streams", () => {
  it.each(Object.entries(names))("of preset %s bear the names that configurations rely on", (preset, expected) => {
    const own = streams.filter(stream => stream.preset === preset).map(stream => stream.name);
    expect(
      expected.filter(name => !own.includes(name)),
      promised,
    ).toEqual([]);
  });

  it("stand in one group each, which the index.ts of its folder in streams/ names", () => {
    const all = streams.map(({ name }) => name);
    expect(all.filter((name, at) => all.indexOf(name) < at)).toEqual([]);
    expect(groups.filter(group => group.streams.length === 0).map(({ title }) => title)).toEqual([]);
  });
});

describe("tables", () => {
  it("of the core bear the names that analysts rely on", () => {
    const own = coreTablesOf(streams);
    expect(
      coreTables.filter(name => !own.includes(name)),
      promised,
    ).toEqual([]);
  });

  it("have a name each", () => {
    const all = tables.map(({ name }) => name);
    expect(
      all.filter((name, at) => all.indexOf(name) < at),
      "two tables of one name; rename the stream in streams/ or the child table in schemas/",
    ).toEqual([]);
  });

  it.each(byName)("%s: names each column once", (_, { columns }) => {
    const names = columns.map(column => column.name);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(byName)("%s: has one number of a line at most, an id or a text of its own", (_, { columns }) => {
    const numbers = columns.filter(({ identifies }) => identifies);
    expect(numbers.filter(({ kind, path }) => !["id", "text"].includes(kind) || path.length !== 1)).toEqual([]);
    expect(numbers.length).toBeLessThan(2);
  });

  it.each(byName)("%s: has its key, which is never null", (_, { key, columns }) => {
    const fit = columns.filter(column => key.includes(column.name) && !column.nullable).map(column => column.name);
    expect(fit.length === 0 ? ["a key"] : fit.sort(), `key columns that are not nullable; ${inSchema}`).toEqual(
      [...key].sort(),
    );
  });
});

describe("descriptions", () => {
  it("say of every table and column what it is, in a sentence and more than its name", () => {
    const ofTables = tables.flatMap(table => faultsOf(table.name, table.name, table.description));
    const ofColumns = places.flatMap(({ at, column }) => faultsOf(at, column.name, column.description));
    expect([...ofTables, ...ofColumns], description).toEqual([]);
  });

  it("of columns are one sentence", () => {
    expect(
      where(({ description }) => /\. [A-Z]/.test(description)),
      description,
    ).toEqual([]);
  });

  it("of columns tell more than the name they explain", () => {
    const silent = places.filter(({ column: { name, description } }) => tellingWords(name, description).length === 0);
    expect(
      silent.map(({ at, column }) => `${at}: every word of "${column.description}" is in the name, or says nothing`),
      description,
    ).toEqual([]);
    // The measure itself: it knows a name that is said again, and words that are said of every column.
    expect(tellingWords("vendor_part_number", "The vendor's own number for the part; null where not given.")).toEqual(
      [],
    );
    expect(tellingWords("claim_types", "Type of claim, as the service names it; values not documented.")).toEqual([]);
    expect(tellingWords("po_number", "Purchase order that the line belongs to.")).toEqual([
      "purchas",
      "order",
      "lin",
      "belong",
    ]);
  });

  it("differ between the columns of a table", () => {
    const doubled = where(({ name, description }, { columns }) =>
      columns.some(other => other.name !== name && other.description === description),
    );
    expect(doubled, `columns of one table with the same description; ${inSchema}`).toEqual([]);
  });
});

/** What is wrong with a description, in words. */
function faultsOf(place: string, name: string, description: string): string[] {
  const faults = [
    ...(description.length < 20 ? [`has ${description.length} characters instead of 20 and more`] : []),
    ...(/^[A-Z0-9].*\.$/.test(description) ? [] : ["does not begin with a capital and end with a full stop"]),
    ...(plain(description) === plain(name) ? ["is the name again"] : []),
  ];
  return faults.map(fault => `${place}: "${description}" ${fault}`);
}

const plain = (words: string) => words.toLowerCase().replace(/[^a-z0-9]/g, "");

describe("volatile columns", () => {
  it("are those of the core that change by themselves, and no others", () => {
    expect(
      inCore(column => column.volatile && column.source === "row"),
      listed("volatile columns of the core"),
    ).toEqual([
      "purchase_orders.delivery_days_late",
      "purchase_orders.delivery_days_past_requested",
      "purchase_orders.unread_count",
      "invoices.discount_days_left",
      "invoices.due_in_days",
      "invoices.pay_urgency",
      "items.total_spend_ttm",
      "items.total_spend_30d",
      "items.total_spend_90d",
      "items.total_spend_365d",
      "items.spend_rank_in_company",
      "items.avg_lead_time_days_30d",
      "items.avg_lead_time_days_365d",
      "items.on_time_pct_30d",
      "items.on_time_pct_90d",
      "items.on_time_pct_365d",
      "items.delivery_count_30d",
      "items.delivery_count_90d",
      "items.delivery_count_365d",
      "items.intelligence_age_days",
    ]);
  });

  it("include every trailing window and rank", () => {
    const moves = /_(\d+d|ttm)$|_rank(_|$)/;
    expect(
      where((column, table) => moves.test(column.name) && !column.volatile && !daily.has(table.name)),
      "trailing windows and ranks change by themselves: wrap the field in volatile(…) in its schema",
    ).toEqual([]);
  });

  it("include what stands beside a list's rows, which says nothing about a row", () => {
    expect(
      inCore(column => column.source === "page"),
      listed("columns of the core that stand beside the rows"),
    ).toEqual(["purchase_orders.list_currency_code", "findings.list_currency_code"]);
    // What stands beside a detail's rows belongs to them.
    const ofDetails = new Set(
      streams.filter(({ mode }) => mode.kind === "detail").map(({ tables: { main } }) => main.name),
    );
    expect(where(({ source, volatile }, { name }) => source === "page" && volatile === ofDetails.has(name))).toEqual(
      [],
    );
    expect(where(column => column.source === "page" && !column.nullable)).toEqual([]);
  });

  it("are never part of a key", () => {
    expect(
      where((column, table) => column.volatile && table.key.includes(column.name)),
      `a key cannot change by itself; ${inSchema}`,
    ).toEqual([]);
  });
});

describe("money", () => {
  it("names where its currency stands, and the column is there and a text", () => {
    const lost = where(({ currency, kind }, table) => {
      if (kind !== "money") return currency !== undefined;
      if (currency?.in === "row") return table.columns.find(({ name }) => name === currency.column)?.kind !== "text";
      if (currency?.in === "table") return columnOf(currency.table, currency.column)?.kind !== "text";
      return currency === undefined;
    });
    expect(lost, `expected money(inRow("…")), a text column that is there; ${inSchema}`).toEqual([]);
  });

  it("is in dollars by name exactly where the name says so", () => {
    const dollars = `money(inName) and a name that ends in _usd belong together; ${inSchema}`;
    expect(
      where(({ name, currency }) => currency?.in === "name" && !name.endsWith("_usd")),
      dollars,
    ).toEqual([]);
    expect(
      where(({ name, currency, kind }) => kind === "money" && name.endsWith("_usd") && currency?.in !== "name"),
      dollars,
    ).toEqual([]);
  });

  it("joins the other table by columns that both sides have", () => {
    const broken = where(({ currency }, table) => {
      if (currency?.in !== "table") return false;
      const [there = "", here = there] = currency.by.replace(/,.*$/, "").split(" = ");
      return columnOf(currency.table, there) === undefined || columnOf(table.name, here) === undefined;
    });
    expect(broken, `the columns of money(inTable(…)) have to be in both tables; ${inSchema}`).toEqual([]);
  });

  it("is without a currency in the core only for documents of which the service gives none", () => {
    expect(
      inCore(({ currency }) => currency?.in === "unknown"),
      listed("money(notGiven) in the core"),
    ).toEqual([
      "purchase_order_linked_documents.total_amount",
      "invoice_procurement_chain.total_amount",
      "invoice_money_documents.total_amount",
    ]);
  });
});

describe("kinds that names promise", () => {
  it.each([
    [/_at$|^ts$/, ["moment"]],
    [/_date$/, ["date"]],
    // A rate a hundredweight or a shipment is money.
    // One is documented as a text, which may bear a sign; that it is no rate then is held against the documents.
    [/_(pct|percent)$|(?<!flat|card|target|earliest)_rate$/, ["percent", "text"]],
    [/flat_rate$/, ["money"]],
    [/_count$/, ["count"]],
    [/(^|_)(score|risk_score)$/, ["score"]],
    [/_id$|^line_no$|^po_number$/, ["id"]],
    [/^(is|has)_/, ["flag"]],
    [/_usd$|_price$|^total_amount$|^line_total$|^total_spend(?!_(window|basis))/, ["money"]],
    [/(^|_)(qty|quantity)$|^qty_(?!.*_(source|pct)$)/, ["quantity"]],
  ] as const)("%s", (pattern, kinds) => {
    const named = where(({ name }) => pattern.test(name));
    expect(named, "no column has such a name any more: take the pattern out of this test").not.toEqual([]);
    const odd = places.filter(({ column }) => pattern.test(column.name) && !kinds.some(kind => kind === column.kind));
    expect(
      odd.map(({ at, column }) => `${at}: ${column.kind}`),
      `a name like this promises ${kinds.join(" or ")}; ${inSchema}`,
    ).toEqual([]);
  });
});

describe("the run order", () => {
  it("has details after the lists they hang on", () => {
    const names = streams.map(stream => stream.name);
    for (const [position, { mode }] of streams.entries())
      if (mode.kind === "detail") {
        const here = `${names[position]}, a detail of ${mode.of}`;
        const order = `${here}: expected ${mode.of} before it in the index.ts of its folder in streams/`;
        expect(names.slice(0, position).includes(mode.of), order).toBe(true);
        const parent = streams.find(stream => stream.name === mode.of)!;
        const kindOf = (column: string | undefined) =>
          parent.tables.main.columns.find(({ name }) => name === column)?.kind;
        if (mode.open !== undefined) expect(kindOf(mode.open), `${here}: its \`open\``).toBe("flag");
        if (mode.newest !== undefined)
          expect(["date", "moment"], `${here}: its \`newest\``).toContain(kindOf(mode.newest));
      }
  });
});
