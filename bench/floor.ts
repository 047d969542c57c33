import { Pool } from "undici";

/*
 * What no sync can go below: every page of the lists fetched and parsed, one after the other, the next one asked for as soon
 * as its cursor is known; then, if asked for, the details of every row of the first list. Run as
 * `floor.js <origin> <key> <order>`; prints what it read as JSON.
 */

/** `details` is a path with `{}` for the value of the row's field `key`. */
export interface FloorOrder {
  readonly lists: readonly string[];
  /** All lists at once. */
  readonly sideBySide?: true;
  readonly details?: { readonly path: string; readonly key: string; readonly inFlight: number };
}

type Row = Record<string, unknown>;

interface Page {
  readonly data: Readonly<Record<string, unknown>>;
  readonly pagination?: { readonly has_more: boolean; readonly next_cursor: string | null };
}

const [origin = "", key = "", given = "{}"] = process.argv.slice(2);
const { lists, sideBySide, details } = JSON.parse(given) as FloorOrder;
const pool = new Pool(origin, { connections: details?.inFlight ?? (sideBySide === true ? lists.length : 1) });
const read = { rows: 0, requests: 0, bytes: 0 };

async function fetchPage(path: string): Promise<Page> {
  const headers = { authorization: `Bearer ${key}` };
  const { statusCode, body } = await pool.request({ path: `/api/v1${path}`, method: "GET", headers });
  if (statusCode !== 200) throw new Error(`${path}: expected status 200, got ${statusCode}`);
  const bytes = Buffer.from(await body.arrayBuffer());
  read.requests += 1;
  read.bytes += bytes.length;
  return JSON.parse(bytes.toString("utf8")) as Page;
}

const rowsOf = ({ data }: Page) => (Object.values(data).find(value => Array.isArray(value)) ?? []) as readonly Row[];

async function readList(path: string, keys: string[] | undefined, field: string): Promise<void> {
  const pageAt = (cursor: string | null) =>
    fetchPage(`${path}?limit=100${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
  let coming: Promise<Page> | undefined = pageAt(null);
  while (coming !== undefined) {
    const page: Page = await coming;
    coming = page.pagination?.has_more === true ? pageAt(page.pagination.next_cursor) : undefined;
    const rows = rowsOf(page);
    read.rows += rows.length;
    if (keys !== undefined) for (const row of rows) keys.push(String(row[field]));
  }
}

const keys: string[] | undefined = details === undefined ? undefined : [];
const reading: Promise<void>[] = [];
for (const [i, list] of lists.entries()) {
  reading.push(readList(list, i === 0 ? keys : undefined, details?.key ?? ""));
  if (sideBySide !== true) await reading[i];
}
await Promise.all(reading);
if (details !== undefined && keys !== undefined) {
  const fetching = async () => {
    for (let value = keys.pop(); value !== undefined; value = keys.pop())
      await fetchPage(details.path.replace("{}", encodeURIComponent(value)));
  };
  await Promise.all(Array.from({ length: details.inFlight }, fetching));
}
await pool.close();
process.stdout.write(JSON.stringify(read));
