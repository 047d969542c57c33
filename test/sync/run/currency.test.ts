import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { CurrencyCoverage } from "../../../src/warehouse/read/currency_coverage.ts";
import { temporaryFolder } from "../../source/archive/folder.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { between } from "../remembered.ts";
import { scenario } from "../scenario.ts";

describe.each(eitherWarehouse)("rates of the reporting currency in $name", ({ make }) => {
  test("come from a file, again when it has changed, or from a table of the warehouse", async () => {
    const file = join(await temporaryFolder(), "rates.csv");
    const rate = (value: string) => writeFile(file, `date,currency,rate\n2026-01-01,QQQ,${value}\n`);
    const currency = { report: "EUR", rates: file, max_age: "2d" };
    await rate("2");
    const place = await scenario(make, { items: 3 }, { config: { views: true, currency } });
    const factors = async () =>
      (
        await place.warehouse.query<{ day: string; factor: string }>(
          "select cast(rate_date as varchar) as day, cast(factor as varchar) as factor from procurement_analytics.currency_rates order by 1",
        )
      ).map(row => `${row.day} ${row.factor.slice(0, 6)}`);
    expect((await place.sync()).exit_code).toBe(0);
    expect(await factors()).toEqual(["2026-01-01 0.5000", "2026-01-02 0.5000"]);
    await rate("4");
    await place.sync();
    expect(await factors()).toEqual(["2026-01-01 0.2500", "2026-01-02 0.2500"]);

    await between(place, async ({ db }) => {
      await sql`create schema finance`.execute(db);
      await sql`create table finance.rates as select date '2026-03-01' as date, 'QQQ' as currency, cast(1.25 as decimal(9, 4)) as rate`.execute(
        db,
      );
    });
    place.configure({ views: true, currency: { report: "EUR", rates: "table:finance.rates", max_age: "1d" } });
    await place.sync();
    expect(await factors()).toEqual(["2026-03-01 0.8000"]);

    place.configure({ views: true });
    await place.sync();
    expect(await factors()).toEqual([]);
  });

  test("that many rows lack are a warning of each run, until there are some", async () => {
    const file = join(await temporaryFolder(), "rates.csv");
    const currency = { report: "ZZZ", rates: file, max_age: "3650d" };
    await writeFile(file, "date,currency,rate\n2026-01-01,QQQ,2\n");
    const place = await scenario(make, { invoices: 20, ingested: 20 }, { config: { views: true, currency } });
    /** The currencies without a rate; one that is not known is empty. */
    const lacking = async () => {
      const { warnings } = await place.sync();
      expect(warnings.map(({ code }) => code)).toEqual(["run.rates_lacking"]);
      const found = warnings[0]!.fields["currencies"] as readonly CurrencyCoverage[];
      return found.map(each => each.currency ?? "").sort();
    };
    const first = await lacking();
    expect(first).toEqual(["", "EUR", "JPY"]);
    // Nothing has changed.
    expect(await lacking()).toEqual(first);
    await writeFile(file, "date,currency,rate\n2020-01-01,EUR,1\n2020-01-01,JPY,1\n");
    expect(await lacking()).toEqual([""]);
  });

  test("that cannot be read stop no run: the last ones of that currency stay, or there are none, with a warning", async () => {
    const file = join(await temporaryFolder(), "rates.csv");
    const place = await scenario(make, { items: 3 }, { config: { views: true } });
    const synced = async (currency: object, text?: string) => {
      place.configure({ views: true, currency: { report: "EUR", rates: file, max_age: "1d", ...currency } });
      if (text !== undefined) await writeFile(file, text);
      const { exit_code, warnings } = await place.sync();
      const [kept] = await place.warehouse.query<{ n: string }>(
        "select cast(count(*) as varchar) as n from _tributary.currency_factors",
      );
      return [exit_code, kept?.n, warnings.map(({ code, fields }) => [code, fields["are_kept"]])];
    };
    const lost = (are_kept: boolean) => [["views.rates_not_new", are_kept]];
    expect(await synced({ rates: "/nowhere/rates.csv" })).toEqual([0, "0", lost(false)]);
    expect(await synced({}, "date,currency,rate\n2026-01-01,QQQ,2\n")).toEqual([0, "1", []]);
    expect(await synced({}, "date,currency,rate\n1.1.2026,QQQ,2\n")).toEqual([0, "1", lost(true)]);
    expect(await synced({ rates: "table:finance.none" })).toEqual([0, "1", lost(true)]);
    // The rates of another currency would be wrong.
    expect(await synced({ report: "USD" })).toEqual([0, "0", lost(false)]);
    expect(await synced({}, "date,currency,rate\n2026-01-01,QQQ,2\n")).toEqual([0, "1", []]);
  });
});
