import { type Kysely, sql } from "kysely";
import { temporaryName } from "../sql_fragments.ts";
import type { StateTables } from "../state_tables.ts";
import type { LoadTarget } from "./load_target.ts";

/** The temporary tables that `compare` leaves for `applyDiff`. */
export interface TemporaryNames {
  readonly staged: string;
  readonly changed: string;
  /** Live rows that a whole scan did not show; `is_gone`: those of them that are to be soft-deleted. */
  readonly missing: string;
  /** Values that live rows carry, of a detail that is asked for by them. */
  readonly parents: string;
  /** Of a detail with many rows an answer: which of the staged rows each parent's last answer is. */
  readonly answers: string;
}

export function temporaryNames({ company, stream }: LoadTarget): TemporaryNames {
  const name = (purpose: string) => temporaryName(purpose, company, stream);
  return {
    staged: name("staged"),
    changed: name("changed"),
    missing: name("missing"),
    parents: name("parents"),
    answers: name("answers"),
  };
}

/** Drops the ones that a diff of this kind makes: each statement for nothing costs DuckDB most of a millisecond. */
export async function dropTemporary(db: Kysely<StateTables>, target: LoadTarget): Promise<void> {
  const { staged, changed, missing, parents, answers } = temporaryNames(target);
  const made = [staged, changed, missing];
  if (target.parent?.kind === "values") made.push(parents);
  if (target.many === true) made.push(answers);
  await sql
    .join(
      made.map(name => sql`drop table if exists ${sql.id(name)}`),
      sql`; `,
    )
    .execute(db);
}
