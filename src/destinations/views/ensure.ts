import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { Dialect } from "../destination.ts";
import { rightsLacking } from "../rights.ts";
import type { StateTables } from "../state_tables.ts";
import { dependentsOf } from "./dependents.ts";
import { isDone, recordOf, type ViewPlan } from "./plan.ts";
import { type PresentViews, recordViews } from "./present.ts";
import type { View, ViewRecord } from "./view.ts";

type Db = Kysely<StateTables>;

interface Place {
  /** Where the views stand. */
  readonly schema: string;
  readonly stateSchema: string;
}

/** What was done, as sentences, and what could not be done and why. */
export interface EnsuredViews {
  readonly done: readonly string[];
  readonly warnings: readonly string[];
  /** The names of those that are there now and ours. */
  readonly standing: readonly string[];
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
  const before = [...present.names].filter(([, isOurs]) => isOurs).map(([name]) => name);
  if (isDone(plan)) return { done: [], warnings: plan.warnings, standing: before };
  const { schema } = place;
  const done: string[] = [];
  const warnings = [...plan.warnings];
  if (dialect.name === "postgres" && plan.changed.length > 0) {
    const lacking = await rightsLacking(trx, [schema]);
    if (lacking !== undefined)
      return {
        done,
        standing: before,
        warnings: [
          ...warnings,
          `The views of ${schema} could not be made; the tables are complete without them. ${lacking} Or set views: false.`,
        ],
      };
  }
  const gone = await removeViews(trx, dialect, schema, plan.obsolete);
  warnings.push(...gone.warnings);
  if (!present.isSchemaThere && plan.changed.length > 0) {
    await sql`create schema ${sql.id(schema)}`.execute(trx);
    done.push(`created schema ${schema}`);
  }
  const made = await makeViews(trx, dialect, schema, plan);
  warnings.push(...made.warnings);
  await executeTogether(
    trx,
    plan.recommented.flatMap(view => comments(schema, view)),
  );
  const kept = Object.entries(present.record).filter(
    ([name]) => present.names.get(name) === true && !gone.names.includes(name) && !plan.wanted.has(name),
  );
  const failed = Object.entries(present.record).filter(
    ([name]) => made.kept.has(name) && present.names.get(name) === true,
  );
  const record: ViewRecord = {
    ...Object.fromEntries([...kept, ...failed]),
    ...recordOf([...plan.wanted.values()].filter(view => !made.kept.has(view.name))),
  };
  for (const statement of recordViews(place.stateSchema, record)) await statement.execute(trx);
  if (plan.wanted.size === 0 && kept.length === 0) await dropSchemaIfEmpty(trx, dialect, schema);
  const fresh = made.names.filter(name => present.names.get(name) !== true);
  done.push(...sentences(schema, "created", fresh));
  done.push(
    ...sentences(
      schema,
      "renewed",
      made.names.filter(name => present.names.get(name) === true),
    ),
  );
  done.push(...sentences(schema, "removed", gone.names));
  return { done, warnings, standing: Object.keys(record) };
}

function sentences(schema: string, what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  if (names.length <= 3) return [`${what} ${names.map(name => `view ${schema}.${name}`).join(", ")}`];
  return [`${what} ${names.length} views in ${schema}`];
}

/** Everything at once where that works; else one after another, so that one that can't be had is alone with it. */
async function makeViews(
  trx: Db,
  dialect: Dialect,
  schema: string,
  plan: ViewPlan,
): Promise<{ readonly names: readonly string[]; readonly kept: ReadonlySet<string>; readonly warnings: string[] }> {
  const kept = new Set<string>();
  const warnings: string[] = [];
  const statements = plan.changed.flatMap(view => creation(schema, view));
  if (statements.length === 0) return { names: [], kept, warnings };
  if ((await attempt(trx, dialect, () => executeTogether(trx, statements))) === undefined)
    return { names: plan.changed.map(view => view.name), kept, warnings };
  const waiting = new Set(plan.changed.map(view => view.name));
  const names: string[] = [];
  for (const view of plan.wanted.values()) {
    if (!waiting.has(view.name)) continue;
    const replace = () => executeTogether(trx, creation(schema, view));
    let failure = await attempt(trx, dialect, replace);
    if (failure !== undefined && dialect.name === "postgres") {
      const { ours, foreign } = await dependentsOf(
        trx,
        dialect,
        schema,
        [view.name],
        other => other.schema === schema && plan.wanted.has(other.name),
      );
      if (foreign.length > 0) failure = `${foreign.join(", ")} read it`;
      else {
        const again = await attempt(trx, dialect, async () => {
          const list = sql.join([...new Set([view.name, ...ours])].map(name => sql.id(schema, name)));
          await sql`drop view if exists ${list}`.execute(trx);
          await replace();
        });
        if (again === undefined) for (const name of ours) waiting.add(name);
        failure = again;
      }
    }
    if (failure === undefined) names.push(view.name);
    else {
      kept.add(view.name);
      warnings.push(
        `The view ${schema}.${view.name} could not be made as it is to be, and was left as it was: ${failure}. Drop what stands in the way and run again; the tables are complete without it.`,
      );
    }
  }
  return { names, kept, warnings };
}

