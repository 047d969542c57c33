import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exactNumber } from "../../../src/outputs/report/format.ts";
import { type ModelWarehouse, modelWarehouses } from "../../models/warehouse.ts";
import { companies, reportRows } from "./data.ts";
import { expectedTables, type Views } from "./expected.ts";
import { contentsOf, type PageTable, pageOf, tablesOf } from "./made.ts";

const pages = new Map<string, string>();

const sorted = (rows: readonly (readonly string[])[]) => rows.map(row => JSON.stringify(row)).sort();

describe.each(modelWarehouses)("the report from $name", ({ name, make }) => {
  let warehouse: ModelWarehouse;
  let tables: readonly PageTable[];
  beforeAll(async () => {
    warehouse = await make({ rows: reportRows });
    pages.set(name, pageOf(await contentsOf(warehouse.reading, companies)));
    tables = tablesOf(pages.get(name)!);
    // The report does without statistics; this test's own questions would take PostgreSQL a minute.
    await warehouse.query("analyze");
  });
  afterAll(() => warehouse.drop());

  async function viewsOf(company: string): Promise<Views> {
    const names = ["spend_by_vendor_month", "invoice_exceptions", "three_way_match", "findings_value"];
    const more = ["open_purchase_orders", "received_not_invoiced", "contract_utilisation", "cash_requirements"];
    const views = new Map<string, readonly Record<string, unknown>[]>();
    for (const view of [...names, ...more])
      views.set(
        view,
        await warehouse.query(`select * from procurement_analytics.${view} where _company = '${company}'`),
      );
    return { of: view => [...views.get(view)!] };
  }

  test.each(companies)("every figure of its tables is that of the views: %s", async company => {
    const views = await viewsOf(company);
    const own = tables.filter(table => companies[table.company] === company);
    for (const [title, work] of Object.entries(expectedTables)) {
      const expected = work(views);
      const table = own.find(candidate => candidate.title === title);
      expect({ title, rows: sorted(table?.rows ?? []) }).toEqual({ title, rows: sorted(expected) });
    }
    // A test that compares nothing tells nothing.
    if (company === "acme")
      expect(own.filter(({ title }) => title in expectedTables)).toHaveLength(Object.keys(expectedTables).length);
  });

  test("what is shown of a number is that number, rounded", () => {
    const numbers = [...pages.get(name)!.matchAll(/<data value="([^"]*)"(?: title="([^"]*)")?>([^<]*)<\/data>/g)];
    expect(numbers.length).toBeGreaterThan(500);
    for (const [, value, title, shown] of numbers) {
      const percent = shown!.endsWith("%") && title === undefined ? 100 : 1;
      const read = Number(shown!.replace(/[,%]/g, ""));
      expect(Math.abs(read - Number(value) * percent)).toBeLessThanOrEqual(0.5 + Math.abs(Number(value)) * 1e-9);
      if (title !== undefined) expect(title).toBe(exactNumber(value!));
    }
  });

  test("headlines add counts up, and never two currencies", async () => {
    const [spend] = /<dt>Spend .*?<\/dd>/s.exec(pages.get(name)!)!;
    const expected = await warehouse.query(`
      select currency_code, sum(spend_amount) as spend, sum(invoice_count) as invoices from procurement_analytics.spend_by_vendor_month
      where _company = 'acme' and month between '2025-03-01' and '2026-02-28' group by currency_code`);
    const shown = [...spend.matchAll(/<data value="([^"]*)"/g)].map(([, value]) => value);
    expect(Number(shown.pop())).toBe(expected.reduce((sum, row) => sum + Number(row["invoices"]), 0));
    expect(shown.toSorted()).toEqual(expected.map(row => String(row["spend"])).toSorted());
    expect(shown).toHaveLength(4);
    const [invoices] = await warehouse.query(`
      select count(*) as n, count(*) filter (where total_amount < 0 or lower(doc_type) like '%credit%') as credits
      from procurement_analytics.invoices where _company = 'acme'`);
    expect(invoices!["credits"]).toBeGreaterThan(0);
    const count = (value: unknown) => Number(value).toLocaleString("en-US");
    expect(spend).toContain(`Assumed credit: ${count(invoices!["credits"])} of ${count(invoices!["n"])}`);
    const rules = tables.find(({ title, company }) => title === "Rules and what they touch" && company === 0)!.rows;
    expect(rules.map(([line, , touched]) => [line, touched])).toContainEqual([
      "meanings.credit",
      String(invoices!["credits"]),
    ]);
    const [late] = /<dt>Late orders .*?<\/dd>/s.exec(pages.get(name)!)!;
    const [counted] = await warehouse.query(`
      select count(*) filter (where days_late > 0) as late, count(*) as open
      from procurement_analytics.open_purchase_orders where _company = 'acme'`);
    expect([...late.matchAll(/<data value="([^"]*)"/g)].slice(0, 2).map(([, value]) => Number(value))).toEqual([
      counted!["late"],
      counted!["open"],
    ]);
  });

  test("messages say what is at stake, of how many, and what the last two months brought", async () => {
    const contents = await contentsOf(warehouse.reading, companies);
    const { messages, opening } = contents.companies[0]!;
    const spent = await warehouse.query(`
      select currency_code, sum(case when month = '2026-02-01' then spend_amount else 0 end) as amount,
        sum(case when month = '2026-01-01' then spend_amount else 0 end) as previous
      from procurement_analytics.spend_by_vendor_month where _company = 'acme' group by currency_code
      having sum(case when month = '2026-02-01' then spend_amount else 0 end) > 0`);
    const facts = (rows: readonly Record<string, unknown>[], ...names: string[]) =>
      sorted(rows.map(row => names.map(name => String(row[name]))));
    expect(facts(opening.rows, "currency_code", "amount", "previous")).toEqual(
      facts(spent, "currency_code", "amount", "previous"),
    );
    const late = await warehouse.query(`
      select currency_code, sum(open_amount) filter (where days_late > 0) as amount, count(*) filter (where days_late > 0) as value,
        count(*) as of_all, coalesce(sum(open_amount) filter (where days_late > 0 and expected_date between '2026-02-01' and '2026-02-28'), 0) as latest
      from procurement_analytics.open_purchase_orders where _company = 'acme' group by currency_code
      having sum(open_amount) filter (where days_late > 0) > 0`);
    const chase = messages.find(({ message }) => message.section === "deliveries")!;
    const names = ["currency_code", "amount", "value", "of_all", "latest"];
    expect(facts(chase.rows, ...names)).toEqual(facts(late, ...names));
    for (const row of chase.rows) {
      const [worst] = await warehouse.query(`
        select sum(open_amount) as amount from procurement_analytics.open_purchase_orders
        where _company = 'acme' and days_late > 0 and currency_code is not distinct from ${row["currency_code"] === null ? "null" : `'${row["currency_code"]}'`}
        group by coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id, 'no vendor') order by 1 desc limit 1`);
      expect(row["subject_amount"]).toBe(String(worst!["amount"]));
    }
    // Of each currency the most comes first, and currencies take turns; behind them what rests on something unknown.
    const unknown = new Set(["paid"]);
    const isSure = ({ message }: (typeof messages)[number]) => !(message.readBy ?? []).some(name => unknown.has(name));
    expect(messages.map(isSure)).toEqual(messages.map(isSure).toSorted((a, b) => Number(b) - Number(a)));
    const first = messages
      .filter(isSure)
      .map(({ rows: [row] }) => ({ code: row!["currency_code"], amount: Number(row!["amount"]) }));
    expect(first.length).toBeGreaterThan(5);
    expect(first.length).toBeLessThan(messages.length);
    for (const [, own] of Map.groupBy(first, ({ code }) => code))
      expect(own).toEqual(own.toSorted((a, b) => b.amount - a.amount));
    const codes = new Set(first.map(({ code }) => code));
    expect(new Set(first.slice(0, codes.size).map(({ code }) => code))).toEqual(codes);
  });

  test("vendors, the largest invoices, prices and scores come as the views order them", async () => {
    const table = (title: string) => tables.find(candidate => candidate.title === title)!;
    const largest = await warehouse.query(`
      select currency_code, max(invoice_amount) as amount from procurement_analytics.invoice_exceptions
      where _company = 'acme' and exception_number = 1 group by currency_code`);
    for (const { currency_code, amount } of largest) {
      const own = table("The largest invoices with exceptions").rows.filter(
        ([code]) => code === (currency_code ?? "currency unknown"),
      );
      expect(own[0]![1]).toBe(String(amount));
      expect(own.length).toBeLessThanOrEqual(5);
      expect(own.map(row => Number(row[1]))).toEqual(own.map(row => Number(row[1])).toSorted((a, b) => b - a));
    }
    const trend = await warehouse.query(`
      select item_id, month, average_price from procurement_analytics.item_price_trend
      where _company = 'acme' and month >= '2025-03-01' order by item_id, month`);
    const items = [...Map.groupBy(trend, row => row["item_id"])].map(([item, rows]) => {
      const [first, last] = [Number(rows[0]!["average_price"]), Number(rows.at(-1)!["average_price"])];
      return { item, change: (100 * (last - first)) / first };
    });
    for (const [title, sign] of [
      ["Items whose price rose most", 1],
      ["Items whose price fell most", -1],
    ] as const) {
      const moved = items.filter(({ change }) => sign * change > 0).sort((a, b) => sign * (b.change - a.change));
      const shown = [...new Set(table(title).rows.map(row => row[1]!))];
      expect(shown).toHaveLength(Math.min(6, moved.length));
      const least = Math.abs(moved[shown.length - 1]!.change);
      for (const id of shown) {
        const change = items.find(({ item }) => item === id)!.change;
        expect(Math.abs(change)).toBeGreaterThanOrEqual(least - 1e-6);
        const rows = table(title).rows.filter(row => row[1] === id);
        expect(Number(rows[0]![6])).toBeCloseTo(change, 3);
        expect(rows.map(row => row[5])).toEqual(
          trend.filter(row => row["item_id"] === id).map(row => String(row["average_price"])),
        );
      }
    }
    const scores = await warehouse.query(`
      select count(*) as vendors from procurement_analytics.vendor_scorecard
      where _company = 'acme' and is_main and judged_line_count > 0`);
    expect(table("Vendors on time").rows).toHaveLength(Math.min(15, Number(scores[0]!["vendors"])));
    const rates = table("Vendors on time").rows.map(row => Number(row[1]));
    expect(rates).toEqual(rates.toSorted((a, b) => a - b));
  });
});

test("both databases make the same page", () => {
  expect(pages.get("postgres")).toBe(pages.get("duckdb"));
});
