import type { IncomingMessage } from "node:http";
import type { Page } from "../../src/source/pages.ts";
import { type Handler, json } from "./service.ts";

export const parameters = (request: IncomingMessage) => new URL(request.url ?? "", "http://h").searchParams;
export const request = { path: "/po", query: { sort_by: "a" }, limit: 100, paged: true };

/** A listing of the numbers 0 to total - 1; its cursor is the next number. */
export function numbers(total: number, options: { size?: number } = {}): Handler {
  return (response, incoming) => {
    const query = parameters(incoming);
    const from = Number(query.get("cursor") ?? 0);
    const limit = Math.min(Number(query.get("limit") ?? 25), options.size ?? 100);
    const until = Math.min(total, from + limit);
    const data = Array.from({ length: until - from }, (_, index) => from + index);
    const more = until < total;
    json(response, 200, { data, pagination: { next_cursor: more ? String(until) : null, has_more: more, limit } });
  };
}

/** The same as text, where rows are no JSON by this. */
export function spoiltNumbers(total: number, spoil: (row: number) => string): Handler {
  return (response, incoming) => {
    const query = parameters(incoming);
    const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit"))];
    const until = Math.min(total, from + limit);
    const rows = Array.from({ length: until - from }, (_, index) => spoil(from + index));
    const pagination = { next_cursor: until < total ? String(until) : null, has_more: until < total, limit };
    response.end(`{"data":{"rows":[${rows}]},"pagination":${JSON.stringify(pagination)},"meta":{}}`);
  };
}

export async function collect(pages: AsyncGenerator<Page>): Promise<Page[]> {
  const all: Page[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
