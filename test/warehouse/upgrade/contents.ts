import { versionsName } from "../../../src/warehouse/ddl/as_of.ts";
import { streams } from "../../../streams/index.ts";
import type { View } from "../../support/warehouse.ts";

/** A row as text, by column. */
type Row = Readonly<Record<string, string | null>>;

/** Every row of a warehouse's tables, by table and key; the versions of a row are numbered from the oldest. */
export type Contents = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/** Reads all tables of schema procurement that are there. */
export async function contentsOf({ query }: View): Promise<Contents> {
  const columns = await query<{ table: string; column: string }>(
    `select table_name as "table", column_name as "column" from information_schema.columns c
      where table_schema = 'procurement' and exists (select 1 from information_schema.tables t
        where t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE')`,
  );
  const present = Map.groupBy(columns, ({ table }) => table);
  const all = new Map<string, Map<string, Row>>();
  for (const table of streams.flatMap(({ tables: { main, children } }) => [main, ...children])) {
    for (const name of [table.name, versionsName(table)]) {
      const own = present.get(name)?.map(({ column }) => column);
      if (own === undefined) continue;
      const texts = own.map(column => `cast("${column}" as varchar) as "${column}"`);
      const order = name === table.name ? "" : "order by _valid_from";
      const rows = await query<Row>(`select ${texts.join(", ")} from procurement.${name} ${order}`);
      const byKey = new Map<string, Row>();
      for (const row of rows) {
        const key = [row["_company"], ...table.key.map(column => row[column])].join("|");
        let nth = 1;
        while (byKey.has(`${key}#${nth}`)) nth++;
        byKey.set(`${key}#${nth}`, row);
      }
      all.set(name, byKey);
    }
  }
  return all;
}

/** How many moments of the tables' own notes lie after one. */
export function momentsAfter(contents: Contents, moment: Date): number {
  return [...contents.values()]
    .flatMap(rows => [...rows.values()])
    .flatMap(row => MOMENTS.map(name => row[name]))
    .filter(text => typeof text === "string" && Date.parse(zoned(text)) > moment.getTime()).length;
}

const MOMENTS = ["_first_seen_at", "_changed_at", "_deleted_at", "_valid_from", "_valid_to"];

/** Both databases write `2026-03-10 02:00:00+00`. */
const zoned = (text: string): string => text.replace(" ", "T").replace(/\+00$/, "Z");

/** When the upgrade ran: moments that lay in the future before it may have become its own. */
export interface Upgraded {
  readonly from: Date;
  readonly to: Date;
}

/**
 * What an upgrade has done to rows and must not, in words. It may give tables and columns that were not there, values that
 * had no place in their column, another type to a column, and a moment of its own to what was noted in the future.
 */
export function damages(before: Contents, after: Contents, upgraded: Upgraded): readonly string[] {
  const found: string[] = [];
  for (const [table, rows] of before) {
    const now = after.get(table) ?? new Map<string, Row>();
    for (const key of now.keys()) if (!rows.has(key)) found.push(`${table} ${key}: is new`);
    for (const [key, row] of rows) {
      const other = now.get(key);
      if (other === undefined) found.push(`${table} ${key}: is missing`);
      else
        found.push(
          ...damagesOf(
            row,
            other,
            after.get(table.replace(/_versions$/, ""))?.get(key.replace(/#\d+$/, "#1")),
            upgraded,
          ).map(text => `${table} ${key}: ${text}`),
        );
    }
  }
  return found;
}

function damagesOf(before: Row, after: Row, current: Row | undefined, upgraded: Upgraded): string[] {
  const problems = problemsIn(before);
  return Object.entries(before).flatMap(([column, value]) => {
    const now = after[column];
    const same =
      value === now ||
      // A line without a number gets its id when it is read again.
      (column === "_line_id" && value === null) ||
      (MOMENTS.includes(column)
        ? wasMended(value, now, upgraded)
        : column === "_problems"
          ? keepsProblems(problems, after)
          : column === "_extra"
            ? // The version that holds now says what the table says.
              before["_is_current"] === "true" && now === current?.["_extra"]
            : isSame(value, now) || (value === null && isOf(problems[column], now)));
    return same ? [] : [`${column} was ${value} and is ${now}`];
  });
}

function wasMended(before: string | null, after: string | null | undefined, { from, to }: Upgraded): boolean {
  if (typeof before !== "string" || typeof after !== "string") return false;
  const [was, is] = [before, after].map(text => Date.parse(zoned(text)));
  return was! > from.getTime() && is! >= from.getTime() && is! <= to.getTime();
}

type Problems = Readonly<Record<string, { readonly value?: unknown }>>;

const problemsIn = (row: Row): Problems => JSON.parse(row["_problems"] ?? "{}") as Problems;

/** Every problem is still there, or its value stands in its column, or it was no more than an empty text. */
function keepsProblems(before: Problems, after: Row): boolean {
  const now = problemsIn(after);
  return Object.entries(before).every(
    ([column, problem]) =>
      problem.value === "" || isOf(problem, String(now[column]?.value)) || isOf(problem, after[column]),
  );
}

const isOf = (problem: { readonly value?: unknown } | undefined, text: string | null | undefined): boolean =>
  problem !== undefined && typeof text === "string" && isSame(String(problem.value), text);

/** The same value, whichever type the column has: a text, a number, a flag, a day that may have become a moment, or JSON. */
function isSame(before: string | null, after: string | null | undefined): boolean {
  if (typeof before !== "string" || typeof after !== "string") return before === (after ?? null);
  if (before === after || before === JSON.stringify(after) || after === JSON.stringify(before)) return true;
  if (isUnwrapped(before, after)) return true;
  const numeral = /^-?\d+(\.\d+)?$/;
  if (numeral.test(before) && numeral.test(after)) return plain(before) === plain(after);
  return /^\d{4}-\d\d-\d\d$/.test(before) && after.startsWith(`${before} `);
}

/** What came as a bare value was kept in an object made of it. */
function isUnwrapped(before: string, after: string): boolean {
  if (!before.startsWith("{") || !after.startsWith('"')) return false;
  const values = Object.values(JSON.parse(before) as object);
  return values.length === 1 && JSON.stringify(values[0]) === after;
}

const plain = (numeral: string): string =>
  numeral.includes(".") ? numeral.replace(/0+$/, "").replace(/\.$/, "") : numeral;
