import { dayOf } from "../calendar.ts";
import { Draw, hash } from "../random.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { type Vendor, vendorsOf } from "./vendors.ts";

export interface Sizes {
  readonly orders: number;
  readonly invoices: number;
  readonly items: number;
  readonly findings: number;
  readonly ingested: number;
}

/** What every row of one simulated company is made from; the same values give the same rows. */
export interface Company {
  readonly seed: number;
  readonly sizes: Sizes;
  /** Days since 1970 of the newest base rows: the day the simulator started. */
  readonly anchorDay: number;
  /** Today by the passed clock, in days since 1970; only fields that count days depend on it. */
  readonly today: () => number;
  readonly linesPerOrder: number | undefined;
  /** How many days of history the base rows cover. */
  readonly historyDays: number;
  readonly vendors: readonly [Vendor, ...Vendor[]];
  readonly id: string;
  readonly name: string;
  readonly currency: string | null;
  readonly vocabulary: Vocabulary;
}

/** What is chosen about a company; everything else follows from it. */
export type Chosen = Pick<Company, "seed" | "sizes" | "linesPerOrder" | "vocabulary"> & {
  readonly historyDays?: number;
};

/** How many days of history the base rows cover unless told otherwise. */
const HISTORY_DAYS = 730;

/** What a hash is taken for; no two purposes share their draws. */
export const PURPOSE = {
  orderFacts: 1,
  orderLine: 2,
  orderRow: 3,
  orderDetail: 4,
  invoiceFacts: 5,
  invoiceRow: 6,
  invoiceDetail: 7,
  itemFacts: 8,
  itemRow: 9,
  findingFacts: 10,
  findingRow: 11,
  ingestedFacts: 12,
  ingestedRow: 13,
  account: 14,
  findingList: 15,
  itemPrices: 16,
  itemTransactions: 17,
  contractFacts: 18,
  contractRow: 19,
  document: 20,
} as const;

const NAMES: readonly [string, ...string[]] = [
  "Nordlicht Maschinenbau GmbH",
  "Acme Precision Works",
  "Brückner & Söhne AG",
  "Pacific Rim Assembly Co.",
  "Ateliers Québec Inc.",
];

/** The company of a choice, as it stands on the day of `clock`. */
export function companyOf(chosen: Chosen, clock: () => Date): Company {
  const { seed, sizes } = chosen;
  const draw = new Draw(hash(seed, PURPOSE.account));
  return {
    historyDays: HISTORY_DAYS,
    ...chosen,
    anchorDay: dayOf(clock()),
    today: () => dayOf(clock()),
    vendors: vendorsOf(seed, Math.min(400, Math.max(12, Math.ceil(sizes.orders / 25)))),
    id: `cmp_${hash(seed, PURPOSE.account, 1).toString(36)}`,
    name: draw.pick(NAMES),
    currency: draw.chance(0.15) ? null : draw.pick(["EUR", "USD"]),
  };
}

/** The vendor a hash stands for. */
export function vendorFor(company: Company, value: number): Vendor {
  return company.vendors[value % company.vendors.length] ?? company.vendors[0];
}
