import { sql, type Transaction } from "kysely";
import type { Publication, TemporaryNames } from "./comparison.ts";
import type { Destination } from "./destination.ts";
import type { Fragment } from "./fragments.ts";
import { liveParents, type ValueParents } from "./parents.ts";
import type { StateTables } from "./state_tables.ts";

type Db = Transaction<StateTables>;

/** Keeps the values that live rows carry beside the comparison: `parent_key`, `parent_hash`. */
export async function stageParents(
  db: Db,
  destination: Destination,
  company: string,
  parents: ValueParents,
  name: string,
): Promise<Fragment> {
  await sql`create temporary table ${sql.id(name)} as select parent_key, parent_hash
    from ${liveParents(destination, company, parents)} p`.execute(db);
  return sql.id(name);
}

/**
 * The keys of each parent's last complete answer, and beside them which these are: `parent_key`, `before`, `last`, `whole`.
 * An answer's rows are the ones that arrived between the outcome before its own and its own; rows without an outcome are
 * the beginning of an answer that was never read to its end.
 */
export async function stageAnswers(
  db: Db,
  { stage, tables }: Publication,
  names: Pick<TemporaryNames, "answers" | "staged">,
): Promise<Fragment> {
  const answers = sql.id(names.answers);
  await sql`create temporary table ${answers} as
    select o.parent_key, b.before, o._seq as last, o.reason is null as whole
    from (select _seq, parent_key, reason, row_number() over (partition by parent_key order by _seq desc) as nth
      from ${stage.outcomes()} x where outcome = 'ok') o
    join (select _seq, coalesce(lag(_seq) over (order by _seq), 0) as before
      from (select distinct _seq from ${stage.outcomes()} y) d) b on b._seq = o._seq
    where o.nth = 1`.execute(db);
  const staged = sql.id(names.staged);
  await sql`create temporary table ${staged} as select k.* from ${stage.keys()} k join ${answers} a
    on a.parent_key = cast(${sql.id("k", tables.main.key[0]!)} as varchar) and k._seq > a.before and k._seq <= a.last`.execute(
    db,
  );
  return staged;
}
