import { createHash } from "node:crypto";
import { sql } from "kysely";
import { z } from "zod";
import { inDependencyOrder, type Model } from "../../catalog/model.ts";
import { TributaryError } from "../../errors.ts";
import type { Destination } from "../destination.ts";
import { readStreamState } from "../state/stream_state.ts";
import { presentViews, recordViews } from "./present_views.ts";
import { attempt, comments, type Db, executeTogether } from "./statements.ts";
import { analyticsSchema, printOf, storedName, type ViewOrder } from "./view.ts";
import { viewOfModel } from "./view_plan.ts";

/** In the state schema's facts: by model, of what its rows were worked out. */
const KEY = "stored_models";

type Place = Pick<Destination, "db" | "dialect" | "schema" | "stateSchema" | "withRoom">;

/**
 * Keeps models as tables (`views: materialized`): each whose tables were changed since, or for which another day has begun, is
 * worked out anew, and its view reads that. A view stays as it is until then, and where its rows can't be worked out: answers
 * why. Killed meanwhile, the next run sees what is not up to date.
 */
export async function refreshModels(destination: Place, order: ViewOrder): Promise<readonly string[]> {
  const { db, dialect, stateSchema } = destination;
  const { names, record } = await presentViews(db, dialect, { schema: order.schema, stateSchema });
  const has = (name: string) => names.get(name) === true;
  const row = await db.selectFrom("warehouse").select("value").where("key", "=", KEY).executeTakeFirst();
  const known = z.record(z.string(), z.string()).catch({}).parse(row?.value);
  const sources = await sourcesOf(destination, order);
  const models = inDependencyOrder(order.models).filter(model => has(model.name) && isKept(model, order));
  const prints = Object.fromEntries(models.map(model => [model.name, sources(model, record[model.name]!.definition)]));
  const isNew = (name: string) => record[name]?.stored !== true;
  const stale = models.filter(({ name }) => isNew(name) || known[name] !== prints[name]);
  if (stale.length === 0) return [];
  const kept = { ...known };
  const views = { ...record };
  const warnings: string[] = [];
  for (const model of stale) {
    const view = viewOfModel(model, destination, order, has);
    // As another version made it: the next run that prepares the views makes it ours.
    if (printOf(view).definition !== record[view.name]!.definition) continue;
    const table = sql.id(stateSchema, storedName(view.name));
    const columns = sql.join(view.columns.map(({ name }) => sql.id(name)));
    const fill = async (trx: Db) => {
      if (isNew(view.name)) {
        await sql`drop table if exists ${table}`.execute(trx);
        await sql`create table ${table} as ${sql.raw(view.select)}`.execute(trx);
        const shown = sql`create or replace view ${sql.id(order.schema, view.name)} as select ${columns} from ${table}`;
        await executeTogether(trx, [shown, ...comments(order.schema, view)]);
      } else {
        await sql`delete from ${table}`.execute(trx);
        await sql`insert into ${table} (${columns}) select ${columns} from (${sql.raw(view.select)}) worked_out`.execute(
          trx,
        );
      }
      kept[view.name] = prints[view.name]!;
      views[view.name] = { ...record[view.name]!, stored: true };
      await trx.deleteFrom("warehouse").where("key", "=", KEY).execute();
      await trx
        .insertInto("warehouse")
        .values({ key: KEY, value: JSON.stringify(kept) })
        .execute();
      for (const statement of recordViews(stateSchema, views)) await statement.execute(trx);
    };
    try {
      await destination.withRoom("write", () =>
        db.transaction().execute(async trx => {
          for (const statement of dialect.readsWholeTables) await statement.execute(trx);
          await fill(trx);
        }),
      );
      if (dialect.plansByStatistics) await sql`analyze ${table}`.execute(db);
    } catch (error) {
      if (error instanceof TributaryError) throw error;
      const said = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
      warnings.push(
        `The model ${order.schema}.${view.name} could not be worked out, and shows what it showed before: ${said}`,
      );
    }
  }
  return warnings;
}

/** What reads tables of the data; what reads the state schema changes with each run. */
function isKept({ needs, optional, parts }: Model, { writtenFor }: ViewOrder): boolean {
  return needs.length + optional.length > 0 && !parts.some(({ text }) => text.includes(`${writtenFor.stateSchema}.`));
}

/** Answers the print of a model's definition and of what it read: when its streams last changed, rates, the day. */
async function sourcesOf(
  { db }: Place,
  { models, catalogue }: ViewOrder,
): Promise<(model: Model, definition: string) => string> {
  const rows = await db.selectFrom("stream_state").select(["company", "stream", "state"]).orderBy("company").execute();
  const rates = await db.selectFrom("warehouse").select("value").where("key", "=", "currency").executeTakeFirst();
  const { rows: days } = await sql<{ today: string }>`select cast(current_date as varchar) as today`.execute(db);
  const facts: Readonly<Record<string, unknown>> = { currency_rates: rates?.value, calendar_today: days[0]?.today };
  const changed = Map.groupBy(
    rows.map(({ company, stream, state }) => ({ company, stream, at: readStreamState(state).lastMoment })),
    ({ stream }) => stream,
  );
  const readBy = (names: readonly string[]): readonly string[] =>
    names.flatMap(name => {
      const model = models.find(each => each.name === name);
      return [name, ...(model === undefined ? [] : readBy([...model.needs, ...model.optional]))];
    });
  return (model, definition) => {
    const read = new Set(readBy([model.name]));
    const streams = catalogue.filter(({ tables: { main, children } }) =>
      [main, ...children].some(({ name }) => read.has(name)),
    );
    // Details go with the rows that they are of.
    const ofDetails = streams.flatMap(({ mode }) => (mode.kind === "detail" ? [mode.of] : []));
    const moments = [...new Set([...streams.map(({ name }) => name), ...ofDetails])]
      .sort()
      .map(name => changed.get(name));
    const told = Object.entries(facts).filter(([name]) => read.has(name));
    return createHash("sha256")
      .update(JSON.stringify([definition, moments, told]))
      .digest("hex")
      .slice(0, 16);
  };
}

/** Takes a company's rows out of the models that are kept as tables; the next run works them out anew. */
export async function forgetStored(
  { db, dialect, schema, stateSchema }: Omit<Place, "withRoom">,
  company: string,
): Promise<void> {
  const { record } = await presentViews(db, dialect, { schema: analyticsSchema(schema), stateSchema });
  await db.deleteFrom("warehouse").where("key", "=", KEY).execute();
  for (const [name, { stored }] of Object.entries(record)) {
    const rows = sql`delete from ${sql.id(stateSchema, storedName(name))} where _company = ${company}`;
    // One without companies has no rows of theirs.
    if (stored === true) await attempt(db, dialect, () => rows.execute(db));
  }
}
