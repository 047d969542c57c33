import type { Db } from "../database.ts";
import { written } from "../state_columns.ts";
import { deleteRowsWith, insertRows } from "../state_rows.ts";

/** Something about a table that is not as the service's documents say, as a publish saw it. */
export interface SchemaChange {
  readonly table: string;
  /** A column, or a field's path below the row, dotted. */
  readonly column: string;
  readonly change: string;
  readonly example: string | null;
  readonly count: number;
}

/** A field that no column stands for, by the type of its JSON. */
export const newField = (type: string): string => `${NEW}${type}`;
export const otherType = (type: string): string => `${OTHER}${type}`;
/** New fields beyond those that are told one by one. */
export const MORE_FIELDS = "more new fields";
/** A documented field that stood in every row and is in none. */
export const VANISHED = "vanished";
export const RETURNED = "returned";

const NEW = "new field: ";
const OTHER = "other type: ";

const typeAfter = (kind: string, change: string) => (change.startsWith(kind) ? change.slice(kind.length) : undefined);

/** The type of JSON that a new field came as; undefined for any other change. */
export const newFieldType = (change: string): string | undefined => typeAfter(NEW, change);

/** The type of JSON that a documented field came as; undefined for any other change. */
export const otherFieldType = (change: string): string | undefined => typeAfter(OTHER, change);

/** New fields of a table that are told one by one, over all runs: keys that are data must not fill the database. */
const TOLD_FIELDS = 100;

interface Stored extends SchemaChange {
  readonly first_seen_at: string;
  readonly last_seen_at: string;
}

/**
 * Adds what a publish saw to the table `schema_changes`: one row a column and change, first and last seen. Counts add up
 * with those that were seen from `since` on, the same reading's earlier publishes. Answers what is new, in the order given.
 */
export async function saveSchemaChanges(
  db: Db,
  company: string,
  stream: string,
  seen: readonly SchemaChange[],
  times: { readonly now: string; readonly since: string | undefined },
): Promise<readonly SchemaChange[]> {
  if (seen.length === 0) return [];
  const rows = await db
    .selectFrom("schema_changes")
    .selectAll()
    .where(({ and }) => and({ company, stream }))
    .execute();
  const known = rows.map(row => ({ ...written(row), table: row.table_name, column: row.column_name }));
  const { all, fresh } = withSeen(known, seen, times);
  await deleteRowsWith(db, ["schema_changes"], { company, stream });
  const values = all.map(({ table, column, change, example, count, first_seen_at, last_seen_at }) => ({
    ...{ company, stream, table_name: table, column_name: column, change, example, count },
    ...{ first_seen_at, last_seen_at },
  }));
  await insertRows(db, "schema_changes", values);
  return fresh;
}

function withSeen(
  known: readonly Stored[],
  seen: readonly SchemaChange[],
  { now, since }: { readonly now: string; readonly since: string | undefined },
): { readonly all: readonly Stored[]; readonly fresh: readonly SchemaChange[] } {
  const all = new Map(known.map(row => [identityOf(row), row]));
  const fresh: SchemaChange[] = [];
  for (const change of tellable(known, seen)) {
    const before = all.get(identityOf(change));
    if (before?.change !== change.change) fresh.push(change);
    const adding = before !== undefined && since !== undefined && before.last_seen_at >= since;
    all.set(identityOf(change), {
      ...change,
      example: before?.example ?? change.example,
      count: change.count + (adding ? before.count : 0),
      first_seen_at: before?.first_seen_at ?? now,
      last_seen_at: now,
    });
  }
  return { all: [...all.values()], fresh };
}

/** What vanishes and returns is one row, whichever it did last. */
function identityOf({ table, column, change }: SchemaChange): string {
  const kind = change === RETURNED ? VANISHED : change;
  return JSON.stringify([table, column, kind]);
}

/** What is told one by one: of new fields not too many a table, and NULL as their type only where no other is known. */
function tellable(known: readonly SchemaChange[], seen: readonly SchemaChange[]): readonly SchemaChange[] {
  const nameOf = ({ table, column }: SchemaChange) => JSON.stringify([table, column]);
  const isNew = ({ change }: SchemaChange) => newFieldType(change) !== undefined;
  const fields = new Set(known.filter(isNew).map(nameOf));
  const counts = Map.groupBy(
    new Map(known.filter(isNew).map(row => [nameOf(row), row.table])).values(),
    table => table,
  );
  const told = new Map([...counts].map(([table, names]) => [table, names.length]));
  const typed = new Set([...known, ...seen].filter(row => isNew(row) && !isNull(row)).map(nameOf));
  const more = new Map<string, number>();
  const result: SchemaChange[] = [];
  for (const change of seen) {
    const name = nameOf(change);
    if (change.change === MORE_FIELDS) {
      more.set(change.table, (more.get(change.table) ?? 0) + change.count);
      continue;
    }
    if (isNew(change)) {
      if (isNull(change) && typed.has(name)) continue;
      if (!fields.has(name)) {
        const number = told.get(change.table) ?? 0;
        if (number >= TOLD_FIELDS) {
          more.set(change.table, (more.get(change.table) ?? 0) + 1);
          continue;
        }
        fields.add(name);
        told.set(change.table, number + 1);
      }
    }
    result.push(change);
  }
  for (const [table, count] of more) result.push({ table, column: "*", change: MORE_FIELDS, example: null, count });
  return result;
}

const isNull = ({ change }: SchemaChange): boolean => change === newField("null");

/** How a sentence ends that shows values of drift. */
export const SEE_CHANGES = "(see schema_changes)";
