import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { perVersion } from "../endpoints/tally.ts";
import { pageOf } from "../paging.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import type { Source } from "../source.ts";
import { accessorialRates, rateLines } from "./rate_card_rates.ts";
import { type CardState, cardFacts, cardNumber, cardRow } from "./rate_cards.ts";

/** /rate-cards, /rate-cards/{id} and /rate-cards/stats. */
export function cardRoutes({ company, mode }: World, source: Source): Route[] {
  const { collection } = source;
  const stats = perVersion(collection, () => {
    const states: Record<CardState, number> = { active: 0, expired: 0, expiring_soon: 0, archived: 0 };
    for (const entry of collection.walk(Number.NEGATIVE_INFINITY)) states[cardFacts(company, entry).state] += 1;
    return { total: collection.count, ...states };
  });
  return [
    {
      template: "/rate-cards",
      answer: request => {
        const page = pageOf(source, request, mode);
        return answerOf({ rate_cards: page.rows }, page);
      },
    },
    { template: "/rate-cards/stats", answer: () => ({ data: { ...stats() } }) },
    {
      template: "/rate-cards/{id}",
      answer: ({ params }) => {
        const key = params["id"] ?? "";
        const entry = collection.get(cardNumber(key));
        if (entry === undefined) throw notFound(`Rate card '${key}'`);
        const facts = cardFacts(company, entry);
        const rates = { rate_lines: rateLines(company, facts), accessorial_rates: accessorialRates(company, facts) };
        return { data: { ...cardRow(company, entry), ...rates } };
      },
    },
  ];
}
