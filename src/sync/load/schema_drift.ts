import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import type { Db } from "../../warehouse/database.ts";
import { nameFor } from "../../warehouse/schema/unknown_field_columns.ts";
import {
  MORE_FIELDS,
  newField,
  newFieldType,
  otherFieldType,
  otherType,
  RETURNED,
  type SchemaChange,
  saveSchemaChanges,
  VANISHED,
} from "../../warehouse/state/schema_changes.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import type { StreamPolicy, SyncContext } from "../context.ts";
import { schemaMessages } from "./messages.ts";

type Fields = StreamState["fields"];

/** How rows differ from the documents, and the fields that are to be remembered. */
export interface RecordedDrift {
  readonly fields: Fields;
  /** What no publish before this one saw. */
  readonly fresh: readonly SchemaChange[];
}

/** Writes what a scan's rows showed into `schema_changes`. `fields` is what is remembered; `since` began the stream's reading. */
export async function recordDrift(
  trx: Db,
  { company }: SyncContext,
  { stream, record }: { readonly stream: Stream; readonly record: ScanRecord },
  fields: Fields,
  times: { readonly now: string; readonly since: string },
): Promise<RecordedDrift> {
  const { next, changes } = comparePresence(fields, record);
  const seen = [...changesOf(record.drift), ...changes];
  // A complete scan is published once, and says by itself how many rows there are.
  const since = record.full ? undefined : times.since;
  return { fields: next, fresh: await saveSchemaChanges(trx, company, stream.name, seen, { ...times, since }) };
}

/** Drift in the words of `schema_changes`. */
export function changesOf(drift: ScanRecord["drift"]): SchemaChange[] {
  return drift.map(({ table, column, sort, type, example, rows }) => ({
    table,
    column,
    change: sort === "more" ? MORE_FIELDS : sort === "new" ? newField(type) : otherType(type),
    example: example === "" ? null : example,
    count: rows,
  }));
}

/** Fewer rows say nothing of a field that all of them have, or none. */
const LEAST_ROWS = 20;

/** Which fields vanished or came back. A complete scan is remembered as it is; of a part only what has been in every row all along. Windows of the past are no measure. */
export function comparePresence(
  known: Fields,
  { presence, full, windows }: Pick<ScanRecord, "presence" | "full" | "windows">,
): { readonly next: Fields; readonly changes: readonly SchemaChange[] } {
  const next = { ...known };
  const changes: SchemaChange[] = [];
  if (windows.length > 0) return { next, changes };
  for (const [table, { rows, always, never }] of Object.entries(presence)) {
    const before = known[table];
    const enough = rows >= LEAST_ROWS;
    if (rows === 0 || (before === undefined && !enough)) continue;
    const had = before?.always ?? [];
    const gone = before?.vanished ?? [];
    const stillGone = gone.filter(name => never.includes(name));
    const lost = enough ? [...stillGone, ...had.filter(name => never.includes(name))] : [];
    const back = gone.filter(name => !never.includes(name));
    for (const column of lost) changes.push({ table, column, change: VANISHED, example: null, count: rows });
    for (const column of back) changes.push({ table, column, change: RETURNED, example: null, count: rows });
    // What few rows lack may have vanished: more of them will say.
    const kept = had.filter(name => always.includes(name) || (!enough && never.includes(name)));
    const steady = enough && (full || before === undefined) ? always : kept;
    next[table] = { always: steady, vanished: enough ? lost : stillGone };
  }
  return { next, changes };
}

const NAMED = 10;

/** What is new, in sentences: the ones to warn of, and the ones that are worth knowing. */
export function reportDrift(
  stream: Stream,
  fresh: readonly SchemaChange[],
  policy: StreamPolicy["unknownFields"],
): { readonly warnings: readonly Message[]; readonly notes: readonly Message[] } {
  const { name } = stream;
  const unknown = fresh.filter(({ change }) => newFieldType(change) !== undefined || change === MORE_FIELDS);
  const types = fresh.filter(({ change }) => otherFieldType(change) !== undefined);
  const vanished = fresh.filter(({ change }) => change === VANISHED);
  const back = fresh.filter(({ change }) => change === RETURNED);
  const warnings: Message[] = [];
  if (unknown.length > 0) {
    const as_columns = policy === "column";
    const nameless = as_columns ? namelessAmong(stream, unknown) : [];
    warnings.push(schemaMessages.unknown_fields({ ...first(unknown), as_columns, nameless }));
  }
  if (types.length > 0) warnings.push(schemaMessages.other_types(first(types)));
  if (vanished.length > 0) warnings.push(schemaMessages.vanished(first(vanished)));
  const notes = back.length === 0 ? [] : [schemaMessages.returned({ stream: name, ...first(back) })];
  return { warnings, notes };
}

/** The changes that a message names, and how many there are. */
export const first = (changes: readonly SchemaChange[]) => ({
  changes: changes.slice(0, NAMED),
  count: changes.length,
});

/** Fields that no column can be called after. */
function namelessAmong({ tables }: Stream, unknown: readonly SchemaChange[]): readonly string[] {
  const all = [tables.main, ...tables.children];
  const nameless = unknown.filter(({ table, column }) => {
    const own = all.find(({ name }) => name === table);
    return own === undefined || nameFor(own, column) === undefined;
  });
  return nameless.slice(0, NAMED).map(({ table, column }) => `${table}.${column}`);
}
