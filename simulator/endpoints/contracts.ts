import { DAY_MS, dayOf } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, PURPOSE, vendorFor } from "../company/company.ts";
import type { Vendor } from "../company/vendors.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { answerOf, search } from "./lists.ts";
import { perVersion } from "./tally.ts";

type State = "active" | "expiring" | "expired" | "over_nte" | "renewed";

/** What a contract is, apart from how its row is written: days since 1970, amounts in cents, the used share in hundredths of a percent. */
interface ContractFacts {
  readonly value: number;
  readonly vendor: Vendor;
  readonly start: number;
  readonly end: number;
  readonly state: State;
  readonly limit: number;
  readonly used: number;
}

const TYPES = ["supply_agreement", "blanket", "service", "freight"] as const;
const SCOPES = ["Fasteners", "Hydraulik & Pneumatik", "MRO", "Packaging", "Freight"] as const;

export function contractKey(number: number): string {
  return `CTR-${number}`;
}

/** How many contracts there are to begin with. */
export const contractCount = ({ sizes: { orders } }: Company): number =>
  orders === 0 ? 0 : Math.min(300, Math.max(3, Math.ceil(orders / 20)));

export function contractFamily(company: Company): Family {
  return {
    path: "/contracts",
    keyField: "contract_id",
    key: contractKey,
    number: key => (/^CTR-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN),
    row: entry => contractRow(company, entry),
    ranks: atTheHead,
  };
}

function contractFacts(company: Company, { number, revision, insertedAt }: Entry): ContractFacts {
  const value = hash(company.seed, PURPOSE.contractFacts, number);
  const start = insertedAt === undefined ? company.anchorDay - 20 - (value % 1000) : dayOf(insertedAt);
  const end = start + 365 * (1 + ((value >>> 10) % 3));
  const limit = (50_000 + ((value >>> 4) % 5_000_000)) * 100;
  const used = ((value >>> 7) % 10_500) + revision * 50;
  return { value, vendor: vendorFor(company, value >>> 4), start, end, state: stateOf(), limit, used };

  function stateOf(): State {
    const left = end - company.anchorDay;
    if (left < 0) return value % 3 === 0 ? "renewed" : "expired";
    if (left < 60) return "expiring";
    return used > 10_000 ? "over_nte" : "active";
  }
}

function contractRow(company: Company, entry: Entry): Row {
  const { number, revision } = entry;
  const facts = contractFacts(company, entry);
  const { value, vendor, limit, used } = facts;
  const v = new Values(hash(company.seed, PURPOSE.contractRow, number));
  const limited = v.chance(0.8);
  const spent = Math.round((limit * used) / 10_000);
  const written = v.money(spent);
  const successor = facts.state === "renewed" && number < contractCount(company) ? number + 1 : null;
  return {
    contract_id: contractKey(number),
    contract_number: v.maybe(contractNumber(number)),
    contract_type: v.maybe(TYPES[value % TYPES.length] ?? null),
    scope_category: v.maybe(SCOPES[value % SCOPES.length] ?? null),
    vendor_id: v.maybe(vendor.id),
    vendor_name: v.maybe(vendor.name),
    effective_date: v.date(facts.start),
    expiration_date: v.date(facts.end),
    total_value_limit: limited ? v.money(limit) : null,
    cumulative_spend: revision > 0 ? spent / 100 : written,
    usage_complete: v.chance(0.7),
    utilization_pct: limited ? v.decimal(used, 2) : null,
    status: v.maybe(facts.state),
    auto_renewal: v.maybe(v.chance(0.4)),
    health_score: v.decimal(v.below(10_001), 2),
    risk_level: v.maybe(v.pick(["low", "medium", "high"])),
    successor_contract_id: successor === null ? null : contractKey(successor),
    successor_contract_number: successor === null ? null : v.maybe(contractNumber(successor)),
    created_at: v.maybe(v.moment(facts.start * DAY_MS + (value % DAY_MS))),
  };
}

function contractNumber(number: number): string {
  return number % 5 === 0 ? `Rahmenvertrag ${number}/Ä` : `MSA-${2000 + number}`;
}

/** /contracts. */
export function contractRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  const stats = perVersion(source.collection, () => {
    const states = { active: 0, expiring: 0, expired: 0, over_nte: 0, renewed: 0 };
    for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY))
      states[contractFacts(company, entry).state] += 1;
    return { total: source.collection.count, ...states, is_renewal: states.renewed };
  });
  return [
    {
      template: "/contracts",
      answer: request => {
        const { status, vendor_id, contract_type, search: text } = request.query;
        const keep = (row: Row): boolean =>
          (status === undefined || row["status"] === status) &&
          (vendor_id === undefined || row["vendor_id"] === vendor_id) &&
          (contract_type === undefined || row["contract_type"] === contract_type) &&
          search(row, text, ["contract_number", "vendor_name"]);
        const page = pageOf(source, request, mode, { keep });
        return answerOf({ contracts: page.rows, stats: { ...stats() } }, page);
      },
    },
  ];
}
