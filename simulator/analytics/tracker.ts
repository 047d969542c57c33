import { DAY_MS } from "../calendar.ts";
import type { Collection, Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import type { Domain, World } from "../domain.ts";
import { hash } from "../random.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { share } from "./sums.ts";

const PURPOSE = { review: 540, entry: 541, answer: 542 } as const;
const FINDINGS = ["rate_above_contract", "missed_rebate", "auto_renewal", "nte_exceeded"];

/** Reviews of the contracts and the savings found in them. */
export function trackerDomain(world: World): Domain {
  const { orders } = world.company.sizes;
  const some = (share: number, most: number): number =>
    orders === 0 ? 0 : Math.min(most, Math.max(3, Math.ceil(orders / share)));
  const reviews = world.source(reviewFamily(world.company), some(40, 60));
  const entries = world.source(entryFamily(world, reviews), some(20, 300));
  return {
    sources: { contract_reviews: reviews, savings_entries: entries },
    routes: [reviewsRoute(world.company, reviews), trackerRoute(world.company, entries)],
  };
}

function family(path: string, prefix: string, row: (entry: Entry) => Row): Family {
  const key = (number: number): string => `${prefix}-${number}`;
  const number = (text: string): number => {
    const found = Number(text.slice(prefix.length + 1));
    return key(found) === text ? found : Number.NaN;
  };
  return { path, keyField: "id", key, number, row, ranks: atTheHead };
}

function reviewFamily(company: Company): Family {
  return family("/analytics/contract-reviews", "CRV", ({ number, revision, insertedAt }) => {
    const v = new Values(hash(company.seed, PURPOSE.review, number));
    const running = insertedAt !== undefined || v.chance(0.1);
    const month = 1 + (number % 12);
    const reviewed = v.between(3, 60);
    const high = v.count(v.below(9));
    const done = company.anchorDay * DAY_MS - v.below(company.historyDays) * DAY_MS - v.below(DAY_MS);
    return {
      id: `CRV-${number}`,
      review_period: v.maybe(`2025-${String(month).padStart(2, "0")}`),
      status: running ? "running" : "completed",
      contracts_reviewed: v.count(reviewed),
      critical_findings: v.count(v.below(4)),
      high_findings: revision > 0 ? 10 + revision : high,
      medium_findings: v.count(v.below(20)),
      completed_at: running ? null : v.moment(done),
    };
  });
}

interface Found {
  readonly identified: number;
  readonly recovered: number | null;
}

/** Cents that an entry is about; every third one came back in part. */
function foundBy(company: Company, number: number): Found {
  const value = hash(company.seed, PURPOSE.entry, number);
  const identified = 1_000 + (value % 4_000_000);
  return { identified, recovered: value % 3 === 0 ? Math.round(identified * 0.8) : null };
}

function entryFamily({ company, sources }: World, reviews: Source): Family {
  const contracts = sources["contracts"];
  return family("/analytics/savings-tracker", "SVE", ({ number, revision, insertedAt }) => {
    const v = new Values(hash(company.seed, PURPOSE.entry, number, 1));
    const { identified, recovered } = foundBy(company, number);
    const cited = contracts?.collection.get(1 + (number % Math.max(1, contracts.collection.size)));
    const contract = cited === undefined ? null : contracts?.family.row(cited);
    const made = insertedAt ?? company.anchorDay * DAY_MS - v.below(company.historyDays) * DAY_MS - v.below(DAY_MS);
    const note = v.maybe('Gutschrift angefragt, "bitte nachfassen"');
    const review = reviews.collection.size === 0 ? null : reviews.family.key(1 + (number % reviews.collection.size));
    const contractNumber = contract?.["contract_number"];
    return {
      id: `SVE-${number}`,
      contract_review_id: v.maybe(review),
      contract_id: cited === undefined ? null : v.maybe(contracts?.family.key(cited.number) ?? null),
      finding_type: v.maybe(FINDINGS[number % FINDINGS.length] ?? null),
      finding_title: `Saving ${number}: ${FINDINGS[number % FINDINGS.length]?.replaceAll("_", " ")}`,
      vendor_name: v.maybe(vendorFor(company, hash(number, PURPOSE.entry)).name),
      identified_amount: v.money(identified),
      recovered_amount: recovered === null ? null : v.money(recovered),
      status: recovered === null ? "identified" : "recovered",
      notes: revision > 0 ? `Noted ${revision} times` : note,
      recovered_at: recovered === null ? null : v.maybe(v.moment(made + 20 * DAY_MS)),
      created_at: v.maybe(v.moment(made)),
      updated_at: v.maybe(v.moment(made + revision * DAY_MS)),
      contract_number: typeof contractNumber === "string" ? contractNumber : null,
      metric_backing: v.maybe({ lines: v.below(40) }),
    };
  });
}

function reviewsRoute(company: Company, source: Source): Route {
  return {
    template: "/analytics/contract-reviews",
    answer: request => {
      const history = allRows(source, request);
      const [first] = history;
      const latest =
        first === undefined || company.seed % 4 === 3 ? null : { id: first["id"], status: first["status"] };
      return { data: { currency_code: company.currency, latest, history } };
    },
  };
}

function trackerRoute(company: Company, source: Source): Route {
  return {
    template: "/analytics/savings-tracker",
    answer: request => ({
      data: {
        currency_code: company.currency,
        rollup: rollup(company, source.collection),
        entries: allRows(source, request),
      },
    }),
  };
}

function rollup(company: Company, collection: Collection) {
  const v = new Values(hash(company.seed, PURPOSE.answer));
  let identified = 0;
  let recovered = 0;
  let back = 0;
  for (const { number } of collection.walk(Number.NEGATIVE_INFINITY)) {
    const found = foundBy(company, number);
    identified += found.identified;
    recovered += found.recovered ?? 0;
    if (found.recovered !== null) back += 1;
  }
  return {
    total_identified: v.money(identified),
    total_recovered: v.money(recovered),
    recovery_rate: v.decimal(share(recovered, identified), 2),
    total_entries: v.count(collection.count),
    recovered_count: v.count(back),
  };
}

function allRows(source: Source, { faults }: Request): Row[] {
  return [...source.collection.walk(Number.NEGATIVE_INFINITY)].map(entry => source.row(entry, faults));
}
