import { z } from "zod";
import type { Stream } from "../../catalog/stream.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import { parsedJson } from "../../files.ts";
import { type ChosenTable, chooseTables } from "../../outputs/export/tables.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import type { Db } from "../../warehouse/database.ts";
import { type ChangePosition, type Decimals, positionOf, takeChangedRows } from "../../warehouse/read/changed_rows.ts";
import { atOneMoment } from "../../warehouse/read/question.ts";
import { publishedAmong } from "../../warehouse/state/table_counts.ts";
import { changesMessages } from "./messages.ts";

const VERSION = 1;

/** How far a reader has read: of each company and table the row behind which it stands. It is plain data, to be stored as JSON. */
export interface ChangesState {
  readonly version: 1;
  readonly companies: Readonly<Record<string, Readonly<Record<string, { changed_at: string; key: string[] }>>>>;
}

/** By a name, the row behind which a reader stands. */
type Positions = ChangesState["companies"][string];

export const positionsSchema: z.ZodType<Positions> = z.record(
  z.string(),
  z.object({ changed_at: z.iso.datetime(), key: z.array(z.string()) }),
);

const stateSchema: z.ZodType<ChangesState> = z.object({
  version: z.literal(VERSION),
  companies: z.record(z.string(), positionsSchema),
});

export const noChangesRead: ChangesState = { version: VERSION, companies: {} };

export const stateOfTables = (tables: Readonly<Record<string, Positions>>): ChangesState => ({
  version: VERSION,
  companies: turned(tables),
});

export const tablesOfState = ({ companies }: ChangesState): Readonly<Record<string, Positions>> => turned(companies);

function turned(outer: Readonly<Record<string, Positions>>): Record<string, Positions> {
  const all: Record<string, Positions> = {};
  for (const [name, inner] of Object.entries(outer))
    for (const [other, position] of Object.entries(inner)) all[other] = { ...all[other], [name]: position };
  return all;
}

/** A state, the line of `read` with one, or `{}` for none: anything else taken for none would bring every row again. */
const givenSchema = z.union([
  stateSchema,
  z.object({ state: stateSchema }).transform(({ state }) => state),
  z.strictObject({}).transform(() => noChangesRead),
]);

/** @throws ConfigError for what `read` did not write */
export function parseChangesState(text: string, from: string): ChangesState {
  return changesState(parsedJson(text), from, text);
}

/** @throws ConfigError for what `read` did not give */
export function changesState(value: unknown, from: string, text = ""): ChangesState {
  const { data, error } = givenSchema.safeParse(value);
  if (error === undefined) return data;
  throw new ConfigError(changesMessages.unreadable_state({ from, got: outline(value, text) }), error);
}

/** The keys of an object, as its values may be secrets; the beginning of any other text. */
export function outline(value: unknown, text: string): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return (isObject ? `{${Object.keys(value).join(", ")}}` : text || String(value)).slice(0, 60);
}

/** @throws ConfigError for a state of other companies only: every row would come again */
export function requireOwnState(state: ChangesState, companies: readonly string[]): void {
  const known = Object.keys(state.companies);
  if (known.length === 0 || companies.some(company => known.includes(company))) return;
  throw new ConfigError(changesMessages.state_of_others({ companies, got: known }));
}

export interface ChangesOrder {
  readonly catalogue: readonly Stream[];
  readonly streams: ReadonlySet<string>;
  /** Only these of them; undefined: all. */
  readonly tables?: ReadonlySet<string> | undefined;
  readonly without?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  readonly companies: readonly string[];
  readonly state: ChangesState;
  readonly format: LineFormat;
  /** After a run that failed: why nothing was loaded is the run's to say. */
  readonly mayBeEmpty?: boolean | undefined;
}

export interface LineFormat {
  readonly decimals: Decimals;
  /** Columns whose values come once more, and the names that they then have. */
  readonly twins?: Readonly<Record<string, string>>;
  around(table: ChangesTable): readonly [before: string, after: string];
}

export interface ChangedBatch {
  readonly stream: string;
  readonly table: string;
  readonly company: string;
  readonly lines: Buffer;
  readonly rows: number;
  readonly state: ChangesState;
  /** The state behind one of these rows, whose record is given. */
  readonly stateBehind: (record: Readonly<Record<string, unknown>>) => ChangesState;
}

