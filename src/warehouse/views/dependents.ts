import type { Db } from "../database.ts";
import type { Dialect, Named } from "../dialect.ts";

/** The views that read something, over other views too: the names of ours, and the rest as schema.name. */
export interface Dependents {
  readonly ours: readonly string[];
  readonly foreign: readonly string[];
}

export async function dependentsOf(
  db: Db,
  dialect: Dialect,
  schema: string,
  names: readonly string[],
  isOurs: (view: Named) => boolean,
): Promise<Dependents> {
  const found = await dialect.readersOf(db, schema, names);
  return {
    ours: found.filter(isOurs).map(({ name }) => name),
    foreign: found.filter(view => !isOurs(view)).map(view => `${view.schema}.${view.name}`),
  };
}
