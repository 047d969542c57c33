import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import type { Db, Fragment } from "../database.ts";
import type { Stage } from "../destination.ts";
import { SERVER } from "./place.ts";

/** Rows of the catalog's PostgreSQL, as a FROM item of the lake's session. */
export const served = (query: string): Fragment =>
  sql`(select * from postgres_query(${sql.lit(SERVER)}, ${sql.lit(query)}))`;

/** A stage of PostgreSQL's as DuckDB reads it. */
export function servedStage(stage: Stage, db: Db): Stage {
  let wanted: readonly number[] | undefined;
  const all = (relation: Fragment) => `select * from ${relation.compile(db).sql}`;
  return {
    get record() {
      return stage.record;
    },
    get staged() {
      return stage.staged;
    },
    async begin(record) {
      wanted = undefined;
      await stage.begin(record);
    },
    async append(batch, record) {
      wanted = undefined;
      await stage.append(batch, record);
    },
    keys: () => served(all(stage.keys())),
    rows(table: Table) {
      const some = wanted === undefined ? "" : ` where _seq = any('{${wanted.join(",")}}'::bigint[])`;
      const rows = served(`${all(stage.rows(table))}${some}`);
      // Joined by whole numbers DuckDB lays out a place for each between the least and the greatest, of all columns: 900 MB for a million.
      return sql`(select * replace (cast(_seq as double) as _seq) from ${rows})`;
    },
    async only(sequences) {
      wanted = sequences;
    },
    outcomes: () => served(all(stage.outcomes())),
    async drop() {
      wanted = undefined;
      await stage.drop();
    },
  };
}
