import { sql } from "kysely";
import { z } from "zod";
import { inDependencyOrder, type Model } from "../../catalog/model.ts";
import { digestOf } from "../../digest.ts";
import { TributaryError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import { altering, executeAll } from "../ddl/alteration.ts";
import type { Destination } from "../destination.ts";
import { factOf, keepFact } from "../state/facts.ts";
import { readStreamState } from "../state/stream_state.ts";
import { CURRENCY } from "./currency_rates.ts";
import { viewsMessages } from "./messages.ts";
import { asMade, type PresentViews, presentViews, recordViews } from "./present_views.ts";
import { attempt, comments } from "./statements.ts";
import { analyticsSchema, isStored, printOf, storedDefinition, storedName, type ViewOrder } from "./view.ts";
import { viewOfModel } from "./view_plan.ts";

/** In the state schema's facts: by model, of what its rows were worked out. */
export const STORED_MODELS = "stored_models";
const storedPrints = z.record(z.string(), z.string()).catch({});

type Place = Pick<Destination, "db" | "dialect" | "schema" | "stateSchema" | "withRoom">;

/**
 * Keeps models as tables (`views: materialized`): each whose tables were changed since, or for which another day has begun, is
 * worked out anew, and its view reads that. A view stays as it is until then, and where its rows can't be worked out: answers
 * why. Killed meanwhile, the next run sees what is not up to date.
 */
export async function refreshModels(destination: Place, order: ViewOrder): Promise<readonly Message[]> {
  const { db, dialect } = destination;
  const sources = await sourcesOf(destination, order);
  const present = await keptModels(db, destination, order);
  const warnings: Message[] = [];
  for (const model of inDependencyOrder(order.models)) {
    const { name } = model;
    const print = sources(model);
    if (!isKept(model, order) || !isStale(present, name, print)) continue;
    try {
      const isDone = await destination.withRoom("write", () =>
        altering(db, dialect, trx => workOut(trx, destination, order, model, print)),
      );
      if (isDone && dialect.plansByStatistics)
        await sql`analyze ${sql.id(destination.stateSchema, storedName(name))}`.execute(db);
    } catch (error) {
      if (error instanceof TributaryError) throw error;
      const reason = (error instanceof Error ? error.message : String(error)).split("\n", 1).join();
      warnings.push(viewsMessages.model_not_worked_out({ model: `${order.schema}.${name}`, reason }));
    }
  }
  return warnings;
}

/** The views that are there, and of what the rows of those that are kept as tables were worked out. */
interface KeptModels extends PresentViews {
  readonly prints: Readonly<Record<string, string>>;
}

async function keptModels(db: Db, { dialect }: Place, { schema }: ViewOrder): Promise<KeptModels> {
  const prints = storedPrints.parse(await factOf(db, STORED_MODELS));
  return { ...(await presentViews(db, dialect, schema)), prints };
}

const isStale = ({ names, record, prints }: KeptModels, name: string, print: string): boolean =>
  names.get(name) === true && (!isStored(record[name]) || prints[name] !== print);

async function workOut(trx: Db, place: Place, order: ViewOrder, model: Model, print: string): Promise<boolean> {
  const { dialect, stateSchema } = place;
  // Another run may have come first.
  const present = await keptModels(trx, place, order);
  const view = viewOfModel(dialect, model, place, order, name => present.names.get(name) === true);
  const { definition } = printOf(view);
  const recorded = present.record[view.name]?.definition;
  const isNew = recorded === definition;
  // Of another version: the next run that prepares the views makes it ours.
  if (!isStale(present, view.name, print) || !(isNew || recorded === storedDefinition(definition))) return false;
  const table = sql.id(stateSchema, storedName(view.name));
  const columns = sql.join(view.columns.map(({ name }) => sql.id(name)));
  for (const statement of dialect.readsWholeTables) await statement.execute(trx);
  if (isNew) {
    await sql`drop table if exists ${table}`.execute(trx);
    await sql`create table ${table} as ${sql.raw(view.select)}`.execute(trx);
    const shown = sql`create or replace view ${sql.id(order.schema, view.name)} as select ${columns} from ${table}`;
    await executeAll(trx, [shown, ...comments(dialect, order.schema, view)]);
  } else {
    const rows = sql`select ${columns} from (${sql.raw(view.select)}) worked_out`;
    await sql`delete from ${table}`.execute(trx);
    await sql`insert into ${table} (${columns}) ${rows}`.execute(trx);
  }
  await keepFact(trx, STORED_MODELS, { ...present.prints, [view.name]: print });
  const own = { [view.name]: { ...printOf(view), definition: storedDefinition(definition) } };
  const record = { ...present.record, ...(await asMade(trx, dialect, order.schema, own)) };
  for (const statement of recordViews(stateSchema, record)) await statement.execute(trx);
  return true;
}

/** What reads tables of the data: what the state schema says changes with each run, and versions with streams of their own. */
function isKept({ needs, optional, parts }: Model, { writtenFor }: ViewOrder): boolean {
  const read = [...needs, ...optional];
  if (read.length === 0 || read.some(name => name.endsWith("_versions"))) return false;
  return !parts.some(({ text }) => text.includes(`${writtenFor.stateSchema}.`));
}

/** Answers the print of what a model read: when its streams last changed, rates, the day. */
async function sourcesOf({ db }: Place, { models, catalogue }: ViewOrder): Promise<(model: Model) => string> {
  const rows = await db.selectFrom("stream_state").select(["company", "stream", "state"]).orderBy("company").execute();
  const rates = await factOf(db, CURRENCY);
  const { rows: days } = await sql<{ today: string }>`select cast(current_date as varchar) as today`.execute(db);
  const facts: Readonly<Record<string, unknown>> = { currency_rates: rates, calendar_today: days[0]?.today };
  const changed = Map.groupBy(
    rows.map(({ company, stream, state }) => ({ company, stream, at: readStreamState(state).lastMoment })),
    ({ stream }) => stream,
  );
  const readBy = (names: readonly string[]): readonly string[] =>
    names.flatMap(name => {
      const model = models.find(each => each.name === name);
      return [name, ...(model === undefined ? [] : readBy([...model.needs, ...model.optional]))];
    });
  return model => {
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
    return digestOf([moments, told]);
  };
}

/** Takes a company's rows out of the models that are kept as tables; the next run works them out anew. */
export async function forgetStored(
  { db, dialect, schema, stateSchema }: Omit<Place, "withRoom">,
  company: string,
): Promise<void> {
  await db.transaction().execute(async trx => {
    const { record } = await presentViews(trx, dialect, analyticsSchema(schema));
    await keepFact(trx, STORED_MODELS, undefined);
    for (const [name, recorded] of Object.entries(record)) {
      const rows = sql`delete from ${sql.id(stateSchema, storedName(name))} where _company = ${company}`;
      // One without companies has no rows of theirs.
      if (isStored(recorded)) await attempt(trx, dialect, () => rows.execute(trx));
    }
  });
}
