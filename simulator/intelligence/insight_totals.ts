import type { World } from "../domain.ts";
import { perVersion } from "../endpoints/tally.ts";
import type { Route } from "../routes.ts";
import type { Source } from "../source.ts";
import { DRAWN, valuesOf } from "./family.ts";
import { INSIGHT_CATEGORIES, insightFacts } from "./insights.ts";

interface Tally {
  readonly category: string;
  count: number;
  fresh: number;
  cents: number;
}

/** /insights/stats and /insights/trends. */
export function insightTotals({ company }: World, current: Source): Route[] {
  const tallies = perVersion(current.collection, () => {
    const all = INSIGHT_CATEGORIES.map((category): Tally => ({ category, count: 0, fresh: 0, cents: 0 }));
    for (const { number } of current.collection.walk(Number.NEGATIVE_INFINITY)) {
      const { category, cents, isNew } = insightFacts(company, number);
      const tally = all.find(candidate => candidate.category === category);
      if (tally === undefined) continue;
      tally.count += 1;
      tally.fresh += isNew ? 1 : 0;
      tally.cents += cents;
    }
    return all;
  });
  return [
    {
      template: "/insights/stats",
      answer: () => {
        const v = valuesOf(company, DRAWN.insightFigures, 1);
        const all = tallies();
        const { count } = current.collection;
        const cents = all.reduce((sum, tally) => sum + tally.cents, 0);
        const top = all.reduce((best, tally) => (tally.count > best.count ? tally : best));
        return {
          data: {
            currency_code: company.currency,
            total_savings: v.money(cents),
            total_at_risk: v.money(Math.round(cents / 7)),
            actioned_count: v.count(Math.floor(count / 3)),
            reviewed_count: v.count(Math.floor(count / 2)),
            total_count: v.count(count),
            action_rate: v.maybe(v.decimal(3333, 2)),
            this_month: v.count(Math.floor(count / 12)),
            top_category: v.maybe(top.category),
            runs_this_month: v.count(4),
            generation_limit: v.count(30),
            plan: v.maybe(v.pick(["growth", "enterprise"])),
            categories: all.map(tally => ({
              category: tally.category,
              count: v.count(tally.count),
              new_count: v.count(tally.fresh),
              savings: v.money(tally.cents),
            })),
          },
        };
      },
    },
    {
      template: "/insights/trends",
      answer: () => {
        const v = valuesOf(company, DRAWN.insightFigures, 2);
        const trends = tallies().flatMap(tally =>
          ["2026-W08", "2026-W09", "2026-W10"].map((week, i) => ({
            week: v.maybe(week),
            category: v.maybe(tally.category),
            count: v.count(Math.floor(tally.count / (i + 2))),
            savings: v.money(Math.floor(tally.cents / (i + 2))),
            actioned: v.count(Math.floor(tally.count / (i + 4))),
            avg_recurrence: v.decimal(100 + i * 25, 2),
          })),
        );
        return { data: { trends } };
      },
    },
  ];
}