export interface ChangesTable extends ChosenTable {
  readonly stream: string;
  /** Without `_company`. */
  readonly key: readonly string[];
}

/** The tables that there are of some streams, each stream's main table before its children. */
export async function changesTables(
  reading: WarehouseReading,
  { catalogue, streams, tables: only, without }: Pick<ChangesOrder, "catalogue" | "streams" | "tables" | "without">,
): Promise<readonly ChangesTable[]> {
  const { tables } = await chooseTables(reading, reading, { catalogue, on: new Set(), named: streams });
  const keys = new Map(
    catalogue.flatMap(({ name, tables: { main, children } }) =>
      [main, ...children].map(table => [table.name, { stream: name, key: table.key }] as const),
    ),
  );
  return tables.flatMap(table => {
    const known = keys.get(table.name);
    if (known === undefined || only?.has(table.name) === false) return [];
    const columns = table.columns.filter(column => without?.get(table.name)?.has(column.name) !== true);
    return [{ ...table, ...known, columns }];
  });
}

/**
 * Hands over what changed in the tables since a state, as of one moment: new rows, changed ones, and soft-deleted ones with their
 * `_deleted_at`. A row that changes again while this goes on comes with the next reading, and so does one whose timestamp lies in
 * the future, which the next run mends: such rows may come twice, and none is left out. Rejects with the signal's reason.
 * @throws ConfigError where none of the streams has been loaded
 */
export async function takeChanges(
  reading: WarehouseReading,
  order: ChangesOrder,
  signal: AbortSignal,
  take: (batch: ChangedBatch) => Promise<void>,
): Promise<void> {
  const { companies, format } = order;
  let { state } = order;
  await atOneMoment(reading, async db => {
    const tables = await changesTables({ ...reading, db }, order);
    for (const company of companies)
      for (const table of tables) requireKey(table, state.companies[company]?.[table.name]);
    for (const table of tables)
      for (const company of companies) {
        const from = state.companies[company]?.[table.name];
        const after = from === undefined ? undefined : { changedAt: from.changed_at, key: from.key };
        const { decimals, twins } = format;
        const which = { company, after, decimals, twins, around: format.around(table) };
        await takeChangedRows({ ...reading, db }, table, which, async ({ lines, rows, position }) => {
          signal.throwIfAborted();
          const { stream, name } = table;
          const before = state;
          const stateBehind = (record: Readonly<Record<string, unknown>>) =>
            behind(before, company, name, positionOf(record, table.key));
          state = behind(before, company, name, position);
          await take({ stream, table: name, company, lines, rows, state, stateBehind });
        });
      }
    if (state === order.state && order.mayBeEmpty !== true) await requireLoaded(db, order);
  });
}

/** No row of a stream that no run has loaded would look like a stream without rows. @throws ConfigError */
async function requireLoaded(db: Db, { catalogue, companies, streams, tables, state }: ChangesOrder): Promise<void> {
  if (tables?.size === 0 || companies.some(company => state.companies[company] !== undefined)) return;
  const read = catalogue.filter(({ name }) => streams.has(name));
  for (const company of companies) if ((await publishedAmong(db, company, read)).size > 0) return;
  throw nothingLoaded(streams.size > 5 ? `rows of ${streams.size} streams` : `rows of ${[...streams].join(", ")}`);
}

/** Checks that the key in a state has as many values as the table's, and numbers for numeric columns. @throws ConfigError */
function requireKey({ name, key, columns }: ChangesTable, at: Positions[string] | undefined): void {
  if (at === undefined || at.key.length === 0) return;
  const isNumber = (part: string) => columns.find(column => column.name === part)?.storedAs === "bigint";
  const isFit = (part: string, nth: number) => !isNumber(part) || isBigint(at.key[nth] ?? "");
  if (at.key.length === key.length && key.every(isFit)) return;
  throw new ConfigError(changesMessages.unfit_key({ table: name, key, got: at.key }));
}

const isBigint = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

function behind(state: ChangesState, company: string, table: string, { changedAt, key }: ChangePosition): ChangesState {
  const at = { changed_at: changedAt, key: [...key] };
  return { ...state, companies: { ...state.companies, [company]: { ...state.companies[company], [table]: at } } };
}
