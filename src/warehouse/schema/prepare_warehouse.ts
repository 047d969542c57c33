import type { Table } from "../../catalog/columns.ts";
import { lookupOf } from "../../catalog/lookup.ts";
import { type MeaningTests, readMeanings } from "../../catalog/meaning.ts";
import type { Models } from "../../catalog/model.ts";
import { constructedRelations } from "../../catalog/relation.ts";
import type { Stream } from "../../catalog/stream.ts";
import { digestOf } from "../../digest.ts";
import type { Message } from "../../message.ts";
import type { Schemas } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import { versionsComment } from "../ddl/comments.ts";
import type { Catalog } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import { historiesLeft, reconcileHistory } from "../history/row_history.ts";
import { dropStages } from "../state/drop_stages.ts";
import { factsOf } from "../state/facts.ts";
import { checkIdentity } from "../state/identity.ts";
import { ensureState } from "../state/state_ddl.ts";
import { type CurrencySource, keepRates, readRates } from "../views/currency_rates.ts";
import { analyticsSchema, type ViewOrder } from "../views/view.ts";
import { readExtensions, withExtensions } from "./extended_tables.ts";
import { type Look, recordsOf, rememberLook, type Seen, seenOf } from "./look.ts";
import { type Mended, mendLostRows } from "./lost_rows.ts";
import { forgetStream } from "./removal.ts";
import { type Checked, checkTables, commentTables, type Ensured, ensureTables, type TableOrder } from "./tables.ts";
import { chooseUnknownFieldColumns, withAdded } from "./unknown_field_columns.ts";

export interface Expectation {
  readonly version: string;
  readonly companies: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly companyId: string | undefined;
    /** Its address becomes what the warehouse knows it by. */
    readonly isRecorded: boolean;
  }[];
  /** Another address of a company is no reason to refuse it. */
  readonly acceptsAddress?: boolean | undefined;
  readonly catalogue: readonly Stream[];
  readonly streams: readonly Stream[];
  /** The lists (with their details) that this run works on. */
  readonly lockGroups: readonly string[];
  /** All streams of those lock groups. */
  readonly lockedStreams: readonly string[];
  readonly versioned: ReadonlySet<string>;
  readonly grantSelectTo: readonly string[];
  /** Streams of those lock groups whose fields get columns though the documents don't name them. */
  readonly widening: readonly string[];
  /** Columns that the config calls volatile, by stream. */
  readonly volatileOf: (stream: string) => readonly string[];
  readonly waitMs: number;
  /** Other processes lock the companies and work on them, each on one at a time. */
  readonly isShared?: boolean;
  /** The run compares everything with the tables themselves. */
  readonly isFull?: boolean;
  readonly now: string;
  readonly views: Views;
}

/** Looks for rows that the tables have lost. Rows are counted once a day and with `isFull`, in files that lie far away with `isFull` alone. */
export async function mendLost(
  destination: Destination,
  { companies, streams, lockedStreams, versioned, isFull, now }: WatchExpectation,
): Promise<readonly Mended[]> {
  const counts = isFull === true ? "all" : destination.dialect.rowsAreNear ? "daily" : "none";
  const watched = {
    streams: streams.filter(({ name }) => lockedStreams.includes(name)),
    counts,
    versioned,
    now,
  } as const;
  const mended: Mended[] = [];
  for (const { name: company } of companies) mended.push(await mendLostRows(destination, { ...watched, company }));
  return mended;
}

type WatchExpectation = Pick<Expectation, "streams" | "lockedStreams" | "versioned" | "isFull" | "now"> & {
  readonly companies: readonly { readonly name: string }[];
};

type HistoryExpectation = Pick<Expectation, "streams" | "versioned" | "lockedStreams" | "now"> & {
  readonly companies: readonly { readonly name: string }[];
};

