import { isDeepStrictEqual } from "node:util";
import { type Asking, loadedColumn, sourcesOf, valueSets, waitsFor } from "../../catalog/lookup.ts";
import { fixedPaths, type Scan, type Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import { buildPath, PathError } from "../../source/path.ts";
import { type Looked, withTables } from "../../warehouse/ddl/present_tables.ts";
import { distinctValues } from "../../warehouse/read/distinct_values.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import type { BegunQuestions } from "../../warehouse/state/stream_state.ts";
import { isComplete } from "../../warehouse/state/table_counts.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import type { Question } from "../extract/lookups.ts";
import { lookupMessages } from "./messages.ts";

/** Values that can't be asked for are named up to so many times. */
const MOST_TOLD = 3;

type Values = Readonly<Record<string, readonly string[]>>;

export interface Questions {
  readonly asked: readonly Question[];
  /** Why values can't be asked for, a sentence each. */
  readonly unusable: readonly Message[];
}

interface Place {
  readonly looked: Looked | undefined;
  readonly company: string;
  readonly catalogue: readonly Stream[];
}

/** Works out a lookup's questions by the config and by the tables that it takes values from. */
export async function questionsOf(place: Place, stream: Stream, mode: Scan, asking: Asking): Promise<Questions> {
  return questionsWith(await findValues(place, stream, asking), place.catalogue, stream, mode, asking);
}

async function findValues({ looked, company, catalogue }: Place, stream: Stream, asking: Asking): Promise<Values> {
  const found: Record<string, readonly string[]> = {};
  for (const [name, columns] of Object.entries(sourcesOf(stream, asking))) {
    const loaded = columns.map(column => loadedColumn(catalogue, column)).filter(column => column !== undefined);
    found[name] = looked === undefined ? [] : await distinctValues(looked, company, loaded);
  }
  return found;
}

function questionsWith(
  found: Values,
  catalogue: readonly Stream[],
  stream: Stream,
  mode: Scan,
  asking: Asking,
): Questions {
  const siblings = fixedPaths(catalogue);
  const shared = { ...stream.query, ...(mode.limit === undefined ? {} : { limit: mode.limit }) };
  const asked: Question[] = [];
  const unusable: Message[] = [];
  for (const { path, query, context } of valueSets(stream, asking, found)) {
    try {
      asked.push({ path: buildPath(stream.path, path, siblings), query: { ...shared, ...query }, context });
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      unusable.push(lookupMessages.unusable_value({ reason: error.message }));
    }
  }
  return { asked, unusable };
}

/** A lookup's questions for a run, and what is to be remembered of them while they are asked; null: they come from the config alone. */
export interface RunQuestions {
  readonly query: readonly Question[];
  /** What is not among them is not asked for any more; else a source that was never read whole may still name it. */
  readonly full: boolean;
  readonly begun: BegunQuestions | null;
}

/** A lookup's questions for a run. Values that can't be asked for, and sources that are off, cost nothing but a warning. */
export async function findQuestions(sync: StreamSync<Scan>): Promise<RunQuestions> {
  const { context, stream, mode, progress } = sync;
  const { company, destination, log } = context;
  const { catalogue } = context.streams;
  const { name } = stream;
  const asking = context.policy.ofStream(name);
  const from = sourcesOf(stream, asking);
  const found = await findValues({ looked: destination, company, catalogue }, stream, asking);
  const { asked, unusable } = questionsWith(found, catalogue, stream, mode, asking);
  progress.warnings.push(...unusable.slice(0, MOST_TOLD));
  const columns = Object.values(from).flat();
  const sources = columns.flatMap(column => loadedColumn(catalogue, column)?.stream ?? []);
  if (asked.length > 0) {
    const all = await areReadWhole(context, sources);
    return { query: asked, full: all, begun: columns.length === 0 ? null : { from, found, all } };
  }
  const off = waitsFor(stream, asking).filter(table => !isWanted(context, table));
  if (off.length === 0) log.info(lookupMessages.no_values(), { stream: name });
  else progress.warnings.push(lookupMessages.sources_off({ stream: name, tables: off }));
  return { query: [], full: false, begun: null };
}

/** The questions that a run before had begun to ask, where the config still means the same columns. */
export function begunQuestions(sync: StreamSync<Scan>, begun: BegunQuestions | null): RunQuestions | undefined {
  const { context, stream, mode } = sync;
  const asking = context.policy.ofStream(stream.name);
  const from = sourcesOf(stream, asking);
  if (begun === null || !isDeepStrictEqual(begun.from, from)) return undefined;
  // PostgreSQL keeps JSON's keys in an order of its own, and the questions come in that of the parameters.
  const found = Object.fromEntries(Object.keys(from).map(name => [name, begun.found[name] ?? []]));
  const { asked } = questionsWith(found, context.streams.catalogue, stream, mode, asking);
  return { query: asked, full: begun.all, begun };
}

/** Whether streams that carry values were ever read whole, or all fetched: only then is a value gone that no row carries. One that is off and has no tables carries none. */
export async function areReadWhole(context: SyncContext, sources: readonly Stream[]): Promise<boolean> {
  const { destination, company, streams } = context;
  const present = await withTables(destination, sources);
  for (const source of sources) {
    const { name, mode } = source;
    if (mode.kind === "snapshot") continue;
    if (!streams.wanted.has(name) && !present.includes(source)) continue;
    if (mode.kind === "detail") {
      if (!(await isComplete(destination.db, company, name))) return false;
    } else if ((await loadStreamState(destination.db, company, name)).lastFullAt === null) return false;
  }
  return true;
}

function isWanted({ streams: { catalogue, wanted } }: SyncContext, table: string): boolean {
  const holder = catalogue.find(({ tables }) => [tables.main, ...tables.children].some(each => each.name === table));
  return holder !== undefined && wanted.has(holder.name);
}
