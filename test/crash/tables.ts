import type { Warehouse } from "./warehouse.ts";

/** Rows of each table as sorted lines; of moments only whether they are set. */
export type Tables = ReadonlyMap<string, readonly string[]>;

const DATA = "procurement";
const STATE = "_tributary";

/** Moments that depend on when a run was made. */
const whenItRan = new Set([
  "_first_seen_at",
  "_changed_at",
  "_deleted_at",
  "first_seen_at",
  "deleted_at",
  "missing_since",
  "_valid_from",
  "_valid_to",
]);

/** What a run leaves beside the tables and must leave alike, whatever happened before; the rest tells of the runs themselves. */
const stateQueries: Readonly<Record<string, string>> = {
  details:
    "select company, stream, parent_key, cast(parent_hash as varchar), outcome, attempts from _tributary.details",
  streams: `select company, stream, table_name, "on", last_success_at is not null, complete_to is not null, rows, live_rows, details_pending
    from _tributary.streams`,
};

/** Everything that has to be the same after any sequence of crashes. */
export async function tablesOf(warehouse: Warehouse): Promise<Tables> {
  const columns = await warehouse.state(
    `select table_schema, table_name, column_name from information_schema.columns where table_schema in ('${DATA}', '${STATE}')
      order by table_schema, table_name, ordinal_position`,
  );
  const tables = Map.groupBy(columns, ([schema, table]) => `${schema}.${table}`);
  const questions = (wanted: (name: string) => boolean): Record<string, string> =>
    Object.fromEntries(
      [...tables].flatMap(([name, listed]) =>
        wanted(name)
          ? [[name, `select ${listed.map(([, , column]) => shown(String(column))).join(", ")} from ${name}`]]
          : [],
      ),
    );
  const state = { ...questions(name => name.startsWith(`${STATE}.rows_`)), ...stateQueries };
  return new Map([
    ...(await answered(
      warehouse,
      "data",
      questions(name => name.startsWith(`${DATA}.`)),
    )),
    ...(await answered(warehouse, "state", state)),
    ["stream_state", lines(await marksOf(warehouse))],
    ["tables of the state schema", [...tables.keys()].filter(name => name.startsWith(STATE)).sort()],
  ]);
}

async function answered(
  warehouse: Warehouse,
  of: "data" | "state",
  questions: Readonly<Record<string, string>>,
): Promise<[string, readonly string[]][]> {
  const answers = await warehouse.answers(of, Object.values(questions));
  return Object.keys(questions).map((name, index) => [name, lines(answers[index]!)]);
}

function shown(column: string): string {
  return whenItRan.has(column) ? `"${column}" is not null` : `cast("${column}" as varchar)`;
}

async function marksOf(warehouse: Warehouse): Promise<unknown[][]> {
  const rows = await warehouse.state("select company, stream, cast(state as varchar) from _tributary.stream_state");
  return rows.map(([company, stream, text]) => {
    const { mark, lastFullAt, lastFullPages, filterDistrusted } = JSON.parse(String(text));
    // When it was is our clock's, and another one for each run.
    return [company, stream, mark, lastFullAt !== null, lastFullPages, filterDistrusted];
  });
}

function lines(rows: readonly (readonly unknown[])[]): string[] {
  return rows.map(row => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value))).sort();
}

/** Where two warehouses differ, a few rows a table; empty when they don't. */
export function differences(expected: Tables, found: Tables): string[] {
  const names = new Set([...expected.keys(), ...found.keys()]);
  return [...names].flatMap(name => {
    const wanted = expected.get(name) ?? [];
    const came = found.get(name) ?? [];
    const missing = without(wanted, came);
    const surplus = without(came, wanted);
    if (missing.length + surplus.length === 0) return [];
    return [
      `${name}: ${missing.length} rows missing, ${surplus.length} too many`,
      ...missing.slice(0, 2).map(row => `  - ${row.slice(0, 400)}`),
      ...surplus.slice(0, 2).map(row => `  + ${row.slice(0, 400)}`),
    ];
  });
}

/** `lines` less `others`, each taken as often as it stands there. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter(line => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