/** The views beside the tables: whether there are to be any, and those that are written as files. */
export interface Views {
  /** As `views` of the configuration. */
  readonly wanted: boolean | "materialized";
  readonly models: Models;
  /** By which values the configuration says what rows are taken for. */
  readonly meanings: MeaningTests;
  readonly currency?: CurrencySource | undefined;
}

export interface Prepared {
  readonly done: readonly string[];
  /** What could not be changed though the run can go on. */
  readonly warnings: readonly Message[];
  /** Streams that cannot be worked on until somebody has changed something, with the reason. */
  readonly unusable: ReadonlyMap<string, Message>;
  /** The stream with the columns that were added to its tables, by tributary and by others. */
  readonly widened: (stream: Stream) => Stream;
  /**
   * Begins and ends histories, and has tables say that stand still; answers sentences. After `privacy` has been settled: a
   * version that is begun before says what the row does not, and nothing tells of it should the run be killed.
   */
  readonly reconcileHistories: () => Promise<readonly string[]>;
}

const none: ReadonlyMap<string, Message> = new Map();

/**
 * Makes a warehouse ready for a run: refuses what isn't ours, takes the locks, creates and upgrades tables. @throws DestinationError, ConfigError, LockedError, each before anything is written.
 */
export async function prepareWarehouse(
  destination: Destination,
  expectation: Expectation,
  look: Look,
): Promise<Prepared> {
  const { db, dialect, schema, stateSchema } = destination;
  const { version, streams, grantSelectTo, widening, volatileOf, versioned, now } = expectation;
  const { acceptsAddress, isShared = false } = expectation;
  const names = [streams.map(({ name }) => name), [...versioned], grantSelectTo];
  const asked = digestOf([version, expectation.catalogue, names, expectation.views]);
  const check = async (seen: Seen | undefined): Promise<Partial<Checked>> =>
    seen === undefined ? checkTables(db, dialect, tableOrder(destination, expectation)) : {};
  const before = await check(seenOf(look, asked));
  const read = await readRates(db, look.facts !== undefined, expectation.views.currency);
  const ensured = (catalog: Catalog | undefined) =>
    catalog === undefined ? [] : ensureState(db, dialect, stateSchema, catalog);
  const upgraded = await ensured(before.catalog);
  const companies = expectation.companies.filter(({ isRecorded }) => isRecorded);
  const identity = { schema, program: version, companies, acceptsAddress };
  await checkIdentity(db, dialect, identity);
  if (!isShared)
    for (const { name } of expectation.companies)
      await destination.lock(name, expectation.lockGroups, expectation.waitMs);
  // While a lock was waited for, or the service, somebody may have altered tables.
  const present = look.isOld() ? await look.again() : look;
  const isAsBefore = present.catalog === look.catalog;
  const { catalog, unusable = none } = isAsBefore ? before : await check(seenOf(present, asked));
  if (!isAsBefore) await ensured(catalog);
  const usable = streams.filter(({ name }) => !unusable.has(name));
  // The history of a stream that cannot be worked on is as it was.
  const usableLocked = expectation.lockedStreams.filter(name => !unusable.has(name));
  const widenable = streams.filter(({ name }) => widening.includes(name));
  const added = await chooseUnknownFieldColumns(destination, widenable, now);
  const widened = (stream: Stream): Stream => withAdded(stream, added, volatileOf(stream.name));
  const wide = { version, now, streams: usable.map(widened), grantSelectTo, versioned };
  const off = await offComments(destination, expectation);
  const order = {
    ...tableOrder(destination, wide),
    views: viewOrder(destination, expectation.catalogue.map(widened), expectation.views, off),
  };
  const columns = added.map(each => [each, volatileOf(each.stream).includes(each.name)]);
  const rest = digestOf([columns, [...off], recordsOf(await factsOf(db))]);
  const seen = seenOf(present, asked, rest);
  const { done, missing, warnings }: Ensured =
    seen === undefined ? await ensureTables(db, dialect, order) : { done: [], missing: [], warnings: seen.warnings };
  const extensions = seen?.extensions ?? (await readExtensions(db, dialect, order, catalog));
  await keepRates(db, stateSchema, read.rates);
  const mended = isShared ? [] : await mendLost(destination, { ...expectation, streams: usable });
  const lost = expectation.catalogue.filter(stream => missing.includes(stream.name));
  for (const stream of lost) await forgetLoss(destination, expectation, stream);
  const gone = lost.map(stream => `${stream.name}: its tables were gone, it is read from the start`);
  const reconcileHistories = async () => {
    const histories = isShared
      ? []
      : await reconcileHistoriesOf(destination, { ...expectation, streams: wide.streams, lockedStreams: usableLocked });
    const still = new Map([...off, ...(await leftComments(destination, expectation))]);
    const comments = digestOf([...still]);
    await markOff(destination, expectation);
    if (seen?.comments === comments) return histories;
    await commentTables(db, dialect, schema, still);
    const isChanged = unusable.size > 0 || (await present.again()).catalog !== present.catalog;
    if (!isChanged) await rememberLook(db, dialect, present, asked + rest, { extensions, comments, warnings });
    return histories;
  };
  return {
    done: [...upgraded, ...done, ...gone, ...mended.flatMap(each => each.done)],
    warnings: [...read.warnings, ...warnings, ...mended.flatMap(each => each.warnings)],
    unusable,
    widened: stream => withExtensions(widened(stream), extensions),
    reconcileHistories,
  };
}

