import type { UploadFlow } from "../../catalog/stream.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import { onlyArray } from "../../rows/only_array.ts";
import { isObject } from "../../rows/reject.ts";
import type { Api } from "../../source/api.ts";
import { readPages } from "../../source/pages.ts";
import { PathError } from "../../source/path.ts";

type Row = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
/** Of a list that is newest first, or begins the day before: what is looked for stands on one of them, or is not found. */
const MOST_PAGES = 20;

/** The feed's rows since the day before a moment, which the service may tell in another zone. */
export function feedRows(api: Api, { feed }: UploadFlow, since: string, signal: AbortSignal): AsyncGenerator<Row> {
  const from = new Date(Date.parse(since) - DAY_MS).toISOString().slice(0, 10);
  return rowsOf(api, { path: feed.path, query: { [feed.from]: from }, signal }, [feed.rows]);
}

/** By name the documents that bear it, in the feed since then and among the newest of the list. */
export async function documentsNamed(
  api: Api,
  flow: UploadFlow,
  names: readonly string[],
  { since, signal }: { readonly since: string; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map(names.map(name => [name, new Set<string>()]));
  const note = (name: unknown, id: unknown) => {
    if (typeof name === "string" && typeof id === "string") found.get(name)?.add(id);
  };
  const inFeed = async () => {
    for await (const row of feedRows(api, flow, since, signal)) note(row[flow.feed.name], row[flow.feed.id]);
  };
  const inList = async () => {
    // Nothing is documented of these rows but the identifier that their own path takes.
    for await (const row of rowsOf(api, { path: flow.list, query: {}, signal }))
      for (const value of Object.values(row)) note(value, row["doc_id"]);
  };
  for (const look of [inFeed, inList])
    await look().catch(error => {
      if (!(error instanceof ApiError)) throw error;
    });
  return found;
}

/** What `work` answers; undefined where the service doesn't, for a reason that others need not meet. */
export async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PathError || (error instanceof ApiError && !meetsOthers(error))) return undefined;
    throw error;
  }
}

/** Without `place` the rows stand in the only array that there is. */
async function* rowsOf(
  api: Api,
  listing: { readonly path: string; readonly query: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  place?: readonly string[],
): AsyncGenerator<Row> {
  let pages = 0;
  for await (const { data } of readPages(api, { ...listing, limit: 100, paged: true })) {
    const path = place ?? onlyArray(data) ?? [];
    const rows = path.reduce<unknown>((value, field) => (isObject(value) ? value[field] : undefined), data);
    for (const row of Array.isArray(rows) ? rows : []) if (isObject(row)) yield row;
    if (++pages === MOST_PAGES) return;
  }
}
