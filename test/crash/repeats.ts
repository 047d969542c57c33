import type { RequestEntry } from "../../simulator/simulator.ts";
import type { Warehouse } from "./warehouse.ts";

/** Requests that both a killed run and the next one were answered, of streams that the killed one had not published. */
export interface Repeats {
  readonly requests: number;
  /** Rows of pages, and details. */
  readonly rows: number;
  /** How long before the last request of the killed run the earliest of them was, in ms. */
  readonly ms: number;
  readonly paths: readonly string[];
}

export const noRepeats: Repeats = { requests: 0, rows: 0, ms: 0, paths: [] };

const lists: Readonly<Record<string, string>> = {
  purchase_orders: "/po",
  invoices: "/reconciliation",
  items: "/items",
  findings: "/findings",
  ingested: "/ingested",
};
const PAGE_ROWS = 100;

/** The worst of the streams: each has a batch of its own. `killed` and `next` are the requests of the two runs. */
export async function repeatsOf(
  warehouse: Warehouse,
  killed: readonly RequestEntry[],
  next: readonly RequestEntry[],
): Promise<Repeats> {
  const published = await publishedByKilled(warehouse);
  const complete = new Set(Object.entries(lists).flatMap(([stream, path]) => (published.has(stream) ? [path] : [])));
  const again = new Set(next.filter(entry => entry.status === 200).map(identity));
  const last = Math.max(...killed.map(entry => entry.at));
  const repeated = killed.filter(entry => {
    // The day's totals are one request without an end; a list that was published is read anew, as every night.
    if (entry.status !== 200 || entry.query["limit"] === "1" || complete.has(entry.template)) return false;
    return worth(entry) > 0 && again.has(identity(entry));
  });
  const byStream = [...Map.groupBy(repeated, entry => entry.template).values()].map(entries => ({
    requests: entries.length,
    rows: entries.reduce((sum, entry) => sum + worth(entry), 0),
    ms: last - Math.min(...entries.map(entry => entry.at)),
    paths: entries.map(identity),
  }));
  const worst = byStream.sort((a, b) => b.rows - a.rows)[0];
  return worst ?? noRepeats;
}

/** Rows that an answer brings: a page, a detail, or neither (whose key it is). */
function worth({ template }: RequestEntry): number {
  if (template.includes("{")) return 1;
  return Object.values(lists).includes(template) ? PAGE_ROWS : 0;
}

const identity = ({ path, query }: RequestEntry): string => `${path}?${new URLSearchParams(query)}`;

/** Streams that the run before the last one published. */
async function publishedByKilled(warehouse: Warehouse): Promise<ReadonlySet<string>> {
  const rows = await warehouse.state(
    `select stream from _tributary.stream_runs where inserted + updated + unchanged + repeated > 0
       and run_id = (select run_id from _tributary.runs order by started_at desc limit 1 offset 1)`,
  );
  return new Set(rows.map(row => String(row[0])));
}
