import { describe, expect, test } from "vitest";
import { gone, huge, profile } from "./rows.ts";
import { modelWarehouses, type Row, suiteWarehouse, type Value } from "./warehouse.ts";

const contract = (
  contract_id: string,
  total_value_limit: Value,
  cumulative_spend: Value,
  effective_date: Value,
  expiration_date: Value,
  more: Row = {},
): Row => ({ contract_id, total_value_limit, cumulative_spend, effective_date, expiration_date, ...more });

const rows = {
  company_profile: [profile("EUR")],
  contracts: [
    contract("running", "1000", "250", "2026-01-01", "2026-12-31", {
      ...{ contract_number: "C-1", vendor_id: "V1", vendor_name: "Vogel", usage_complete: true, utilization_pct: "25" },
      ...{ status: "active", auto_renewal: true },
    }),
    contract("over", "300", "400", "2025-03-15", "2026-03-14", { successor_contract_id: "running" }),
    contract("last day", "0", "7", "2026-03-15", "2026-03-15"),
    contract("to come", "10", "0", "2026-04-01", "2027-03-31"),
    contract("without end", "10", "5", "2026-01-01", null),
    contract("without limit", null, "5", null, "2026-03-20"),
    contract("turned round", "10", "5", "2026-12-31", "2026-12-01"),
    contract("hostile", huge, `-${huge}`, null, null),
    contract("tiny", "0.000000001", huge, null, null),
    contract("gone", "10", "5", null, null, { _deleted_at: gone }),
    contract("running", "8", "2", null, null, { _company: "beta" }),
  ],
};

/** The answers, worked out by hand; today is 2026-03-15. */
describe.each(modelWarehouses)("contracts in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows }));

  test("a contract shows its limit, its spend, its term and whether the one goes faster than the other", async () => {
    const all = await warehouse.model("contract_utilisation", "contract_id");
    const running = all.find(row => row["_company"] === "acme" && row["contract_id"] === "running");
    expect(running).toEqual({
      _company: "acme",
      contract_id: "running",
      contract_number: "C-1",
      contract_type: null,
      scope_category: null,
      vendor_id: "V1",
      vendor_name: "Vogel",
      status: "active",
      effective_date: "2026-01-01",
      expiration_date: "2026-12-31",
      term: "running",
      days_to_expiration: 291, // 16 left in March, 275 from April to December
      auto_renewal: true,
      successor_contract_id: null,
      limit_amount: "1000",
      spent_amount: "250",
      usage_complete: true,
      remaining_amount: "750",
      is_over_limit: false,
      utilisation_pct: "25",
      service_utilisation_pct: "25",
      elapsed_pct: "20.274", // 31 + 28 + 15 of 365 days
      pace_pct: "4.726",
      projected_amount: "1233.11", // 250 * 365 / 74
      currency_code: "EUR",
      currency_source: "company",
    });
  });

  test("limits of nothing, open ends and figures beyond all measure leave out what they cannot tell", async () => {
    const columns =
      "_company, contract_id, term, days_to_expiration, remaining_amount, is_over_limit, utilisation_pct, elapsed_pct, projected_amount, currency_code";
    expect(await warehouse.lines("contract_utilisation", "_company, contract_id", columns)).toEqual([
      ["acme", "hostile", "not known", null, null, false, null, null, null, "EUR"],
      ["acme", "last day", "running", 0, "-7", true, null, "100", "7", "EUR"],
      // 400 / 300; its term is over.
      ["acme", "over", "expired", -1, "-100", true, "133.3333", "100", "400", "EUR"],
      ["acme", "running", "running", 291, "750", false, "25", "20.274", "1233.11", "EUR"],
      ["acme", "tiny", "not known", null, null, true, null, null, null, "EUR"],
      // 16 days in March and a year
      ["acme", "to come", "not begun", 381, "10", false, "0", "0", null, "EUR"],
      ["acme", "turned round", "not begun", 261, "5", false, "50", null, null, "EUR"],
      ["acme", "without end", "not known", null, "5", false, "50", null, null, "EUR"],
      ["acme", "without limit", "not known", 5, null, null, null, null, null, "EUR"],
      ["beta", "running", "not known", null, "6", false, "25", null, null, null],
    ]);
  });
});
