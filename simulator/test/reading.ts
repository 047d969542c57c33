import type { Simulator } from "../simulator.ts";

export type Json = Record<string, unknown>;

export interface Envelope {
  data: Json;
  pagination?: { next_cursor: string | null; has_more: boolean; limit: number };
  meta: Json;
}

export interface ErrorEnvelope {
  error: { code: string; message: string; details: unknown; request_id: string };
}

/** GET with the key; `path` is relative to /api/v1. */
export function ask(simulator: Simulator, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${simulator.url}/api/v1${path}`, {
    headers: { "x-api-key": simulator.key, ...headers },
    redirect: "manual",
  });
}

/** The envelope of a path that is expected to answer 200. */
export async function read(simulator: Simulator, path: string): Promise<Envelope> {
  const response = await ask(simulator, path);
  if (response.status !== 200) throw new Error(`expected 200 for ${path}, got ${response.status}`);
  return (await response.json()) as Envelope;
}

/** Where each list keeps its rows. */
export const FIELDS: Readonly<Record<string, string>> = {
  "/po": "purchase_orders",
  "/reconciliation": "invoices",
  "/items": "items",
  "/findings": "findings",
  "/ingested": "items",
};

export function rowsOf(path: string, envelope: Envelope): Json[] {
  return envelope.data[FIELDS[path.split("?")[0] ?? ""] ?? ""] as Json[];
}

/** All pages of a list, asked for one after the other; `between` runs after each page. */
export async function readAll(
  simulator: Simulator,
  path: string,
  limit: number,
  between: (page: number) => void = () => undefined,
): Promise<Json[]> {
  const rows: Json[] = [];
  let cursor = "";
  for (let page = 1; ; page += 1) {
    const envelope = await read(simulator, `${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor}`);
    rows.push(...rowsOf(path, envelope));
    between(page);
    const next = envelope.pagination?.next_cursor ?? null;
    if (next === null) return rows;
    cursor = `&cursor=${next}`;
  }
}

/** The list that shows everything of a stream. */
export const LISTS = {
  purchase_orders: "/po",
  invoices: "/reconciliation",
  items: "/items",
  findings: "/findings",
  ingested: "/ingested?include_filed=true",
} as const;

export const STREAMS = ["purchase_orders", "invoices", "items", "findings", "ingested"] as const;

/** A clock that stands still unless moved. */
export function stillClock(at = "2026-03-15T12:00:00Z"): { now: () => Date; move: (to: string) => void } {
  let moment = new Date(at);
  return {
    now: () => moment,
    move: to => {
      moment = new Date(to);
    },
  };
}
