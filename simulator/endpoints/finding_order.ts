import type { Entry, Listing } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { CATEGORIES, findingFacts } from "../company/findings.ts";
import { noFaults } from "../faults.ts";
import type { Selection } from "../paging.ts";
import type { Row, Source } from "../source.ts";

/** The category that leads for a persona; the rest follows in the usual order. */
const LEADS: Readonly<Record<string, string>> = {
  buyer: "billing",
  ap: "billing",
  ops: "receiving",
  logistics: "receiving",
  compliance: "contracts",
};

type Compare = (a: Sorted, b: Sorted) => number;

interface Sorted {
  readonly entry: Entry;
  readonly value: number | string;
}

/** Another order than the grouped one, where one is asked for; unknown names change nothing. One order is remembered. */
export function findingOrder(
  company: Company,
  source: Source,
): (sortBy: string | undefined, direction: string | undefined, persona: string | undefined) => Selection {
  let known: { name: string; version: number; listing: Listing } | undefined;
  return (sortBy, direction, persona) => {
    const name = `${sortBy} ${direction} ${persona}`;
    const { version } = source.collection;
    if (known?.name === name && known.version === version) return { listing: known.listing };
    const value = sortValue(company, source, sortBy, persona);
    if (value === undefined) return {};
    const usual = sortBy === "amount" || sortBy === "document_date" ? "desc" : "asc";
    const compare = sortBy === undefined ? ascending : (direction ?? usual) === "desc" ? descending : ascending;
    const rows: Sorted[] = [];
    for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) rows.push({ entry, value: value(entry) });
    rows.sort((a, b) => compare(a, b) || a.entry.rank - b.entry.rank);
    const listing = arrayListing(rows.map(({ entry }) => entry));
    known = { name, version, listing };
    return { listing };
  };
}

const ascending: Compare = (a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0);
const descending: Compare = (a, b) => ascending(b, a);

function sortValue(
  company: Company,
  source: Source,
  sortBy: string | undefined,
  persona: string | undefined,
): ((entry: Entry) => number | string) | undefined {
  const plain = noFaults();
  const row = (entry: Entry): Row => source.row(entry, plain);
  if (sortBy === "amount") return entry => findingFacts(company, entry).cents ?? -1;
  if (sortBy === "document_date") return entry => String(row(entry)["source_document_date"] ?? "");
  if (sortBy === "vendor") return entry => findingFacts(company, entry).vendor.name;
  const lead = LEADS[persona ?? ""];
  if (lead === undefined || lead === CATEGORIES[0].name) return undefined;
  return entry => (findingFacts(company, entry).category.name === lead ? 0 : 1);
}

/** Entries in a fixed order; their ranks become their places. */
function arrayListing(entries: readonly Entry[]): Listing {
  return {
    *walk(from, exclusive = false) {
      const start = Math.max(0, exclusive ? Math.floor(from) + 1 : Math.ceil(from));
      for (let i = start; i < entries.length; i += 1) {
        const entry = entries[i];
        if (entry !== undefined) yield { ...entry, rank: i };
      }
    },
    rankAt: offset => (offset < entries.length ? offset : Number.POSITIVE_INFINITY),
    position: rank => Math.min(entries.length, Math.max(0, Math.ceil(rank))),
    standsAt: rank => rank in entries,
  };
}