/** Drops views of ours, never those that somebody's own view reads. */
export async function removeViews(
  trx: Db,
  dialect: Dialect,
  schema: string,
  names: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly warnings: readonly string[] }> {
  if (names.length === 0) return { names, warnings: [] };
  const warnings: string[] = [];
  const kept = new Set<string>();
  if (dialect.name === "postgres") {
    for (const name of names) {
      const { ours, foreign } = await dependentsOf(
        trx,
        dialect,
        schema,
        [name],
        other => other.schema === schema && names.includes(other.name),
      );
      if (foreign.length === 0) continue;
      kept.add(name);
      for (const other of ours) kept.add(other);
      warnings.push(
        `The view ${schema}.${name} is no longer wanted, but ${foreign.join(", ")} read it, so it stays. Drop those first and run again.`,
      );
    }
  }
  const going = names.filter(name => !kept.has(name));
  await dropViews(trx, dialect, schema, going);
  return { names: going, warnings };
}

/** Drops views together: they may read each other. */
export async function dropViews(trx: Db, dialect: Dialect, schema: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  if (dialect.name === "postgres")
    await sql`drop view ${sql.join(names.map(name => sql.id(schema, name)))}`.execute(trx);
  else for (const name of names) await sql`drop view ${sql.id(schema, name)}`.execute(trx);
}

/** A schema that could be made again. */
async function dropSchemaIfEmpty(trx: Db, dialect: Dialect, schema: string): Promise<void> {
  if (dialect.name === "postgres") {
    const { rows } = await sql<{ may: boolean }>`
      select pg_has_role(n.nspowner, 'usage') and has_database_privilege(current_database(), 'create') as may
      from pg_catalog.pg_namespace n where n.nspname = ${schema}`.execute(trx);
    if (rows[0]?.may !== true) return;
  }
  await attempt(trx, dialect, () => sql`drop schema if exists ${sql.id(schema)}`.execute(trx));
}

export function creation(schema: string, view: View): RawBuilder<unknown>[] {
  return [
    sql`create or replace view ${sql.id(schema, view.name)} as ${sql.raw(view.select)}`,
    ...comments(schema, view),
  ];
}

const comments = (schema: string, { name, comment, columns }: View): RawBuilder<unknown>[] => [
  sql`comment on view ${sql.id(schema, name)} is ${sql.lit(comment)}`,
  ...columns
    .filter(column => column.comment !== undefined)
    .map(column => sql`comment on column ${sql.id(schema, name, column.name)} is ${sql.lit(column.comment)}`),
];

async function executeTogether(db: Db, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  if (statements.length === 0) return;
  await db.executeQuery(CompiledQuery.raw(statements.map(each => each.compile(db).sql).join(";\n")));
}

/** Does it; what the database says about the statement itself comes back as text, and the transaction goes on. Other failures are thrown. */
async function attempt(trx: Db, dialect: Dialect, work: () => Promise<unknown>): Promise<string | undefined> {
  const isPostgres = dialect.name === "postgres";
  if (isPostgres) await sql`savepoint views`.execute(trx);
  try {
    await work();
    if (isPostgres) await sql`release savepoint views`.execute(trx);
    return undefined;
  } catch (error) {
    const said = objection(error);
    if (said === undefined) throw error;
    if (isPostgres) await sql`rollback to savepoint views`.execute(trx);
    return said;
  }
}

/** What a database has against a statement, as it came or as an error's cause; undefined for a failure of anything else. */
function objection(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = "code" in at ? String(at.code) : "";
    if (/^42|^2BP01$|^0A/.test(code) || /^(Binder|Catalog|Parser|Dependency) Error/.test(at.message))
      return at.message.trim().split("\n", 1)[0]!.replace(/\.$/, "");
  }
  return undefined;
}
