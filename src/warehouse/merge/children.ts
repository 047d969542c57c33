import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import { beginVersions, endVersions } from "../history/row_versions.ts";
import { anyDiffers, assignments, columnList, equal, tableRef, timestampOf } from "../sql_fragments.ts";
import type { Publishing } from "./publishing.ts";

/**
 * The child rows of every row that changed, matched by position: equal ones keep their `_changed_at`, differing and new
 * ones get this publish's timestamp, surplus ones `_deleted_at`.
 */
export async function publishChildren(publishing: Publishing, child: Table): Promise<void> {
  const { trx, destination, target, names } = publishing;
  const { company, tables, stage } = target;
  const key = tables.main.key;
  const own = stageColumns(child);
  const written = [...own.map(column => column.name), "_extra", "_problems"];
  const stable = own.filter(column => !column.volatile).map(column => column.name);
  const changeable = [...own.filter(column => column.volatile).map(column => column.name), "_extra", "_problems"];
  const table = tableRef(destination, child);
  const timestamp = timestampOf(publishing);
  const changed = sql`(select * from ${sql.id(names.changed)} where op <> 'm')`;
  const same = sql`t._company = ${company} and ${equal("t", "c", key)}`;

  const known = await sql`select 1 as one from ${table} t, ${changed} c where ${same} limit 1`.execute(trx);
  const insert = sql`insert into ${table} (_company, ${columnList(key)}, _index, ${columnList(written)}, _changed_at)
    select ${company}, ${columnList(key, "c")}, r._index, ${columnList(written, "r")}, ${timestamp}
    from ${changed} c join ${stage.rows(child)} r on r._seq = c._seq`;
  if (known.rows.length === 0) {
    await insert.execute(trx);
    await beginVersions(publishing, tables, child, sql`${changed} c`, same);
    return;
  }
  await sql`update ${table} t set _deleted_at = ${timestamp}, _changed_at = ${timestamp} from ${changed} c
    where ${same} and t._deleted_at is null
      and not exists (select 1 from ${stage.rows(child)} r where r._seq = c._seq and r._index = t._index)`.execute(trx);
  await sql`update ${table} t set ${assignments(changeable, "r")}
    from ${changed} c join ${stage.rows(child)} r on r._seq = c._seq
    where ${same} and t._index = r._index and t._deleted_at is null
      and not ${anyDiffers("r", "t", stable)} and ${anyDiffers("r", "t", changeable)}`.execute(trx);
  await sql`delete from ${table} t using ${changed} c join ${stage.rows(child)} r on r._seq = c._seq
    where ${same} and t._index = r._index and (t._deleted_at is not null or ${anyDiffers("r", "t", stable)})`.execute(
    trx,
  );
  await sql`${insert} where not exists (select 1 from ${table} t where ${same} and t._index = r._index)`.execute(trx);
  const touched = sql`${changed} c join ${table} n on n._company = ${company} and ${equal("n", "c", key)}
    and n._changed_at = ${timestamp}`;
  await endVersions(publishing, tables, child, touched, sql`t._company = ${company} and ${equal("t", "n", child.key)}`);
  await beginVersions(publishing, tables, child, sql`${changed} c`, same);
}
