import { findingFacts, isClosed } from "../company/findings.ts";
import type { World } from "../domain.ts";
import { perVersion } from "../endpoints/tally.ts";
import type { Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import { findingLookup } from "./finding_ids.ts";
import { findingLineage } from "./finding_lineage.ts";
import { findingDraft, findingIntel } from "./finding_papers.ts";

/** /findings/stats and what hangs on each finding. */
export function findingRoutes({ company }: World, findings: Source): Route[] {
  const find = findingLookup(company, findings);
  const stats = perVersion(findings.collection, (): Row => {
    const tally = { total: 0, material: 0, procedural: 0, critical: 0, high: 0, surfaceable_total: 0 };
    let cents = 0;
    for (const entry of findings.collection.walk(Number.NEGATIVE_INFINITY)) {
      const facts = findingFacts(company, entry);
      tally.total += 1;
      if (facts.cents === null) tally.procedural += 1;
      else tally.material += 1;
      if (facts.value % 4 === 0) tally.critical += 1;
      if (facts.value % 4 === 1) tally.high += 1;
      if (!isClosed(facts.status)) cents += facts.cents ?? 0;
    }
    return { ...tally, surfaceable_total: cents / 100 };
  });
  return [
    { template: "/findings/stats", answer: () => ({ data: { ...stats() } }) },
    {
      template: "/lineage/finding/{id}",
      answer: ({ params }) => ({ data: findingLineage(company, find(params["id"] ?? "")) }),
    },
    {
      template: "/findings/{finding_id}/draft",
      answer: ({ params }) => ({ data: findingDraft(company, find(params["finding_id"] ?? "")) }),
    },
    {
      template: "/procurement-intel/{finding_id}",
      answer: ({ params }) => ({ data: findingIntel(company, find(params["finding_id"] ?? "")) }),
    },
  ];
}
