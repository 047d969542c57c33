import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { streams } from "../../../streams/index.ts";
import { forget } from "../../support/forgetting.ts";
import { models } from "../../support/models.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { answersOf } from "../../warehouse/views/answers.ts";
import { between, remember } from "../remembered.ts";
import { type Scenario, scenario } from "../scenario.ts";

const sizes = { orders: 12, invoices: 20, items: 5, ingested: 8 };
const materialized = { views: "materialized" };

/** What the models of the core's streams answer. */
async function answers({ warehouse }: Scenario): Promise<ReadonlyMap<string, readonly string[]>> {
  const views = await warehouse.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'procurement_analytics'",
  );
  const there = new Set(views.map(({ name }) => name));
  return answersOf(
    warehouse,
    models.models.filter(({ name }) => there.has(name)),
  );
}
/** The tables that models are kept in. */
const tables = async ({ warehouse }: Scenario): Promise<readonly string[]> =>
  (
    await warehouse.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = '_tributary' and table_name like 'model%'",
    )
  ).map(({ name }) => name);
/** As plain views have it. */
async function plainly(place: Scenario): Promise<ReadonlyMap<string, readonly string[]>> {
  place.configure({ views: true });
  await place.sync({ names: ["items"] });
  expect(await tables(place)).toEqual([]);
  const found = await answers(place);
  place.configure(materialized);
  return found;
}

describe.each(warehouses)("models that are kept as tables in $name", ({ name, make }) => {
  test("they say what the views say, after the first run, after news, and with plain views again", async () => {
    const place = await scenario(make, sizes, { config: materialized });
    expect((await place.sync()).exit_code).toBe(0);
    expect(await tables(place)).toContain("model_spend_by_vendor_month");
    // What reads the run log changes with every run.
    expect(await tables(place)).not.toContain("model_run_quality");
    const first = await answers(place);
    expect(first.get("spend_by_vendor_month")).not.toEqual([]);
    expect(first).toEqual(await plainly(place));
    await place.sync();
    place.simulator.update("invoices", 5);
    await place.sync();
    const second = await answers(place);
    expect(second.get("spend_by_vendor_month")).not.toEqual(first.get("spend_by_vendor_month"));
    expect(second).toEqual(await plainly(place));
  });

  test("a model that cannot be worked out shows what it showed, and the run says why", async () => {
    const place = await scenario(make, sizes, { config: materialized });
    await place.sync();
    // PostgreSQL's numbers have no such end: there the table itself refuses.
    const model = name === "postgres" ? "spend_by_vendor_month" : "assumptions";
    const before = await place.count(`procurement_analytics.${model}`);
    if (name === "postgres")
      await between(place, ({ db }) =>
        sql`alter table _tributary.model_spend_by_vendor_month add check (false) not valid`.execute(db),
      );
    // Their sum has no room in DuckDB's widest decimal.
    for (const doc_id of place.simulator.update("invoices", 5))
      place.simulator.patch("invoices", doc_id, { vendor_id: "V", total_amount: 9e28, document_date: "2026-01-02" });
    const { warnings, exit_code } = await place.sync();
    expect(exit_code).toBe(0);
    expect(warnings.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(
        `^The model procurement_analytics.${model} could not be worked out, and shows what it showed`,
      ),
    );
    expect(await place.count(`procurement_analytics.${model}`)).toBe(before);
  });
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a run without news works out nothing, and one that was killed before it did is made up for", async () => {
    const place = await scenario(make, sizes, { config: materialized });
    await place.sync();
    const mark = sql`update _tributary.model_spend_by_vendor_month set vendor_name = 'marked'`;
    const marked = () => place.count("_tributary.model_spend_by_vendor_month", "vendor_name = 'marked'");
    await between(place, ({ db }) => mark.execute(db));
    await place.sync();
    expect(await marked()).toBeGreaterThan(0);
    // A publish of a run that was killed: invoices have changed since the models were worked out.
    await remember(place, "invoices", state => ({ ...state, lastMoment: "2026-03-15T23:00:00.000Z" }));
    await place.sync({ names: ["items"] });
    expect(await marked()).toBe(0);
  });

  test("once columns are treated, or a company is reset with its rows, no stored model holds what they said", async () => {
    const place = await scenario(make, sizes, { config: materialized });
    await place.sync();
    const names = () => place.count("procurement_analytics.dim_vendors", "vendor_name is not null");
    expect(await names()).toBeGreaterThan(0);
    place.configure({ ...materialized, privacy: { exclude_columns: ["*.vendor_name", "*.vendor_name_raw"] } });
    await place.sync();
    expect(await names()).toBe(0);
    expect(await tables(place)).toContain("model_dim_vendors");
    expect(await place.count("_tributary.model_dim_vendors")).toBeGreaterThan(0);
    await forget(
      place,
      streams,
      streams.map(stream => stream.name),
      { drop: true },
    );
    expect(await place.count("_tributary.model_dim_vendors")).toBe(0);
  });
});
