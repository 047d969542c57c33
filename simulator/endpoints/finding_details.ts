import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { findingFacts, findingIdOf, findingRow, isClosed } from "../company/findings.ts";
import type { Source } from "../source.ts";
import { perVersion } from "./tally.ts";

/**
 * The findings under the name by which their details ask for them, with what the list doesn't show: when one ended, which
 * goes with its status, and which one took its place.
 */
export function findingsByTheirId(company: Company, findings: Source): Source {
  const { collection, family } = findings;
  const numbers = perVersion(
    collection,
    () =>
      new Map(
        Array.from(collection.walk(Number.NEGATIVE_INFINITY), ({ number }) => [findingIdOf(company, number), number]),
      ),
  );
  return {
    ...findings,
    family: {
      ...family,
      path: "/lineage/finding",
      keyField: "finding_id",
      key: number => findingIdOf(company, number),
      number: id => numbers().get(id) ?? Number.NaN,
      row: entry => {
        const { number, value, status, cents, createdAt } = findingFacts(company, entry);
        const amount = (cents ?? 0) / 100;
        const ended = new Date(createdAt + 3 * DAY_MS).toISOString();
        return {
          ...findingRow(company, entry),
          finding_id: findingIdOf(company, number),
          verified_amount: isClosed(status) ? (value % 2 === 0 ? amount : String(amount)) : null,
          resolved_at: isClosed(status) ? ended : null,
          dismissed_at: status === "dismissed" ? ended : null,
          superseded_by_finding_id: value % 11 === 3 && number > 1 ? findingIdOf(company, number - 1) : null,
        };
      },
    },
  };
}
