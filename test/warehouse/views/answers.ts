import type { Model } from "../../../src/catalog/model.ts";
import type { View } from "../../support/warehouse.ts";

/** What is wrong with the models of a warehouse that has every table: columns other than the head says, names it needs that there are not. */
export async function modelFaults(
  warehouse: View,
  models: readonly Model[],
  tables: ReadonlySet<string>,
): Promise<string[]> {
  const rows = await warehouse.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns where table_schema = 'procurement_analytics' order by table_name, ordinal_position`,
  );
  const columns = Map.groupBy(rows, row => row.table_name);
  return models.flatMap(({ name, needs, optional, key, references, columns: said }) => {
    const unknown = [...needs, ...optional, ...references.map(({ to }) => to.table)].filter(
      other => !tables.has(other) && !models.some(one => one.name === other),
    );
    const there =
      columns
        .get(name)
        ?.map(row => row.column_name)
        .join(", ") ?? "no view";
    const wanted = said.map(column => column.name).join(", ");
    const strange = [...key, ...references.map(({ column }) => column)].filter(
      column => !said.some(each => each.name === column),
    );
    return [
      ...unknown.map(other => `${name} names ${other}, which is no table and no model`),
      ...(key.length === 0 ? [`${name} declares no key`] : []),
      ...strange.map(column => `${name} has no column ${column}, which its key or a reference names`),
      ...(there === wanted ? [] : [`${name} has ${there}; its head says ${wanted}`]),
    ];
  });
}

/** What is not so of what models declare: keys that several rows have, values whose row is not there. */
export async function untrueDeclarations({ query }: Pick<View, "query">, models: readonly Model[]): Promise<string[]> {
  const found = await query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'procurement_analytics'",
  );
  const there = new Set(found.map(row => row.table_name));
  const place = "procurement_analytics";
  const questions = models
    .filter(({ name }) => there.has(name))
    .flatMap(({ name, key, references }) => [
      ...[key]
        .filter(columns => columns.length > 0)
        .map(columns => ({
          what: `${name}: several rows have the key (${columns.join(", ")})`,
          rows: `select 1 as one from ${place}.${name} group by ${columns.join(", ")} having count(*) > 1`,
        })),
      ...references
        .filter(({ to }) => there.has(to.table))
        .map(({ column, to: { table, columns } }) => ({
          what: `${name}.${column} has values that are not in ${table}.${columns[0]}`,
          rows: `select 1 as one from ${place}.${name} m left join ${place}.${table} r
            on r._company = m._company and r.${columns[0]} = m.${column} where m.${column} <> '' and r._company is null`,
        })),
    ]);
  const untrue: string[] = [];
  for (const { what, rows } of questions) if ((await query(`${rows} limit 1`)).length > 0) untrue.push(what);
  return untrue;
}

/** What the models answer, in a form that is the same for both databases. Without what differs from run to run. */
export async function answersOf(
  warehouse: View,
  models: readonly Model[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const answers = new Map<string, readonly string[]>();
  for (const { name } of models) {
    if (name === "run_quality" || name === "data_freshness") continue;
    const rows = await warehouse.query(`select * from procurement_analytics.${name}`);
    answers.set(name, rows.map(row => JSON.stringify(row, (_key, value: unknown) => canonical(value))).sort());
  }
  return answers;
}

/** A decimal by its value, whatever type carries it; a double to twelve digits, for sums depend on the order of rows. */
function canonical(value: unknown): unknown {
  if (typeof value === "number") return String(Number(value.toPrecision(12)));
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value))
    return value.includes(".") ? String(Number(Number(value).toPrecision(12))) : value;
  return value;
}
