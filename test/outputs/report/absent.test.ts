import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelWarehouse, modelWarehouses } from "../../models/warehouse.ts";
import { companies, reportRows } from "./data.ts";
import { contentsOf, pageOf, tablesOf, text } from "./made.ts";

/** Of a block what stands under its heading where it has neither a table nor a drawing. */
const saidUnder = (page: string, title: string): string | undefined => {
  const block = page.split('<div class="block">').find(part => part.includes(`<h4>${title}</h4>`));
  const said = /<p class="absent">(.*?)<\/p>/s.exec(block ?? "")?.[1];
  return said === undefined ? undefined : text(said);
};

describe.each(modelWarehouses)("what is not there, in $name", ({ name, make }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    const { invoices, ingested, purchase_orders } = reportRows;
    const rows = {
      ingested: ingested!,
      findings: [],
      purchase_orders: purchase_orders!,
      invoices: invoices!.slice(0, 30),
    };
    warehouse = await make({ rows });
  });
  afterAll(() => warehouse.drop());

  test("a section whose stream is off says which one, an empty one says what that means, neither draws anything", async () => {
    const contents = await contentsOf(warehouse.reading, ["acme"]);
    expect([...contents.lacks.keys()].sort()).toEqual([
      "contract_utilisation",
      "item_price_trend",
      "price_variance",
      "received_not_invoiced",
      "three_way_match",
    ]);
    expect(contents.lacks.get("item_price_trend")).toMatchObject({
      why: "missing",
      tables: ["items", "item_price_history"],
    });
    const page = pageOf(contents);
    expect(saidUnder(page, "Items whose price rose most")).toBe(
      "This needs 2 streams items, item_price_history: add them to streams.include of the configuration and run tributary sync.",
    );
    expect(saidUnder(page, "Three-way match")).toMatch(/^This needs the stream invoice_line_items: add it to/);
    expect(saidUnder(page, "What became of findings")).toBe("There are no findings.");
    expect(saidUnder(page, "Spend by vendor")).toBeUndefined();
    const titles = tablesOf(page).map(table => table.title);
    expect(titles).toContain("Spend by vendor");
    expect(titles).not.toContain("Three-way match");
    expect(page).not.toContain("NaN");
  });

  test("a company without any rows has a page that says so", async () => {
    const page = pageOf(await contentsOf(warehouse.reading, ["nobody"]));
    expect(page).toContain("Nothing has been loaded for this company yet");
    expect(tablesOf(page)).toEqual([]);
    expect(page).not.toContain("<svg");
    expect(saidUnder(page, "Spend by month")).toBe("No invoice is dated in these months.");
  });

  test("a view of an earlier version is named, and what doesn't need it is told all the same", async () => {
    const { reading } = warehouse;
    await warehouse.query("drop view procurement_analytics.cash_requirements");
    await warehouse.query("create view procurement_analytics.cash_requirements as select 'acme' as _company");
    const page = pageOf(await contentsOf(reading, ["acme"]));
    expect(saidUnder(page, "What falls due")).toBe(
      "The view cash_requirements was made by another version of tributary: run tributary sync, which makes it anew.",
    );
    expect(saidUnder(page, "Spend by vendor")).toBeUndefined();
  });

  test("excluded columns leave labels that are there, and never break the page", async () => {
    await warehouse.query("update procurement.invoices set vendor_name = null");
    await warehouse.query("update procurement.purchase_orders set vendor_name = null, vendor_id = null");
    const page = pageOf(await contentsOf(warehouse.reading, ["acme"]));
    const vendors = tablesOf(page).find(({ title }) => title === "Spend by vendor")!.rows;
    expect(vendors.length).toBeGreaterThan(3);
    for (const [, vendor] of vendors) expect(vendor).toMatch(/^(vendor \w+|All \d+ others|not given)$/);
    const orders = tablesOf(page).find(({ title }) => title === "The most delayed orders")!.rows;
    expect(new Set(orders.map(row => row[2]))).toEqual(new Set(["not given"]));
  });

  test("amounts that nobody can add up keep nothing else from being told", async () => {
    await warehouse.query("update procurement.invoices set total_amount = 99999999999999999999999999999");
    const page = pageOf(await contentsOf(warehouse.reading, ["acme"]));
    const titles = tablesOf(page).map(table => table.title);
    expect(titles).toContain("The most delayed orders");
    // PostgreSQL's sums have no end.
    if (name === "postgres") expect(page).toContain("99,999,999,999,999,999,999,999,999,999");
    else
      expect(saidUnder(page, "How the currencies are known")).toBe(
        "Amounts in the view spend_by_vendor_month are too large for the database to add up: look for figures that were misread.",
      );
    expect(page).not.toMatch(/NaN|Infinity/);
  });

  test("no secret gets into the page, wherever it stands", async () => {
    const redact = (word: string) => word.replaceAll("acme", "***").replaceAll("Dock", "***");
    const contents = await contentsOf(warehouse.reading, ["acme"], 12, redact);
    const page = pageOf(contents);
    expect(page).toContain("*** &lt;4&gt;");
    expect(page).not.toMatch(/acme|Dock/);
  });

  test("a warehouse without views sends to sync", async () => {
    const bare = { ...warehouse.reading, schema: "elsewhere" };
    await expect(contentsOf(bare, companies)).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(
        /^Expected the views for analysts in schema elsewhere_analytics, .*tributary sync/,
      ),
    });
  });

  if (name === "postgres")
    test("a role without rights is told what it lacks", async () => {
      const role = "report_reader";
      await warehouse.query(`create role ${role}`);
      try {
        await warehouse.query(`set role ${role}`);
        await expect(contentsOf(warehouse.reading, ["acme"])).rejects.toMatchObject({
          exitCode: 6,
          message: expect.stringMatching(
            /^The role report_reader may not read .*spend_by_vendor_month.* in schema procurement_analytics.*grant_select_to.*GRANT USAGE ON SCHEMA/,
          ),
        });
        await warehouse.query("reset role");
        await warehouse.query(`grant usage on schema procurement_analytics to ${role}`);
        await warehouse.query(`grant select on all tables in schema procurement_analytics to ${role}`);
        await warehouse.query(`set role ${role}`);
        expect((await contentsOf(warehouse.reading, ["acme"])).companies).toHaveLength(1);
      } finally {
        await warehouse.query("reset role");
        await warehouse.query(`drop owned by ${role}`);
        await warehouse.query(`drop role ${role}`);
      }
    });
});
