import type { Stream } from "../../src/catalog/stream.ts";
import { coreTablesOf } from "../schemas/names_file.ts";

/** The page with the catalogue's counts: `161 streams, 263 tables`, and how many of them the core becomes. */
export function withCounts(page: string, streams: readonly Stream[]): string {
  const tables = streams.reduce((sum, { tables: { children } }) => sum + 1 + children.length, 0);
  return page
    .replace(/\b\d{3,} streams\b/g, `${streams.length} streams`)
    .replace(/\b\d{3,} tables\b/g, `${tables} tables`)
    .replace(/\b(that\sbecome) \d+ (tables)\b/g, `$1 ${coreTablesOf(streams).length} $2`);
}
