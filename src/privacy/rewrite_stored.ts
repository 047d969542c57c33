import { type Column, LINE_ID_COLUMN, type Table } from "../catalog/columns.ts";
import type { Stream } from "../catalog/stream.ts";
import { textsOf } from "../message.ts";
import { Numeral } from "../numeral.ts";
import { parseJson } from "../source/body.ts";
import type { Db } from "../warehouse/database.ts";
import { versionsName } from "../warehouse/ddl/as_of.ts";
import { readCatalog } from "../warehouse/ddl/database_catalog.ts";
import type { Destination } from "../warehouse/destination.ts";
import {
  type Change,
  forgetHashes,
  lastChange,
  moveParents,
  type Rewriting,
  rewriteColumn,
} from "../warehouse/schema/rewriting.ts";
import { addedColumns, withAdded } from "../warehouse/schema/unknown_field_columns.ts";
import { forgetDigests } from "../warehouse/state/rejects.ts";
import { loadStreamState, saveStreamState, storedMessages } from "../warehouse/state/run_log.ts";
import { SEE_CHANGES } from "../warehouse/state/schema_changes.ts";
import {
  besideTreatment,
  extraTreatment,
  jsonText,
  looseTreatment,
  rowTreatment,
  withAddedColumns,
} from "./answers.ts";
import { EXTRA_COLUMN, isPersonalName, type Policy } from "./policy.ts";
import type { Treat } from "./treatment.ts";

interface Acting {
  readonly treat: Treat;
  readonly catalogue: readonly Stream[];
}

/** A table that is there: a stream's own, or its history. */
interface Present {
  readonly name: string;
  readonly of: Table;
  readonly columns: ReadonlySet<string>;
}

const CHANGED_AT = "_changed_at";

/**
 * Does to what is stored what `policy` says: to tables, their history, rejects and examples. Rows that change get a new
 * `_changed_at`: who follows it is to have their former values replaced too. Answers how many values were.
 */
export async function rewriteStored(
  db: Db,
  destination: Destination,
  { treat, catalogue }: Acting,
  policy: Policy,
  now: string,
): Promise<number> {
  if (policy.id === "") return 0;
  const added = await addedColumns({ db });
  const streams = catalogue.map(stream => withAdded(stream, added, []));
  const acts = withAddedColumns(policy, streams);
  const { dialect, schema, stateSchema } = destination;
  const { tables: there } = await readCatalog(db, dialect, [schema]);
  let total = 0;
  for (const stream of streams) {
    const { main, children } = stream.tables;
    if (!there.has(`${schema}.${main.name}`)) continue;
    // After everything that was ever published of the table.
    const last = (await lastChange(db, schema, main))?.getTime() ?? 0;
    const timestamp = new Date(Math.max(Date.parse(now), last + 1)).toISOString();
    const rewritten = new Map<Table, number>();
    for (const of of [main, ...children])
      for (const name of [of.name, versionsName(of)]) {
        const present = there.get(`${schema}.${name}`);
        if (present?.isTable !== true) continue;
        const columns = new Set(present.columns.keys());
        for (const each of rewritingsOf({ name, of, columns }, acts, treat, schema, timestamp)) {
          const rows = await rewriteColumn(db, dialect, each);
          if (name === of.name) rewritten.set(of, (rewritten.get(of) ?? 0) + rows);
          total += rows;
        }
      }
    for (const child of children)
      if ((rewritten.get(child) ?? 0) > 0) await moveParents(db, schema, main, child, timestamp);
    if ([...rewritten.values()].some(rows => rows > 0)) {
      await forgetHashes(db, stateSchema, main);
      await keepTimestamp(db, stream, timestamp);
    }
    // What a verification found are values; the next one finds them again.
    await db.deleteFrom("verification_differences").where("stream", "=", stream.name).execute();
    const rejects = { schema: stateSchema, table: "rejects", isJson: true, stream: stream.name };
    let rejected = 0;
    for (const [column, change] of [
      ["raw", withoutText(jsonChange(rowTreatment(stream, acts, treat)))],
      ["context", jsonChange(besideTreatment(stream, acts, treat))],
    ] as const)
      rejected += await rewriteColumn(db, dialect, { ...rejects, column, change });
    if (rejected > 0) await forgetDigests(db, stream.name);
  }
  await forgetQuestions(db, now);
  await forgetExamples(db, acts);
  await forgetTold(db);
  return total;
}

function rewritingsOf(
  { name, of, columns }: Present,
  acts: Policy,
  treat: Treat,
  schema: string,
  timestamp: string,
): readonly Rewriting[] {
  const stamp = columns.has(CHANGED_AT) && name === of.name ? { stamp: { column: CHANGED_AT, timestamp } } : {};
  const own = of.columns.flatMap(column => {
    const act = acts.treatments.get(`${of.name}.${column.name}`);
    return act === undefined ? [] : [{ column, act }];
  });
  const isLoose = acts.undocumented !== undefined;
  const loose = jsonChange(looseTreatment(acts, treat));
  const noExtra = acts.treatments.get(`${of.name}.${EXTRA_COLUMN}`) === "exclude";
  const treatedNames = new Set(own.map(({ column }) => column.name));
  const loosened = of.columns.filter(({ kind, name }) => isLoose && kind === "json" && !treatedNames.has(name));
  const json = (column: string, change: Change | null) => ({ column, isJson: true, change });
  const wanted = [
    ...own.map(({ column, act }) => ({
      column: column.name,
      isJson: column.kind === "json",
      change: act === "exclude" ? null : valueChange(column, value => treat(value, act, column.path.at(-1))),
    })),
    ...loosened.map(({ name: column }) => json(column, loose)),
    ...(own.length > 0 || isLoose || noExtra
      ? [json(EXTRA_COLUMN, noExtra ? null : extraChange(extraTreatment(of, acts, treat)))]
      : []),
    ...(own.length > 0 || isLoose ? [json("_problems", withoutProblems(treatedNames, loose))] : []),
    ...(own.length + loosened.length > 0
      ? [{ column: LINE_ID_COLUMN, isJson: false, change: lineIdChange(of, treatedNames) }]
      : []),
  ];
  return wanted.filter(({ column }) => columns.has(column)).map(each => ({ schema, table: name, ...each, ...stamp }));
}

