import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelWarehouse, modelWarehouses } from "./warehouse.ts";

/** More than a percentage of it has room for in DuckDB's widest decimal. */
const huge = "99999999999999999999999999999";

const rows = {
  company_profile: [{ observed_on: "2026-03-14", company_id: "1", company_name: "Acme", base_currency: "EUR" }],
  contracts: [
    {
      contract_id: "running",
      contract_number: "C-1",
      vendor_id: "V1",
      vendor_name: "Vogel",
      effective_date: "2026-01-01",
      expiration_date: "2026-12-31",
      total_value_limit: "1000",
      cumulative_spend: "250",
      usage_complete: true,
      utilization_pct: "25",
      status: "active",
      auto_renewal: true,
    },
    {
      contract_id: "over",
      effective_date: "2025-03-15",
      expiration_date: "2026-03-14",
      total_value_limit: "300",
      cumulative_spend: "400",
      usage_complete: false,
      successor_contract_id: "running",
    },
    {
      contract_id: "last day",
      effective_date: "2026-03-15",
      expiration_date: "2026-03-15",
      total_value_limit: "0",
      cumulative_spend: "7",
    },
    {
      contract_id: "to come",
      effective_date: "2026-04-01",
      expiration_date: "2027-03-31",
      total_value_limit: "10",
      cumulative_spend: "0",
    },
    { contract_id: "without end", effective_date: "2026-01-01", total_value_limit: "10", cumulative_spend: "5" },
    { contract_id: "without limit", expiration_date: "2026-03-20", cumulative_spend: "5" },
    {
      contract_id: "turned round",
      effective_date: "2026-12-31",
      expiration_date: "2026-12-01",
      total_value_limit: "10",
      cumulative_spend: "5",
    },
    { contract_id: "hostile", total_value_limit: huge, cumulative_spend: `-${huge}` },
    { contract_id: "tiny", total_value_limit: "0.000000001", cumulative_spend: huge },
    { contract_id: "gone", total_value_limit: "10", cumulative_spend: "5", _deleted_at: "2026-03-01T00:00:00Z" },
    { _company: "beta", contract_id: "running", total_value_limit: "8", cumulative_spend: "2" },
  ],
};

/** The answers, worked out by hand; today is 2026-03-15. */
describe.each(modelWarehouses)("contracts in $name", ({ make }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows });
  });
  afterAll(() => warehouse.drop());

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
    const lines = await warehouse.model("contract_utilisation", "_company, contract_id", columns);
    expect(lines.map(Object.values)).toEqual([
      ["acme", "hostile", "not known", null, null, false, null, null, null, "EUR"],
      ["acme", "last day", "running", 0, "-7", true, null, "100", "7", "EUR"],
      // 400 / 300; its term is over.
      ["acme", "over", "expired", -1, "-100", true, "133.3333", "100", "400", "EUR"],
      ["acme", "running", "running", 291, "750", false, "25", "20.274", "1233.11", "EUR"],
      ["acme", "tiny", "not known", null, null, true, null, null, null, "EUR"],
      [
        "acme",
        "to come",
        "not begun",
        381, // 16 days in March and a year
        "10",
        false,
        "0",
        "0",
        null,
        "EUR",
      ],
      ["acme", "turned round", "not begun", 261, "5", false, "50", null, null, "EUR"],
      ["acme", "without end", "not known", null, "5", false, "50", null, null, "EUR"],
      ["acme", "without limit", "not known", 5, null, null, null, null, null, "EUR"],
      ["beta", "running", "not known", null, "6", false, "25", null, null, null],
    ]);
  });
});
