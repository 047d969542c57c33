import type { Entry } from "../collection.ts";
import { type Company, PURPOSE } from "../company/company.ts";
import { perVersion } from "../endpoints/tally.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Source } from "../source.ts";

/** The finding_id of a row of the findings list, which that row shows now and then as null. */
export function findingIdOf(company: Company, number: number): string {
  return `fid-${hash(company.seed, PURPOSE.findingFacts, number).toString(16)}`;
}

/** Finds the live finding behind a finding_id; refuses with 404 where there is none. */
export function findingLookup(company: Company, findings: Source): (id: string) => Entry {
  const numbers = perVersion(findings.collection, () => {
    const known = new Map<string, number>();
    for (const { number } of findings.collection.walk(Number.NEGATIVE_INFINITY))
      known.set(findingIdOf(company, number), number);
    return known;
  });
  return id => {
    const entry = findings.collection.get(numbers().get(id) ?? Number.NaN);
    if (entry === undefined) throw notFound(`Finding '${id}'`);
    return entry;
  };
}
