import { count, quantity, record } from "../fields.ts";

/** The counters over findings: `GET /findings/stats`. */
export const findingStats = record("How many findings there are, by weight and kind, measured once a day.", {
  total: count().describe("How many findings the service counts in all."),
  material: quantity().describe("How many findings are material in the service's judgement."),
  procedural: quantity().describe("How many findings concern procedure rather than money, by the name."),
  critical: quantity().describe("How many findings have the severity critical."),
  high: quantity().describe("How many findings have the severity high."),
  surfaceable_total: quantity().describe(
    "Total the service calls surfaceable; whether it counts findings or adds up money is not documented.",
  ),
});