/** Begins and ends the histories of these companies; answers sentences. `streams` have the columns that were added to their tables. */
export function reconcileHistoriesOf(
  destination: Destination,
  { companies, streams, versioned, lockedStreams, now }: HistoryExpectation,
): Promise<readonly string[]> {
  const kept = streams.filter(({ name }) => versioned.has(name) && lockedStreams.includes(name));
  return reconcileHistory(destination, {
    companies: companies.map(({ name }) => name),
    kept: kept.map(stream => stream.tables),
    left: lockedStreams.filter(name => !kept.some(stream => stream.name === name)),
    now,
  });
}

export function tableOrder(
  destination: Schemas,
  expectation: Pick<Expectation, "streams" | "grantSelectTo"> &
    Partial<Pick<Expectation, "versioned" | "version" | "now">>,
): TableOrder {
  const comments = new Map(
    expectation.streams.flatMap(stream =>
      [stream.tables.main, ...stream.tables.children].map(table => [table.name, tableComment(stream, table)]),
    ),
  );
  return {
    schema: destination.schema,
    stateSchema: destination.stateSchema,
    program: expectation.version,
    now: expectation.now,
    streams: expectation.streams.map(stream => stream.tables),
    versioned: expectation.versioned ?? new Set(),
    relations: constructedRelations(expectation.streams),
    comment: table => comments.get(table.name) ?? table.description,
    grantSelectTo: expectation.grantSelectTo,
  };
}

/** The views of a catalogue's tables, and the models. `comments`: by the table's name, instead of its own. */
export function viewOrder(
  destination: { readonly schema: string },
  catalogue: readonly Stream[],
  { wanted, models, meanings, currency }: Views,
  comments: ReadonlyMap<string, string> = new Map(),
): ViewOrder {
  return {
    ...models,
    meanings: readMeanings(models.meanings, catalogue, meanings),
    currency: currency?.report,
    schema: analyticsSchema(destination.schema),
    wanted: wanted !== false,
    stored: wanted === "materialized",
    catalogue,
    comment: (stream, table) => comments.get(table.name) ?? tableComment(stream, table),
  };
}

/** What a table's comment says: what it is, where it comes from, and what a row's absence means. */
export function tableComment(stream: Stream, table: Table): string {
  const { mode } = stream;
  const endpoint = `API: GET /api/v1${stream.path}${table.path.length === 0 ? "" : `, ${table.path.join(".")}`}.`;
  return [table.description, endpoint, absenceSentence(stream, mode)].filter(part => part !== "").join(" ");
}

