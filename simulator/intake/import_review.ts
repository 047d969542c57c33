import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import type { World } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { noFaults } from "../faults.ts";
import { pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";

const SINKS = ["columns", "sheets", "files"] as const;
type Sink = (typeof SINKS)[number];
const MOST = 240;

function sinkOf(number: number): Sink {
  return SINKS[number % SINKS.length] ?? "files";
}

/** How many items are parked to begin with. */
export function parkedCount(company: Company): number {
  const { ingested } = company.sizes;
  return ingested === 0 ? 0 : Math.min(MOST, Math.max(3, Math.ceil(ingested / 15)));
}

function observedAt(company: Company, entry: Entry): number {
  const value = hash(company.seed, DRAWS.parked, entry.number);
  return entry.insertedAt ?? company.anchorDay * DAY_MS - (value % (30 * DAY_MS)) - 1;
}

function isSettled(company: Company, { number, insertedAt }: Entry): boolean {
  return insertedAt === undefined && hash(company.seed, DRAWS.parked, number, 1) % 6 === 0;
}

export function parkedFamily(company: Company): Family {
  return {
    path: "/import-review/parked",
    keyField: "item_id",
    key: number => `PRK-${number}`,
    number: key => (/^PRK-[1-9]\d{0,14}$/.test(key) ? Number(key.slice(4)) : Number.NaN),
    row: entry => parkedRow(company, entry),
    ranks: atTheHead,
  };
}

function parkedRow(company: Company, entry: Entry): Row {
  const { number, revision } = entry;
  const v = new Values(hash(company.seed, DRAWS.parked, number, 2));
  const at = observedAt(company, entry);
  const title = v.maybe(`Spalte „Preis/${number}“ unklar`);
  return {
    item_id: `PRK-${number}`,
    sink: sinkOf(number),
    observed_at: v.maybe(v.moment(at)),
    title: revision > 0 ? `Looked at again (${revision})` : title,
    detail: v.pick<Row>([{}, { header: "Preis", samples: ["1,20", 3] }]),
    source: { doc_id: `IMP-${number * 10 + 4}`, sheet: v.maybe("Tabelle 1") },
    first_seen_at: v.maybe(v.moment(at - 3_600_000)),
    settled_at: isSettled(company, entry) ? v.moment(at + DAY_MS) : null,
  };
}

/** /import-review: what is parked, and how much of it. */
export function importReviewRoutes({ company, mode }: World, source: Source): Route[] {
  const entries = (): Entry[] => [...source.collection.walk(Number.NEGATIVE_INFINITY)];
  const open = (): Entry[] => entries().filter(entry => !isSettled(company, entry));
  const waiting = (entry: Entry, days: number): boolean =>
    observedAt(company, entry) < (company.today() - days) * DAY_MS;
  const bySink = (): Row => {
    const counts: Record<string, { open: number; over_7d: number; edits: number }> = {};
    for (const entry of entries()) {
      const sink = sinkOf(entry.number);
      counts[sink] ??= { open: 0, over_7d: 0, edits: 0 };
      counts[sink].edits += entry.revision;
      if (isSettled(company, entry)) continue;
      counts[sink].open += 1;
      if (waiting(entry, 7)) counts[sink].over_7d += 1;
    }
    return counts;
  };
  const census = () => {
    const all = open();
    const oldest = Math.min(...all.map(entry => observedAt(company, entry)));
    return {
      by_sink: bySink(),
      open_total: all.length,
      over_7d_total: all.filter(entry => waiting(entry, 7)).length,
      unsettled: {
        total: all.length,
        over_1d: all.filter(entry => waiting(entry, 1)).length,
        oldest_at: all.length === 0 ? null : new Date(oldest).toISOString(),
      },
    };
  };
  const itemsIn = (sink: Sink): Row[] =>
    open()
      .filter(entry => sinkOf(entry.number) === sink)
      .slice(0, 20)
      .map(entry => source.row(entry, noFaults()))
      .map(row => ({ item_id: row["item_id"], title: row["title"] }));
  return [
    { template: "/import-review/census", answer: () => ({ data: census() }) },
    {
      template: "/import-review/parked",
      answer: () => {
        const parked = Object.fromEntries(SINKS.map(sink => [sink, { items: itemsIn(sink) }]));
        return { data: { ...parked, census: census() } };
      },
    },
    {
      template: "/import-review/parked/{sink}",
      answer: request => {
        const sink = request.params["sink"] ?? "";
        if (!SINKS.some(known => known === sink)) throw notFound(`Sink '${sink}'`);
        const page = pageOf(source, request, mode, { entry: entry => sinkOf(entry.number) === sink });
        return answerOf({ items: page.rows }, page);
      },
    },
  ];
}
