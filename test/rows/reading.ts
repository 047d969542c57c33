import type { Formats } from "../../src/rows/moment.ts";
import { parseJson } from "../../src/source/body.ts";
import { encode } from "./store.ts";

/** A row as the service would write it, through the client's own parser. */
export const row = (json: string) => parseJson(Buffer.from(json)) as Record<string, unknown>;

/** The main row's fields as CSV, `_extra` and `_problems` included. */
export async function line(json: string, formats?: Formats): Promise<string[]> {
  const { batch } = await encode([row(json)], formats);
  return fields(batch.main.bytes.toString("utf8")).slice(1);
}

/** The fields of a line of CSV; NULL for one with nothing in it. */
export function fields(csv: string): string[] {
  const found: string[] = [];
  for (const match of csv.trimEnd().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/gs))
    found.push(match[1] === undefined ? `${match[2] === "" ? "NULL" : match[2]}` : match[1].replaceAll('""', '"'));
  return found;
}

export const columns = [
  "id",
  "text",
  "money",
  "count",
  "score",
  "flag",
  "day",
  "at",
  "json",
  "amount",
  "note",
  "extra",
  "problems",
];

/** What a column of the row holds, and the row's problems. */
export async function value(column: string, json: string, formats?: Formats) {
  const all = await line(`{"id":"k",${json}}`, formats);
  const problems = all.at(-1) === "NULL" ? undefined : JSON.parse(all.at(-1)!);
  return { value: all[columns.indexOf(column)], problem: problems };
}
