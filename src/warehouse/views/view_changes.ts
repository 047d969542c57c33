import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import type { Catalog } from "../ddl/database_catalog.ts";
import { viewGrants } from "../ddl/grants.ts";
import type { Dialect } from "../dialect.ts";
import { ensureViews } from "./ensure.ts";
import { presentViews } from "./present_views.ts";
import { tablesIn, type ViewedTables } from "./view.ts";
import { isDone, planViews } from "./view_plan.ts";

/** What is to be done to the views beside the tables that are there or being made. */
export interface ViewChanges {
  readonly isDone: boolean;
  readonly warnings: readonly Message[];
  ensure(trx: Db): Promise<{ readonly done: readonly string[]; readonly warnings: readonly Message[] }>;
}

const nothing: ViewChanges = { isDone: true, warnings: [], ensure: async () => ({ done: [], warnings: [] }) };

/** Looks at the views; `catalog` is what was there before the tables were changed. */
export async function planViewChanges(
  db: Db,
  dialect: Dialect,
  order: ViewedTables,
  catalog: Catalog,
): Promise<ViewChanges> {
  const { views, stateSchema } = order;
  const grantSelectTo = dialect.isServer ? order.grantSelectTo : [];
  if (views === undefined) return nothing;
  const present = await presentViews(db, dialect, views.schema);
  const compile = (fragment: { compile(db: Db): { readonly sql: string } }) => fragment.compile(db).sql;
  const plan = planViews(dialect, order, views, { catalog, made: tablesIn(order), present }, compile);
  const existing = [...plan.wanted.keys()].filter(name => present.names.get(name) === true);
  const isReady = isDone(plan) && (await viewGrants(db, grantSelectTo, views.schema, existing)).length === 0;
  return {
    isDone: isReady,
    warnings: plan.warnings,
    async ensure(trx) {
      const place = { schema: views.schema, stateSchema };
      const { done, warnings, visible } = await ensureViews(trx, dialect, place, plan, present);
      for (const grant of await viewGrants(trx, grantSelectTo, views.schema, visible)) await grant.execute(trx);
      return { done, warnings };
    },
  };
}