/** What it means that the service no longer lists a row. */
export function absenceSentence(stream: Stream, mode: Stream["mode"]): string {
  switch (mode.kind) {
    case "detail": {
      if (mode.by === undefined) return `One request for each row of ${mode.of}; deleted with it.`;
      const columns = [`${mode.of}.${mode.by}`, ...(mode.also ?? [])];
      return `One request for each value of ${columns.join(" and ")}; deleted when no row carries it any more.`;
    }
    case "snapshot": {
      const names = Object.keys(mode.parameters ?? {});
      return `One row a day${names.length === 0 ? "" : ` for each ${names.join(" and ")}`}; never deleted.`;
    }
    default: {
      if (lookupOf(stream) !== undefined)
        return "Asked for the values that the configuration names; deleted when the service no longer knows them, or none names them.";
      const seen =
        mode.kind === "feed"
          ? ` A deletion is seen at the next full scan, every ${mode.fullScanEveryDays} days at the latest.`
          : "";
      const absence = mode.absence ?? "gone";
      if (absence === "kept") return `Rows that ${stream.path} no longer lists are kept.`;
      const meaning =
        absence === "left" ? "it left this working list, the normal end of a row" : "the service no longer lists it";
      return `_deleted_at: ${meaning}.${seen}`;
    }
  }
}

async function forgetLoss(destination: Destination, expectation: Expectation, stream: Stream): Promise<void> {
  await destination.db.transaction().execute(async trx => {
    for (const { name } of expectation.companies) {
      await forgetStream(trx, name, stream.name);
    }
  });
  for (const { name } of expectation.companies) await dropStages(destination, name, stream.tables);
}

/** What the tables of streams that are switched off say: since when they stand still. By the table's name. */
async function offComments(
  { db }: Destination,
  { catalogue, streams, now }: Expectation,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom("streams").select(["stream", "company", "last_success_at"]).execute();
  const comments = new Map<string, string>();
  for (const stream of catalogue.filter(candidate => !streams.includes(candidate))) {
    const last = rows
      .filter(row => row.stream === stream.name)
      .map(row => row.last_success_at?.toISOString() ?? now)
      .sort()
      .at(-1);
    if (last === undefined) continue;
    for (const table of [stream.tables.main, ...stream.tables.children]) {
      comments.set(
        table.name,
        `not updated since ${last.slice(0, 10)} (the stream is off). ${tableComment(stream, table)}`,
      );
    }
  }
  return comments;
}

/** What tables of versions say that are no longer kept. By the table's name. */
async function leftComments(
  { db }: Destination,
  { catalogue, streams, versioned, companies }: Expectation,
): Promise<ReadonlyMap<string, string>> {
  const names = companies.map(({ name }) => name);
  const comments = new Map<string, string>();
  for (const [name, since] of await historiesLeft(db, names)) {
    const stream = catalogue.find(candidate => candidate.name === name);
    const isOn = streams.some(candidate => candidate.name === name);
    // To be kept again, by the next run that works on it.
    if (stream === undefined || (isOn && versioned.has(name))) continue;
    const why = isOn ? "history" : "the stream";
    for (const table of [stream.tables.main, ...stream.tables.children])
      comments.set(
        versionsName(table),
        `not kept since ${since.slice(0, 10)} (${why} is off). ${versionsComment(table)}`,
      );
  }
  return comments;
}

/** A stream that is switched off keeps its tables; they say since when. */
async function markOff({ db }: Destination, { catalogue, streams, companies, now }: Expectation): Promise<void> {
  const off = catalogue.filter(stream => !streams.includes(stream)).map(({ name }) => name);
  const rows = await db.selectFrom("streams").select(["stream", "company", "on"]).where("on", "=", true).execute();
  for (const { stream, company } of rows) {
    if (!off.includes(stream) || !companies.some(({ name }) => name === company)) continue;
    await db
      .updateTable("streams")
      .set({ on: false, off_since: now })
      .where(({ and }) => and({ stream, company }))
      .execute();
  }
}