function valueChange({ kind }: Column, treat: (value: unknown) => unknown): Change {
  return text => {
    const treated = treat(kind === "json" ? parseJson(Buffer.from(text)) : text);
    if (treated === undefined || treated === null) return null;
    return kind === "json" ? jsonText(treated) : String(treated);
  };
}

function jsonChange(treat: (value: unknown) => boolean): Change {
  return text => {
    const value = parseJson(Buffer.from(text));
    return treat(value) ? jsonText(value) : undefined;
  };
}

/** The text of a row that is no JSON stands in an array. No field can be taken out of it. */
const withoutText =
  (change: Change): Change =>
  text =>
    /^\[\s*"/.test(text) ? "[]" : change(text);

/** What holds no field any more is as if there had been none. */
function extraChange(treat: (value: unknown) => boolean): Change {
  return text => {
    const value = parseJson(Buffer.from(text));
    if (!treat(value)) return undefined;
    const left = withoutEmpty(value);
    return left === undefined ? null : jsonText(left);
  };
}

function withoutEmpty(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Numeral) return value;
  const kept = Object.entries(value)
    .map(([field, inner]) => [field, withoutEmpty(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** A hash of former values would tell a guess at them from another one. */
function lineIdChange({ columns }: Table, treated: ReadonlySet<string>): Change | null {
  const isNumbered = columns.some(({ identifies, name }) => identifies && !treated.has(name));
  return isNumbered ? id => (id.startsWith("~") ? null : undefined) : null;
}

/** Raw values stand in `_problems` by column. */
function withoutProblems(columns: ReadonlySet<string>, loose: Change): Change {
  return text => {
    const problems = parseJson(Buffer.from(text)) as Record<string, unknown>;
    const kept = Object.entries(problems).filter(([column]) => !columns.has(column));
    if (kept.length === 0) return null;
    const left = jsonText(Object.fromEntries(kept));
    return loose(left) ?? (kept.length === Object.keys(problems).length ? undefined : left);
  };
}

/** No later publish may be of an earlier timestamp. */
async function keepTimestamp(db: Db, { name }: Stream, timestamp: string): Promise<void> {
  const known = await db.selectFrom("stream_state").select("company").where("stream", "=", name).execute();
  for (const { company } of known) {
    const state = await loadStreamState(db, company, name);
    await saveStreamState(db, company, name, { ...state, lastMoment: timestamp }, timestamp);
  }
}

/** Lookups that are under way ask with values as they came. */
async function forgetQuestions(db: Db, now: string): Promise<void> {
  const known = await db.selectFrom("stream_state").select(["company", "stream"]).execute();
  for (const { company, stream } of known) {
    const state = await loadStreamState(db, company, stream);
    if (state.questions !== null) await saveStreamState(db, company, stream, { ...state, questions: null }, now);
  }
}

async function forgetExamples(db: Db, { treatments, undocumented }: Policy): Promise<void> {
  for (const table of ["problems", "schema_changes"] as const) {
    const rows = await db
      .selectFrom(table)
      .select(["table_name", "column_name"])
      .where("example", "is not", null)
      .distinct()
      .execute();
    for (const { table_name, column_name } of rows) {
      const last = column_name.slice(column_name.lastIndexOf(".") + 1);
      const isHeld = treatments.has(`${table_name}.${column_name}`) || treatments.has(`${table_name}.${EXTRA_COLUMN}`);
      if (!isHeld && (undocumented === undefined || !(column_name === EXTRA_COLUMN || isPersonalName(last)))) continue;
      await db
        .updateTable(table)
        .set({ example: null })
        .where(({ and }) => and({ table_name, column_name }))
        .execute();
    }
  }
}

/** What runs told of drift shows values. */
async function forgetTold(db: Db): Promise<void> {
  const without = (text: string): string =>
    text.includes(SEE_CHANGES)
      ? `${text.slice(0, text.indexOf(":"))}: rows were not as the documents say ${SEE_CHANGES}.`
      : text;
  const runs = await db.selectFrom("runs").select(["run_id", "warnings", "error"]).execute();
  for (const { run_id, warnings, error } of runs) {
    const told = storedMessages(warnings);
    if (![...textsOf(told), error ?? ""].some(text => text.includes(SEE_CHANGES))) continue;
    const bare = told.map(each =>
      each.message.includes(SEE_CHANGES) ? { code: each.code, message: without(each.message), fields: {} } : each,
    );
    const changed = { warnings: JSON.stringify(bare), error: error === null ? null : without(error) };
    await db.updateTable("runs").set(changed).where("run_id", "=", run_id).execute();
  }
  const parts = await db.selectFrom("stream_runs").select(["run_id", "company", "stream", "error"]).execute();
  for (const { run_id, company, stream, error } of parts.filter(part => part.error?.includes(SEE_CHANGES)))
    await db
      .updateTable("stream_runs")
      .set({ error: without(error!) })
      .where(({ and }) => and({ run_id, company, stream }))
      .execute();
}
