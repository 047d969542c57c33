import type { Table } from "../../../src/catalog/columns.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { withAdded } from "../../../src/warehouse/schema/unknown_field_columns.ts";
import type { Row, Stand } from "../scenario/stand.ts";
import { isLate } from "./catalogue.ts";

/** A row of a table as far as it matters for what may become of it. Moments are microseconds. */
export interface Kept {
  readonly key: string;
  /** The first column of the key: of a child or a detail it is the parent's. */
  readonly parent: string;
  /** What counts as a change, and what does not. */
  readonly strict: string;
  /** Columns that came later, for fields which nobody documented at first, where they hold something: each with its name, ended by U+0001. */
  readonly added: string;
  readonly soft: string;
  readonly title: string;
  /** The service's version, and how many rows it told beside this one; null where there is none. */
  readonly v: number | null;
  readonly n: number | null;
  readonly problems: boolean;
  readonly changedAt: number;
  readonly deletedAt: number | null;
  readonly firstSeenAt: number | null;
}

/** All tables of a warehouse at one moment, by name; rows by their key. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, Kept>>;

/** Reads everything of a company in one statement, so that it is what one reader would see. Undefined: there is nothing to read yet. */
export async function readTables(
  stand: Stand,
  of: "shown" | "left",
  streams: readonly Stream[],
  company: string,
  attempts = 3,
): Promise<{ tables: Tables; twice: readonly string[] } | undefined> {
  const names = await stand.look(
    of,
    "select table_name as t, column_name as c from information_schema.columns where table_schema = 'procurement'",
  );
  if (names === undefined) return undefined;
  const there = new Set(names.map(row => String(row["t"])));
  // Where titles were left out from the start there are none, and a run may have died before it made a column that it added.
  const columns = new Set(names.map(row => `${row["t"]}.${row["c"]}`));
  const all = streams.flatMap(({ tables }) => [tables.main, ...tables.children]).filter(table => there.has(table.name));
  const tables = new Map<string, Map<string, Kept>>(all.map(table => [table.name, new Map()]));
  const twice: string[] = [];
  if (all.length === 0) return { tables, twice };
  const rows = await stand.look(of, all.map(table => selectOf(stand, table, columns, company)).join("\nunion all "));
  if (rows === undefined) {
    // A run under way changed a table between the two looks.
    if (attempts > 1) return readTables(stand, of, streams, company, attempts - 1);
    throw new Error("expected the tables' columns to be there, but every look at them missed some");
  }
  for (const row of rows) {
    const table = tables.get(String(row["t"]))!;
    const kept = keptOf(row);
    if (table.has(kept.key)) twice.push(`${row["t"]} ${kept.key}`);
    table.set(kept.key, kept);
  }
  return { tables, twice };
}

/** The streams with the columns that were added to their tables so far. */
export async function widened(stand: Stand, streams: readonly Stream[]): Promise<readonly Stream[]> {
  const there = await stand.look(
    "left",
    "select table_name as t from information_schema.tables where table_schema = '_tributary' and table_name = 'added_columns'",
  );
  if (there === undefined || there.length === 0) return streams;
  const rows =
    (await stand.look("left", "select * from _tributary.added_columns order by added_at, column_name")) ?? [];
  const added = rows.map(row => ({
    stream: String(row["stream"]),
    table: String(row["table_name"]),
    name: String(row["column_name"]),
    path: String(row["path"]).split("."),
    kind: row["kind"] === "text" ? ("text" as const) : ("json" as const),
  }));
  return streams.map(stream => withAdded(stream, added, []));
}

const micros = (value: unknown): number | null => (value === null ? null : Number(value));

function keptOf(row: Row): Kept {
  return {
    key: String(row["k"]),
    parent: String(row["p"]),
    strict: String(row["s"]),
    added: String(row["a"]),
    soft: String(row["w"]),
    title: String(row["h"]),
    v: micros(row["v"]),
    n: micros(row["n"]),
    problems: row["pr"] === true,
    changedAt: Number(row["c"]),
    deletedAt: micros(row["d"]),
    firstSeenAt: micros(row["f"]),
  };
}

function selectOf(stand: Stand, table: Table, there: ReadonlySet<string>, company: string): string {
  const micro = (name: string) =>
    stand.database === "postgres" ? `cast(extract(epoch from ${name}) * 1000000 as bigint)` : `epoch_us(${name})`;
  const text = (names: readonly string[]) =>
    names.length === 0 ? "''" : `cast(row(${names.map(name => `"${name}"`).join(", ")}) as varchar)`;
  const strict = table.columns
    .filter(column => !column.volatile && column.name !== "title" && !isLate(column))
    .map(column => column.name);
  const added = table.columns
    .filter(column => isLate(column) && there.has(`${table.name}.${column.name}`))
    .map(({ name }) => `coalesce('${name}=' || cast("${name}" as varchar) || chr(1), '')`);
  const soft = table.columns.filter(column => column.volatile).map(column => column.name);
  const has = (name: string) => table.columns.some(column => column.name === name);
  const number = table.columns.find(column => column.name.startsWith("n_"))?.name;
  const main = table.path.length === 0;
  return `select '${table.name}' as t, ${text(table.key)} as k, cast("${table.key[0]}" as varchar) as p, ${text(strict)} as s,
    ${added.length === 0 ? "''" : added.join(" || ")} as a,
    ${text(soft)} as w, ${!has("title") ? "''" : there.has(`${table.name}.title`) ? `cast("title" as varchar)` : "cast(null as varchar)"} as h, ${has("v") ? `cast("v" as bigint)` : "cast(null as bigint)"} as v,
    ${number === undefined ? "cast(null as bigint)" : `cast("${number}" as bigint)`} as n, _problems is not null as pr,
    ${micro("_changed_at")} as c, ${micro("_deleted_at")} as d, ${main ? micro("_first_seen_at") : "cast(null as bigint)"} as f
    from procurement.${table.name} where _company = '${company}'`;
}
