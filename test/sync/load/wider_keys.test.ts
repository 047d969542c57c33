import { describe, expect, test } from "vitest";
import { id, table, text } from "../../../schemas/fields.ts";
import { list } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { forget } from "../../support/forgetting.ts";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";

const accounts = streamOf(
  "accounts",
  { code: id(), name: text().nullable(), budgets: table("account_budgets", "Budgets.", { year: text() }) },
  { mode: list({ rows: "accounts" }) },
);
const narrow = { defaults: { history: true, max_reject_share: 1 } };
const wide = { ...narrow, settings: { accounts: { key: ["code", "entity"], unknown_fields: "column" } } };

describe.each(warehouses)("$name", ({ make }) => {
  test("a key that the configuration widens tells rows apart, with their lines and versions, once the stream is reset", async () => {
    const account = (entity: string | null, name: string) => ({ code: "1", entity, name, budgets: [{ year: name }] });
    const answer = [account("a", "2025"), account("b", "2026")];
    const answers = { "/accounts": () => page({ accounts: answer }, null) };
    const place = await told(make, [accounts], answers, { streams: narrow });
    expect((await place.run()).warnings.map(({ code }) => code)).toContain("rows.conflicting");
    const refused = { code: "tables.unusable", message: expect.stringContaining("`tributary reset accounts --drop`") };
    place.configure({ streams: wide });
    await expect(place.run()).rejects.toMatchObject(refused);
    await forget(place, [accounts], ["accounts"], { drop: true, streams: wide });
    await place.run();
    expect(await place.verify({ catalogue: [accounts] })).toMatchObject({ status: "equal" });
    answer.push(account(null, "2027"), account("a", "2028"));
    const widened = await place.run();
    expect(lineOf(widened, "accounts")).toMatchObject({ rejected: 1, repeated: 1, updated: 1 });
    expect(widened.warnings).toMatchObject([
      { code: "rows.conflicting", fields: { columns: ["code", "entity"], example: "1, a" } },
      { code: "rejects.not_stored" },
    ]);
    const rows = (from: string) => place.warehouse.query(`select entity, name from ${from} order by entity, name`);
    const stored = [
      { entity: "a", name: "2028" },
      { entity: "b", name: "2026" },
    ];
    expect(await rows("procurement.accounts")).toEqual(stored);
    expect(await rows("procurement.accounts_versions where _is_current")).toEqual(stored);
    expect(await rows("(select *, year as name from procurement.account_budgets) b")).toEqual(stored);
    expect(
      await place.count("_tributary.rejects", "resolved_at is null and reason = 'its key entity is missing'"),
    ).toBe(1);
    place.configure({ streams: narrow });
    await expect(place.run()).rejects.toMatchObject(refused);
  });
});
