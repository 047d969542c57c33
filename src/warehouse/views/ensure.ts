import { sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import { executeAll } from "../ddl/alteration.ts";
import { rightsLacking } from "../ddl/rights.ts";
import type { Dialect } from "../dialect.ts";
import { dependentsOf } from "./dependents.ts";
import { viewsMessages } from "./messages.ts";
import { asMade, type PresentViews, recordViews } from "./present_views.ts";
import { attempt, comments, creation, dropViews } from "./statements.ts";
import { isStored, printOf, storedName, type View, type ViewRecord } from "./view.ts";
import { isDone, recordOf, type ViewPlan } from "./view_plan.ts";

interface Place {
  readonly schema: string;
  readonly stateSchema: string;
}

/** What was done, as sentences, and what could not be done and why. */
export interface EnsuredViews {
  readonly done: readonly string[];
  readonly warnings: readonly Message[];
  /** The names of those that are there now and ours. */
  readonly visible: readonly string[];
}

/**
 * Makes the views as planned, within the transaction that changes the tables. A view that cannot be had (somebody's own
 * view reads it, or a table is not as it needs it) stays as it is and is told: data comes first.
 */
export async function ensureViews(
  trx: Db,
  dialect: Dialect,
  place: Place,
  plan: ViewPlan,
  present: PresentViews,
): Promise<EnsuredViews> {
  const { schema } = place;
  const wasThere = (name: string) => present.names.get(name) === true;
  const before = Object.entries(present.record).filter(([name]) => wasThere(name));
  const asBefore = { done: [], visible: before.map(([name]) => name) };
  if (isDone(plan)) return { ...asBefore, warnings: plan.warnings };
  const lacking = plan.changed.length === 0 ? undefined : await rightsMissing(trx, dialect, schema);
  if (lacking !== undefined) return { ...asBefore, warnings: [...plan.warnings, lacking] };
  const gone = await removeViews(trx, dialect, schema, plan.obsolete);
  const isNew = !present.isSchemaThere && plan.changed.length > 0;
  if (isNew) await sql`create schema ${sql.id(schema)}`.execute(trx);
  const made = await makeViews(trx, dialect, schema, plan);
  await executeAll(
    trx,
    plan.recommented.flatMap(view => comments(dialect, schema, view)),
  );
  // One that could not be made keeps the print of what it was, so that the next run tries again.
  const record: ViewRecord = {
    ...Object.fromEntries(before.filter(([name]) => !gone.names.includes(name))),
    ...(await asMade(trx, dialect, schema, recordOf(plan.changed.filter(({ name }) => !made.failed.includes(name))))),
    ...Object.fromEntries(
      plan.recommented.map(view => [view.name, { ...present.record[view.name]!, comments: printOf(view).comments }]),
    ),
  };
  for (const [name, recorded] of before)
    if (isStored(recorded) && !isStored(record[name]))
      await sql`drop table if exists ${sql.id(place.stateSchema, storedName(name))}`.execute(trx);
  for (const statement of recordViews(place.stateSchema, record)) await statement.execute(trx);
  return {
    done: [
      ...(isNew ? [`created schema ${schema}`] : []),
      ...sentence(
        schema,
        "created",
        made.names.filter(name => !wasThere(name)),
      ),
      ...sentence(schema, "renewed", made.names.filter(wasThere)),
      ...sentence(schema, "removed", gone.names),
    ],
    warnings: [...plan.warnings, ...gone.warnings, ...made.warnings],
    visible: Object.keys(record),
  };
}

function sentence(schema: string, what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  if (names.length <= 3) return [`${what} ${names.map(name => `view ${schema}.${name}`).join(", ")}`];
  return [`${what} ${names.length} views in ${schema}`];
}

async function rightsMissing(db: Db, dialect: Dialect, schema: string): Promise<Message | undefined> {
  const lacking = dialect.isServer ? await rightsLacking(db, [schema]) : undefined;
  return lacking && viewsMessages.no_rights({ schema, reason: lacking.message });
}

interface Made {
  readonly names: readonly string[];
  readonly failed: readonly string[];
  readonly warnings: readonly Message[];
}

/** Everything at once where that works; else one after another, so that one that can't be had is alone with it. */
async function makeViews(trx: Db, dialect: Dialect, schema: string, { changed, wanted }: ViewPlan): Promise<Made> {
  const made: { names: string[]; failed: string[]; warnings: Message[] } = { names: [], failed: [], warnings: [] };
  const statements = changed.flatMap(view => creation(dialect, schema, view));
  if (statements.length === 0) return made;
  if ((await attempt(trx, dialect, () => executeAll(trx, statements))) === undefined)
    return { ...made, names: changed.map(view => view.name) };
  const waiting = new Set(changed.map(view => view.name));
  for (const view of wanted.values()) {
    if (!waiting.has(view.name)) continue;
    const { failure, dropped } = await makeView(trx, dialect, schema, view, wanted);
    for (const name of dropped) waiting.add(name);
    if (failure === undefined) made.names.push(view.name);
    else {
      made.failed.push(view.name);
      made.warnings.push(viewsMessages.not_made({ view: `${schema}.${view.name}`, reason: failure }));
    }
  }
  return made;
}

/** Makes one view; where PostgreSQL can't replace it in place, those of ours that read it go too and wait to be made again. */
async function makeView(
  trx: Db,
  dialect: Dialect,
  schema: string,
  view: View,
  wanted: ReadonlyMap<string, View>,
): Promise<{ readonly failure: string | undefined; readonly dropped: readonly string[] }> {
  const make = () => executeAll(trx, creation(dialect, schema, view));
  const failure = await attempt(trx, dialect, make);
  if (failure === undefined || !dialect.isServer) return { failure, dropped: [] };
  const isOurs = (other: { schema: string; name: string }) => other.schema === schema && wanted.has(other.name);
  const { ours, foreign } = await dependentsOf(trx, dialect, schema, [view.name], isOurs);
  if (foreign.length > 0) return { failure: `${foreign.join(", ")} read it`, dropped: [] };
  const again = await attempt(trx, dialect, async () => {
    const list = sql.join([view.name, ...ours].map(name => sql.id(schema, name)));
    await sql`drop view if exists ${list}`.execute(trx);
    await make();
  });
  return again === undefined ? { failure: undefined, dropped: ours } : { failure: again, dropped: [] };
}

/** Drops views of ours that are no longer wanted, never those that somebody's own view reads. */
async function removeViews(
  trx: Db,
  dialect: Dialect,
  schema: string,
  names: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly warnings: readonly Message[] }> {
  const warnings: Message[] = [];
  const kept = new Set<string>();
  for (const name of dialect.isServer ? names : []) {
    const isGoing = (other: { schema: string; name: string }) => other.schema === schema && names.includes(other.name);
    const { foreign } = await dependentsOf(trx, dialect, schema, [name], isGoing);
    if (foreign.length === 0) continue;
    kept.add(name);
    warnings.push(viewsMessages.still_read({ view: `${schema}.${name}`, readers: foreign }));
  }
  const going = names.filter(name => !kept.has(name));
  await dropViews(trx, dialect, schema, going);
  return { names: going, warnings };
}
