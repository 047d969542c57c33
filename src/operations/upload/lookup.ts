import type { UploadFlow } from "../../catalog/stream.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import { onlyArray } from "../../rows/only_array.ts";
import { isObject } from "../../rows/reject.ts";
import type { Api } from "../../source/api.ts";
import { readPages } from "../../source/pages.ts";

type Row = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
/** Of a list that is newest first, or begins the day before: whatever is looked for stands on one of them, or is not waited for. */
const MOST_PAGES = 20;

/** The feed's rows since the day before a moment, which the service may tell in another zone. */
export async function* feedRows(
  api: Api,
  { feed }: UploadFlow,
  since: string,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const from = new Date(Date.parse(since) - DAY_MS).toISOString().slice(0, 10);
  yield* rowsOf(
    api,
    { path: feed.path, query: { [feed.from]: from } },
    data => isObject(data) && data[feed.rows],
    signal,
  );
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
  const { feed, list } = flow;
  const inFeed = async () => {
    for await (const row of feedRows(api, flow, since, signal)) note(row[feed.name], row[feed.id]);
  };
  const inList = async () => {
    // Nothing is documented of these rows but the identifier that their own path takes.
    for await (const row of rowsOf(api, { path: list, query: {} }, atOnlyArray, signal))
      for (const value of Object.values(row)) note(value, row["doc_id"]);
  };
  for (const { reason } of (await Promise.allSettled([inFeed(), inList()])).filter(each => each.status === "rejected"))
    if (!(reason instanceof ApiError)) throw reason;
  return found;
}

/** What `work` answers; undefined where the service doesn't, for a reason that others need not meet. */
export async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || meetsOthers(error)) throw error;
    return undefined;
  }
}

async function* rowsOf(
  api: Api,
  listing: { readonly path: string; readonly query: Readonly<Record<string, string>> },
  rowsIn: (data: unknown) => unknown,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let pages = 0;
  for await (const { data } of readPages(api, { ...listing, limit: 100, paged: true, signal })) {
    const rows = rowsIn(data);
    for (const row of Array.isArray(rows) ? rows : []) if (isObject(row)) yield row;
    if (++pages === MOST_PAGES) return;
  }
}

const atOnlyArray = (data: unknown): unknown =>
  onlyArray(data)?.reduce<unknown>((value, field) => (isObject(value) ? value[field] : undefined), data);
