import type { Route } from "../routes.ts";
import type { Books } from "./books.ts";
import { sumsBy } from "./sums.ts";

const ANSWER = 95;

/** /po/otif-settings, /po/matching-settings and /items/facets. */
export function settingRoutes(books: Books): Route[] {
  return [
    {
      template: "/po/otif-settings",
      answer: () => {
        const v = books.values(ANSWER);
        const data = {
          late_tolerance_days: v.below(4),
          early_tolerance_days: v.below(10),
          penalize_early_delivery: v.chance(0.5),
          use_business_days: v.chance(0.5),
        };
        return { data };
      },
    },
    {
      template: "/po/matching-settings",
      answer: () => {
        const v = books.values(ANSWER, 1);
        const data = {
          price_tolerance_pct: v.between(0, 50) / 10,
          tax_tolerance_pct: v.between(0, 10) / 10,
          qty_tolerance_pct: v.between(0, 50) / 10,
          desc_match_threshold: v.between(60, 95) / 100,
        };
        return { data };
      },
    },
    {
      template: "/items/facets",
      answer: () => {
        const categories = sumsBy(
          books.bills(),
          ({ category }) => category,
          () => 0,
        );
        const counted = categories.map(({ key, count }) => ({ value: key, count }));
        return { data: { facets: { category: counted, sourcing: ["sole_source", "dual_source", "multi_source"] } } };
      },
    },
  ];
}
