import type { Models } from "../catalog/model.ts";
import type { Stream } from "../catalog/stream.ts";
import type { Clock } from "../clock.ts";
import type { Config, DestinationConfig } from "../config/config.ts";
import { addressOf, titleOf } from "../config/destination.ts";
import { lockGroupOf } from "../config/selection.ts";
import { ConfigError, nothingLoaded } from "../errors.ts";
import type { Log } from "../logging.ts";
import { configured } from "../privacy/configured_catalog.ts";
import { holderOf } from "../sync/run/opening.ts";
import { viewsOf } from "../sync/run/preparation.ts";
import { openDestination, roleOf } from "../warehouse/connect/open.ts";
import { looking } from "../warehouse/connect/reading.ts";
import { versionsName } from "../warehouse/ddl/as_of.ts";
import { withTables } from "../warehouse/ddl/present_tables.ts";
import type { Destination, Opener } from "../warehouse/destination.ts";
import { type Expectation, prepareWarehouse } from "../warehouse/schema/prepare_warehouse.ts";
import { fillingOf, recordFilling } from "../warehouse/state/filling.ts";
import { companiesKept } from "../warehouse/state/identity.ts";
import { ensureState } from "../warehouse/state/state_ddl.ts";
import type { Pieces } from "../warehouse/transfer/row_text.ts";
import {
  type Copied,
  copyData,
  copyFacts,
  copyState,
  type Progress,
  type Sides,
  tablesLeft,
} from "../warehouse/transfer/transfer.ts";
import { storedName } from "../warehouse/views/view.ts";
import { moveMessages } from "./messages.ts";
import { UPLOADS } from "./upload/upload.ts";
import { canonical } from "./verify/compare_value.ts";

/** Where a warehouse is, and where it is moved to. */
export interface WarehouseMove {
  readonly config: Config;
  /** Of this one the destination counts, and what it says of views. */
  readonly to: Config;
  readonly catalogue: readonly Stream[];
  readonly models: Models;
  /** Of the program. */
  readonly version: string;
}

export interface MoveTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly watch: (progress: Progress) => void;
  /** How much is under way at once; absent: as much as is quick. */
  readonly pieces?: Pieces;
}

/** What was moved: every table equal, row by row, to what it was. */
export interface MoveReport {
  readonly from: string;
  readonly to: string;
  readonly companies: readonly string[];
  readonly tables: number;
  readonly rows: number;
  /** Tables that an attempt before this one had copied. */
  readonly found: number;
  /** Tables beside the streams' own, which stay where they are. */
  readonly left: readonly string[];
}

/**
 * Fills an empty warehouse from another one: tables, versions of rows, state. No request is sent. Both are locked meanwhile, the
 * former one keeps its rows; stopped or killed, the next attempt goes on with the table that was under way. @throws ConfigError,
 * LockedError, DestinationError
 */
export async function moveWarehouse(order: WarehouseMove, tools: MoveTools): Promise<MoveReport> {
  const [from, to] = [await placeText(order.config.destination), await placeText(order.to.destination)];
  if (isSame(order.config.destination, order.to.destination))
    throw new ConfigError(moveMessages.same_destination({ from }));
  await requireWhole(order.config.destination, from);
  const opener = openerOf(tools);
  await using former = await openDestination(order.config.destination, opener, tools.waitMs);
  await using made = await openDestination(order.to.destination, opener, tools.waitMs);
  const sides: Sides = { from: former, to: made, canonical, ...tools };
  const catalogue = configured(order.catalogue, order.config);
  for (const one of [former, made]) await ensureState(one.db, one.dialect, one.stateSchema);
  const companies = await companiesKept(former.db);
  const groups = [...new Set(catalogue.map(stream => lockGroupOf(catalogue, stream))), UPLOADS];
  for (const one of [former, made]) for (const company of companies) await one.lock(company, groups, tools.waitMs);
  await beginFilling(made, from, to);
  const streams = await withTables(former, catalogue);
  const wanted = { streams, versioned: await versionedIn(former, streams), catalogue, clock: tools.clock };
  await prepare(order, order.config, former, wanted);
  const state = await copyState(sides);
  await prepare(order, order.to, made, { ...wanted, fills: true });
  const models = new Set(order.models.models.map(({ name }) => storedName(name)));
  const sets = streams.flatMap(({ tables: { main, children } }) => [main, ...children]);
  const names = new Set(sets.flatMap(table => [table.name, versionsName(table)]));
  const data = await copyData(sides, names, name => models.has(name));
  await requireSameCompanies(former, companies);
  await copyFacts(sides);
  for (const { tables } of streams)
    await made.afterPublish(tables, data.find(({ table }) => table === tables.main.name)?.rows ?? 0);
  await made.releaseToReaders();
  // Last: until it is known to be whole, the same command goes on with it.
  await made.db.transaction().execute(trx => recordFilling(trx, undefined));
  if ((await made.releaseState()).isPending) await made.releaseToReaders();
  return { from, to, companies, ...sumOf([...state, ...data]), left: await tablesLeft(sides, names) };
}

