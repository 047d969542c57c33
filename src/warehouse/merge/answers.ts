import { sql } from "kysely";
import type { Fragment, Trx } from "../database.ts";
import type { Destination, Stage } from "../destination.ts";
import { liveParents, presentParents } from "../details/parents.ts";
import { columnList, countOf, equalPairs, rowStateRef } from "../sql_fragments.ts";
import type { Diff, LoadTarget, Publishing, TemporaryNames } from "./load_target.ts";

/** Whether the parent of a staged row `s` is live, as a condition; values that rows carry are kept beside the diff for it. */
export async function aliveRows(
  db: Trx,
  destination: Destination,
  { parent, company }: LoadTarget,
  names: Pick<TemporaryNames, "parents">,
): Promise<Fragment> {
  if (parent === undefined) return sql`true`;
  if (parent.kind === "rows")
    return sql`exists (select 1 from ${rowStateRef(destination, parent.tables.main)} p
      where p._company = ${company} and p.deleted_at is null and ${equalPairs("s", "p", parent.on)})`;
  const present = await presentParents({ ...destination, db }, parent);
  const values = sql.id(names.parents);
  await sql`create temporary table ${values} as select parent_key, parent_hash
    from ${liveParents(destination, company, present)} p`.execute(db);
  return sql`exists (select 1 from ${values} p where p.parent_key = ${sql.id("s", parent.own)})`;
}

/** The last outcome of each parent: a run that goes on with a stage may have asked again for what it has. */
export const lastOutcomes = (stage: Stage): Fragment => sql`(select * from (
  select o.*, row_number() over (partition by o.parent_key order by o._seq desc) as nth from ${stage.outcomes()} o) r
  where nth = 1)`;

/**
 * The keys of each parent's answer, and beside them which these are: `parent_key`, `before`, `last`, `whole`. It has none
 * when it was last asked for in vain: its rows stay as they are then, and those of two answers would stand side by side.
 * An answer's rows are the ones that arrived between the outcome before its own and its own; rows without an outcome are
 * the beginning of an answer that was never read to its end.
 */
export async function stageAnswers(
  db: Trx,
  { stage, tables }: LoadTarget,
  names: Pick<TemporaryNames, "answers" | "staged">,
): Promise<Fragment> {
  const answers = sql.id(names.answers);
  await sql`create temporary table ${answers} as
    select o.parent_key, b.before, o._seq as last, o.reason is null as whole
    from ${lastOutcomes(stage)} o
    join (select _seq, coalesce(lag(_seq) over (order by _seq), 0) as before
      from (select distinct _seq from ${stage.outcomes()} y) d) b on b._seq = o._seq
    where o.outcome = 'ok'`.execute(db);
  const staged = sql.id(names.staged);
  await sql`create temporary table ${staged} as select k.* from ${stage.keys()} k join ${answers} a
    on a.parent_key = cast(${sql.id("k", tables.main.key[0]!)} as varchar) and k._seq > a.before and k._seq <= a.last`.execute(
    db,
  );
  return staged;
}

/** Staged rows that count for nothing: a later answer replaces them, or their own was never complete. */
export async function countSurplus(db: Trx, keys: Fragment, { stage, tables }: LoadTarget): Promise<number> {
  const distinct = sql`(select distinct ${columnList(tables.main.key, "k")} from ${keys} k) d`;
  return stage.staged - (await countOf(db, distinct));
}

/** Takes the rows `c` that meet a condition out of the diff, as if they had never come: they count as repeated. `staged`: all rows that came. */
export async function withhold(
  { trx, names }: Pick<Publishing, "trx" | "names">,
  condition: Fragment,
  diff: Diff,
  staged: { readonly rows: string; readonly key: readonly string[] } | undefined,
): Promise<Diff> {
  const changed = sql.id(names.changed);
  const { rows } = await sql<{ op: string; n: number }>`select c.op, count(*) as n from ${changed} c where ${condition}
    group by c.op`.execute(trx);
  const of = (...ops: string[]) => rows.filter(row => ops.includes(row.op)).reduce((sum, row) => sum + row.n, 0);
  const answered =
    staged === undefined
      ? of("i", "u", "r", "v", "s", "m")
      : await countOf(
          trx,
          sql`(select distinct ${columnList(staged.key, "c")} from ${sql.id(staged.rows)} c where ${condition}) d`,
        );
  await sql`delete from ${changed} c where ${condition}`.execute(trx);
  return {
    ...diff,
    distinct: diff.distinct - answered,
    inserted: diff.inserted - of("i"),
    updated: diff.updated - of("u", "r"),
    refreshed: diff.refreshed - of("v", "s"),
    touched: diff.touched - of("i", "u", "r", "v", "s", "m"),
  };
}
