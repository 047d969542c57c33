import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { branchOf } from "../company/feed.ts";
import { type FeedFacts, feedFacts, feedKey, feedRow } from "../company/ingested.ts";
import { type OrderFacts, orderFacts } from "../company/orders.ts";
import type { Vendor } from "../company/vendors.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { DRAWS } from "./draws.ts";

const MOST = 300;
/** Where the mails stand among ten rows of the intake feed. */
const PLACES = [2, 5, 7, 8, 10] as const;
const MAILS_BEFORE = [0, 0, 1, 1, 1, 2, 2, 3, 4, 4] as const;
/** So many orders are looked at for one of the mail's vendor. */
const TRIES = 60;

/** What a message is, apart from how it is written. It is a mail of the intake feed. */
export interface MailFacts {
  readonly number: number;
  readonly revision: number;
  readonly value: number;
  readonly id: string;
  readonly feed: FeedFacts;
  /** The mail's row in the intake feed. */
  readonly came: Row;
  readonly vendor: Vendor;
  readonly order: OrderFacts | null;
  /** The feed row of the document that came with it. */
  readonly attachment: number | null;
}

export function mailKey(number: number): string {
  return `COM-${number}`;
}

export function mailNumber(key: string): number {
  return /^COM-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN;
}

/** How many messages there are: the newest mails of the feed. */
export function mailCount(company: Company): number {
  return Math.min(MOST, mailsUpTo(company.sizes.ingested));
}

function mailsUpTo(row: number): number {
  return Math.floor(row / 10) * 5 + (MAILS_BEFORE[row % 10] ?? 0);
}

function feedRowOf(company: Company, number: number): number {
  const ordinal = number + mailsUpTo(company.sizes.ingested) - mailCount(company);
  return Math.floor((ordinal - 1) / 5) * 10 + (PLACES[(ordinal - 1) % 5] ?? 0);
}

export function mailFacts(company: Company, entry: Entry): MailFacts {
  const { number, revision, insertedAt } = entry;
  const row = feedRowOf(company, number);
  const inFeed = { number: row, revision: 0, insertedAt, rank: 0 };
  const feed = feedFacts(company, inFeed);
  const value = hash(company.seed, DRAWS.mail, number);
  const { vendor } = feed;
  return {
    number,
    revision,
    value,
    id: mailKey(number),
    feed,
    came: feedRow(company, inFeed),
    vendor,
    order: feed.filed || value % 4 === 0 ? null : orderOf(company, vendor, value),
    attachment: attachmentOf(company, row),
  };
}

function orderOf(company: Company, vendor: Vendor, value: number): OrderFacts | null {
  const { orders } = company.sizes;
  for (let i = 0; i < Math.min(TRIES, orders); i += 1) {
    const facts = orderFacts(company, { number: 1 + ((value + i) % orders), revision: 0, insertedAt: undefined });
    if (facts.vendor.id === vendor.id) return facts;
  }
  return null;
}

/** A document stands right behind the mail that it came with. */
function attachmentOf(company: Company, row: number): number | null {
  const next = row + 1;
  if (next > company.sizes.ingested || branchOf(next) !== "document") return null;
  const { value } = feedFacts(company, { number: next, revision: 0, insertedAt: undefined, rank: 0 });
  return value % 2 === 1 ? next : null;
}

/** The document that came with a message, as the intake feed shows it. */
export function attachedDocument(company: Company, facts: MailFacts): Row | null {
  if (facts.attachment === null) return null;
  const entry = { number: facts.attachment, revision: 0, insertedAt: undefined, rank: 0 };
  return { ...feedRow(company, entry), id: feedKey(company, facts.attachment) };
}