function openerOf({ clock, log, runId, signal }: MoveTools): Opener {
  return {
    runId,
    holder: holderOf("tributary move", new Date(clock.now()).toISOString()),
    // A wait for a lock ends at the first signal.
    clock: { now: () => clock.now(), sleep: (ms, until) => clock.sleep(ms, until ?? signal) },
    waiting: (holder, wait_ms) => log.info(moveMessages.waiting({ wait_ms, holder })),
    stopReason: () => signal.reason,
  };
}

/** A first run of another company could begin beside the move: nothing of it was locked. */
async function requireSameCompanies({ db }: Destination, companies: readonly string[]): Promise<void> {
  const more = (await companiesKept(db)).filter(name => !companies.includes(name));
  if (more.length > 0) throw new ConfigError(moveMessages.more_companies({ companies, more }));
}

function sumOf(copied: readonly Copied[]): Pick<MoveReport, "tables" | "rows" | "found"> {
  return {
    tables: copied.length,
    rows: copied.reduce((sum, { rows }) => sum + rows, 0),
    found: copied.filter(({ isThere }) => isThere).length,
  };
}

/** Before anything is made: there is a warehouse, and all of it. @throws ConfigError */
async function requireWhole(destination: DestinationConfig, name: string): Promise<void> {
  const kept = await looking(destination, async ({ db }) => {
    const filling = await fillingOf(db);
    if (filling === undefined) return companiesKept(db);
    throw new ConfigError(moveMessages.source_not_whole({ warehouse: name, from: filling.from }));
  });
  if (kept === undefined || kept.length === 0) throw nothingLoaded("a warehouse to move");
}

/** From now on no run works on it until it is whole. @throws ConfigError unless it is empty, or was begun from the same warehouse */
async function beginFilling({ db }: Destination, from: string, to: string): Promise<void> {
  const filling = await fillingOf(db);
  if (filling?.from === from) return;
  if (filling !== undefined)
    throw new ConfigError(moveMessages.target_filled_from_another({ from, to, filled_from: filling.from }));
  const kept = await companiesKept(db);
  if (kept.length > 0) throw new ConfigError(moveMessages.target_not_empty({ to, companies: kept }));
  await db.transaction().execute(trx => recordFilling(trx, { from, done: {} }));
}

/** The streams whose versions of rows are there, also where they are kept no more. */
async function versionedIn({ db, dialect, schema }: Destination, streams: readonly Stream[]): Promise<Set<string>> {
  const names = streams.map(({ tables }) => ({ schema, name: versionsName(tables.main) }));
  const { rows } = await dialect.tablesAmong(names).execute(db);
  const there = new Set(rows.map(({ name }) => name));
  return new Set(streams.filter(({ tables }) => there.has(versionsName(tables.main))).map(({ name }) => name));
}

/** Makes the tables what a run of this version makes them. */
async function prepare(
  { version, models }: WarehouseMove,
  config: Config,
  destination: Destination,
  {
    clock,
    ...order
  }: Pick<Expectation, "catalogue" | "streams" | "versioned"> & { readonly clock: Clock; readonly fills?: boolean },
): Promise<void> {
  await prepareWarehouse(destination, {
    ...{ version, companies: [], lockGroups: [], lockedStreams: [], widening: [], waitMs: 0, ...order },
    grantSelectTo: config.destination.grantSelectTo,
    volatileOf: name => config.streams.settings[name]?.volatile ?? [],
    formats: config.formats,
    now: new Date(clock.now()).toISOString(),
    views: viewsOf({ config, models }),
  });
}

const isSame = (one: DestinationConfig, other: DestinationConfig): boolean =>
  one.type === other.type && addressOf(one) === addressOf(other) && one.stateSchema === other.stateSchema;

/** What messages call it: without credentials. */
async function placeText(destination: DestinationConfig): Promise<string> {
  const { host, database } = await roleOf(destination);
  const at = database === "" ? addressOf(destination) : `in database ${database} at ${host}`;
  return `${titleOf(destination)} ${at} (schemas ${destination.schema} and ${destination.stateSchema})`;
}
