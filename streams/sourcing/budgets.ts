import { budget } from "../../schemas/sourcing/budget.ts";
import { budgetDetail } from "../../schemas/sourcing/budget_detail.ts";
import { defineStream, detail, scan } from "../../src/catalog/stream.ts";
import { bothWays } from "../both_ways.ts";

export const budgets = defineStream({
  name: "budgets",
  path: "/budgets",
  mode: scan({ rows: "budgets", confirm: "/budgets/{id}", orders: bothWays }),
  row: budget,
  key: ["id"],
  preset: "standard",
});

export const budgetDetails = defineStream({
  name: "budget_details",
  path: "/budgets/{id}",
  mode: detail({ of: "budgets" }),
  row: budgetDetail,
  key: ["id"],
  preset: "standard",
});
