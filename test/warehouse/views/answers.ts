import type { Model } from "../../../src/catalog/model.ts";
import type { MadeColumns } from "../../../src/outputs/dictionary/lineage.ts";
import type { View } from "../../support/warehouse.ts";

/** What is wrong with the models of a warehouse that has every table: columns or types other than are said, names it needs that there are not. */
export async function modelFaults(
  warehouse: View,
  models: readonly Model[],
  made: MadeColumns,
  tables: ReadonlySet<string>,
): Promise<string[]> {
  const rows = await warehouse.query<{ table_name: string; column_name: string; data_type: string }>(
    `select table_name, column_name, data_type from information_schema.columns where table_schema = 'procurement_analytics' order by table_name, ordinal_position`,
  );
  const columns = Map.groupBy(rows, row => row.table_name);
  return models.flatMap(({ name, needs, optional, key, references, columns: said }) => {
    const unknown = [...needs, ...optional, ...references.map(({ to }) => to.table)].filter(
      other => !tables.has(other) && !models.some(one => one.name === other),
    );
    const there =
      columns
        .get(name)
        ?.map(row => `${row.column_name} ${row.data_type.replace(/timestamp with time zone/i, "timestamptz")}`)
        .join(", ") ?? "no view";
    const database = warehouse.name === "postgres" ? "postgres" : "duckdb";
    const wanted = said.map(column => `${column.name} ${made[name]?.[column.name]?.[database]}`).join(", ");
    const strange = [...key, ...references.map(({ column }) => column)].filter(
      column => !said.some(each => each.name === column),
    );
    return [
      ...unknown.map(other => `${name} names ${other}, which is no table and no model`),
      ...(key.length === 0 ? [`${name} declares no key`] : []),
      ...strange.map(column => `${name} has no column ${column}, which its key or a reference names`),
      ...(there.toLowerCase() === wanted.toLowerCase()
        ? []
        : [`${name} has ${there}; its head and models/columns.json say ${wanted}`]),
    ];
  });
}

type Rows = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;

/** All rows of the models that are there: each is planned once, which takes DuckDB half a second over every table. */
export async function modelRows(
  { query }: Pick<View, "query">,
  models: readonly Model[],
  columns: (model: Model) => readonly string[] = () => ["*"],
): Promise<Rows> {
  const found = await query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'procurement_analytics'",
  );
  const there = new Set(found.map(row => row.table_name));
  const rows = new Map<string, readonly Record<string, unknown>[]>();
  for (const model of models) {
    const { name } = model;
    const some = there.has(name) ? columns(model) : [];
    if (some.length > 0) rows.set(name, await query(`select ${some.join(", ")} from procurement_analytics.${name}`));
  }
  return rows;
}

/** The columns that declarations speak of: others may hold what a database cannot count with. */
export const declaredColumns =
  (models: readonly Model[]) =>
  ({ name, key, references }: Model): readonly string[] => {
    const asked = models.flatMap(other => other.references.filter(({ to }) => to.table === name));
    const named = [...key, ...references.map(({ column }) => column), ...asked.flatMap(({ to }) => to.columns)];
    return [...new Set([...(references.length + asked.length > 0 ? ["_company"] : []), ...named])];
  };

/** What is not so of what models declare: keys that several rows have, values whose row is not there. */
export async function untrueDeclarations(
  { query }: Pick<View, "query">,
  models: readonly Model[],
  rows: Rows,
): Promise<string[]> {
  const untrue: string[] = [];
  const print = (row: Readonly<Record<string, unknown>>, columns: readonly string[]) =>
    JSON.stringify(columns.map(column => (row[column] == null ? null : String(row[column]))));
  for (const { name, key, references } of models) {
    const own = rows.get(name);
    if (own === undefined) continue;
    if (key.length > 0 && new Set(own.map(row => print(row, key))).size < own.length)
      untrue.push(`${name}: several rows have the key (${key.join(", ")})`);
    for (const { column, to } of references) {
      const values = own.filter(row => row[column] != null && row[column] !== "");
      if (values.length === 0) continue;
      const [other] = to.columns;
      const listed =
        rows.get(to.table) ?? (await query(`select _company, ${other} from procurement_analytics.${to.table}`));
      const known = new Set(listed.map(row => print(row, ["_company", other!])));
      if (values.some(row => !known.has(print(row, ["_company", column]))))
        untrue.push(`${name}.${column} has values that are not in ${to.table}.${other}`);
    }
  }
  return untrue;
}

/** What the models answer, in a form that is the same for both databases. Without what differs from run to run. */
export async function answersOf(
  warehouse: Pick<View, "query">,
  models: readonly Model[],
  known?: Rows,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = known ?? (await modelRows(warehouse, models));
  return new Map(
    [...rows]
      .filter(([name]) => name !== "run_quality" && name !== "data_freshness")
      .map(([name, own]) => [
        name,
        own.map(row => JSON.stringify(row, (_key, value: unknown) => canonical(value))).sort(),
      ]),
  );
}

/** A decimal by its value, whatever type carries it; a double to twelve digits, for sums depend on the order of rows. */
function canonical(value: unknown): unknown {
  if (typeof value === "number") return String(Number(value.toPrecision(12)));
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value))
    return value.includes(".") ? String(Number(Number(value).toPrecision(12))) : value;
  return value;
}
