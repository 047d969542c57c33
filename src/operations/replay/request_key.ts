import type { Query } from "../../source/api.ts";

/** What a request asks for: its path and query, whatever order its parameters have and however many rows a page may hold. */
export function requestKey(path: string, query: Query): string {
  const asked = Object.entries(query).filter(([name]) => name !== "limit");
  return JSON.stringify([path, ...asked.map(([name, value]) => [name, String(value)]).sort()]);
}
