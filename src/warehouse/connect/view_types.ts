import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { openEmpty } from "../duckdb/session/session.ts";
import { ddlScript, viewsOf } from "../schema/ddl_script.ts";
import type { TableOrder } from "../schema/tables.ts";
import type { ViewOrder } from "../views/view.ts";

/**
 * The columns' types of views, as DuckDB calls them, by the view's name; without views that cannot be made of these tables.
 * Everything is made in memory for it, and nothing is connected to.
 */
export async function viewTypes(
  order: TableOrder & { readonly views: ViewOrder },
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const { views, ...tables } = order;
  using session = await openEmpty({ memoryLimitMb: 256, threads: 1, spill: "", spillsInPrivate: true });
  const { connection } = session;
  await connection.run(ddlScript(duckdbDialect, tables));
  await connection.run("create schema views_of_it");
  for (const { name, select } of viewsOf(duckdbDialect, { ...order, views: { ...views, schema: "views_of_it" } }))
    await connection.run(`create view views_of_it."${name}" as ${select}`).catch(() => undefined);
  const described = await connection.runAndReadAll(
    "select table_name, column_name, data_type from information_schema.columns where table_schema = 'views_of_it'",
  );
  const lines = described.getRows().map(line => line.map(String) as [string, string, string]);
  return new Map(
    [...Map.groupBy(lines, ([view]) => view)].map(([view, columns]) => [
      view,
      new Map(columns.map(([, column, type]) => [column, type])),
    ]),
  );
}
