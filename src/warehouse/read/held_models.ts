import { sql } from "kysely";
import { inDependencyOrder, type Model } from "../../catalog/model.ts";
import { type Db, quotedName, type Schemas } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { type PresentViews, presentViews } from "../views/present_views.ts";
import { attempt } from "../views/statements.ts";
import { printOf, type View, type ViewOrder } from "../views/view.ts";
import { viewOfModel } from "../views/view_plan.ts";
import { unlessBeyond } from "./question.ts";

const nothing: PresentViews = { isSchemaThere: false, names: new Map(), bare: new Set(), record: {} };

/** Models that stand in temporary tables for a while. */
export interface HeldModels {
  /** SQL over the views, written so that it reads those tables. */
  over(text: string): string;
  drop(): Promise<void>;
}

/**
 * Works models out once, for questions that read them again and again: each that is `wanted` becomes a temporary table of
 * the session, made over those before it. What cannot be made one is read as the view that it is: a view of another
 * version, one over tables that this role may not read, amounts beyond what can be counted.
 */
export async function holdModels(
  db: Db,
  dialect: Dialect,
  place: Schemas,
  order: Pick<ViewOrder, "schema" | "models" | "meanings" | "currency" | "writtenFor">,
  { wanted, questions }: { readonly wanted: readonly string[]; readonly questions: readonly string[] },
): Promise<HeldModels> {
  let present: PresentViews | undefined;
  // Whoever may read the views may not see what is noted of them.
  await attempt(db, dialect, async () => {
    present = await presentViews(db, dialect, order.schema);
  });
  const { names, record } = present ?? nothing;
  const has = (name: string) => names.get(name) === true;
  const models = inDependencyOrder(order.models)
    .filter(({ name }) => has(name))
    .map(model => ({ ...model, view: viewOfModel(dialect, model, place, order, has) }));
  const asked = columnsAsked(models, questions);
  const held = new Set<string>();
  const quoted = quotedName(order.schema);
  const views = new RegExp(`${RegExp.escape(quoted)}\\.(\\w+)`, "g");
  const over = (text: string) => text.replace(views, (view, name: string) => (held.has(name) ? `held_${name}` : view));
  for (const { name, view } of models) {
    const columns = asked.get(name) ?? [];
    if (!wanted.includes(name) || columns.length === 0 || printOf(view).definition !== record[name]?.definition)
      continue;
    const table = sql.id(`held_${name}`);
    const select = sql`select ${sql.join(columns.map(column => sql.id(column)))} from (${sql.raw(over(view.select))}) as model`;
    const made = await unlessBeyond(
      { db, dialect },
      async () =>
        (await attempt(db, dialect, () => sql`create temporary table ${table} as ${select}`.execute(db))) === undefined,
    );
    if (made !== true) continue;
    if (dialect.plansByStatistics) await sql`analyze ${table}`.execute(db);
    held.add(name);
  }
  return {
    over,
    async drop() {
      for (const name of held) await sql`drop table ${sql.id(`held_${name}`)}`.execute(db);
    },
  };
}

/** Which columns of each model the questions, and the models that they ask, name: what nobody names need not be worked out. */
function columnsAsked(
  models: readonly (Pick<Model, "name" | "columns"> & { readonly view: View })[],
  questions: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, readonly string[]>();
  const words = new Set<string>();
  const read = (text: string) => text.match(/\w+/g)?.forEach(word => void words.add(word));
  for (const question of questions) read(question);
  // Each before those that it reads.
  for (const { name, columns, view } of models.toReversed()) {
    if (!words.has(name)) continue;
    asked.set(
      name,
      columns.map(column => column.name).filter(column => words.has(column)),
    );
    read(view.select);
  }
  return asked;
}
