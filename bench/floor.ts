import { Pool } from "undici";

/*
 * What no sync can go below: every page of /items fetched and parsed, one after the other, the next one asked for as soon
 * as its cursor is known. Run as `floor.js <origin> <key>`; prints what it read as JSON.
 */

interface Page {
  readonly data: { readonly items: readonly unknown[] };
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string | null };
}

interface Fetched {
  readonly page: Page;
  readonly bytes: number;
}

const [origin = "", key = ""] = process.argv.slice(2);
const pool = new Pool(origin, { connections: 1 });

async function fetchPage(cursor: string | null): Promise<Fetched> {
  const path = `/api/v1/items?limit=100${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
  const { statusCode, body } = await pool.request({ path, method: "GET", headers: { authorization: `Bearer ${key}` } });
  if (statusCode !== 200) throw new Error(`${path}: expected status 200, got ${statusCode}`);
  const bytes = Buffer.from(await body.arrayBuffer());
  return { page: JSON.parse(bytes.toString("utf8")) as Page, bytes: bytes.length };
}

const read = { rows: 0, requests: 0, bytes: 0 };
let coming: Promise<Fetched> | undefined = fetchPage(null);
while (coming !== undefined) {
  const fetched: Fetched = await coming;
  const { page, bytes } = fetched;
  const { has_more, next_cursor } = page.pagination;
  coming = has_more ? fetchPage(next_cursor) : undefined;
  read.rows += page.data.items.length;
  read.requests += 1;
  read.bytes += bytes;
}
await pool.close();
process.stdout.write(JSON.stringify(read));
