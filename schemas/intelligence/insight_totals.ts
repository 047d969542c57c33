import { count, inRow, inTable, lineId, money, notGiven, percent, quantity, record, table, text } from "../fields.ts";

const categories = table("insight_stats_categories", "Insights by category, one set of rows a day.", {
  category: lineId(text()).describe("Category that is counted, the same names as in insights.category."),
  count: count().nullable().describe("How many insights the category holds."),
  new_count: count()
    .nullable()
    .describe("How many of the category's insights are new; what makes one new is not documented."),
  savings: money(inTable("insight_stats", "currency_code", "observed_on"))
    .nullable()
    .describe("Savings put to the category's insights; null where none are."),
});

/** The totals over insights: `GET /insights/stats`. */
export const insightStats = record(
  "Totals over all insights and the plan's allowance for generating them, measured once a day.",
  {
    currency_code: text().nullable().describe("Currency of the day's amounts; null where the service names none."),
    total_savings: money(inRow("currency_code"))
      .nullable()
      .describe("Savings put to all insights; null where there are none."),
    total_at_risk: money(inRow("currency_code"))
      .nullable()
      .describe(
        "What the insights put at risk in all, presumably money since it stands among amounts; null where not known.",
      ),
    actioned_count: count().nullable().describe("How many insights somebody acted on."),
    reviewed_count: count().nullable().describe("How many insights somebody reviewed."),
    total_count: count().nullable().describe("How many insights there are in all."),
    action_rate: percent().nullable().describe("Share of the insights that was acted on, in the service's own unit."),
    this_month: quantity().nullable().describe("How many insights came in the present calendar month, by its name."),
    top_category: text().nullable().describe("Category that leads the others; by which measure is not documented."),
    runs_this_month: quantity()
      .nullable()
      .describe("How many generation runs the present month has seen, by its name."),
    generation_limit: quantity()
      .nullable()
      .describe("How many generation runs the plan allows; null where there is no limit."),
    plan: text().nullable().describe("Name of the plan that sets the limit; null where the service names none."),
    categories,
  },
);

const trends = table("insight_trend_trends", "Insights by week and category, one set of rows a day.", {
  week: text().nullable().describe("Week that is counted, as the service writes it; its form is not documented."),
  category: text().nullable().describe("Category that is counted; null for insights without one."),
  count: count().nullable().describe("How many insights the week brought in the category."),
  savings: money(notGiven)
    .nullable()
    .describe("Savings put to the week's insights in the category; null where none are."),
  actioned: quantity().nullable().describe("How many of the week's insights in the category were acted on."),
  avg_recurrence: quantity().nullable().describe("How often the week's insights had come up on average."),
});

/** The weekly course of insights: `GET /insights/trends`. */
export const insightTrends = record(
  "The days on which the weekly course of insights was measured; its figures are the child rows.",
  {
    trends,
  },
);
