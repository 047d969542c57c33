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
import type { Db } from "../warehouse/database.ts";
import { versionsName } from "../warehouse/ddl/as_of.ts";
import { withTables } from "../warehouse/ddl/present_tables.ts";
import type { Destination, Opener } from "../warehouse/destination.ts";
import { type Look, lookAt } from "../warehouse/schema/look.ts";
import { type Expectation, prepareWarehouse } from "../warehouse/schema/prepare_warehouse.ts";
import { addedColumnsOf, withAdded } from "../warehouse/schema/unknown_field_columns.ts";
import { companiesKept } from "../warehouse/state/identity.ts";
import { ensureState } from "../warehouse/state/state_ddl.ts";
import { openUploadLedger } from "../warehouse/state/uploads.ts";
import { copyWarehouse, type Progress } from "../warehouse/transfer/transfer.ts";
import { storedName } from "../warehouse/views/view.ts";
import { moveMessages } from "./messages.ts";
import { UPLOADS } from "./upload/upload.ts";
import { canonical } from "./verify/compare_value.ts";

/** Where a warehouse is, and where it is moved to: of `to` the destination counts, and what it says of views. */
export interface WarehouseMove {
  readonly config: Config;
  readonly to: Config;
  readonly catalogue: readonly Stream[];
  readonly models: Models;
  readonly version: string;
}

export interface MoveTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly watch: (progress: Progress) => void;
}

/** What was moved: every table equal, row by row, to what it was. `left`: tables and columns of no stream, which stay. */
export interface MoveReport {
  readonly from: string;
  readonly to: string;
  readonly companies: readonly string[];
  readonly tables: number;
  readonly rows: number;
  readonly left: readonly string[];
}

/**
 * Fills an empty warehouse from another one: tables, versions of rows, state. No request is sent. Both are locked meanwhile, and
 * the former one keeps its rows. Rows and state arrive in one transaction: stopped or killed, the new one is still empty.
 * @throws ConfigError, LockedError, DestinationError
 */
export async function moveWarehouse(order: WarehouseMove, tools: MoveTools): Promise<MoveReport> {
  const [from, to] = [await placeText(order.config.destination), await placeText(order.to.destination)];
  if (from === to) throw new ConfigError(moveMessages.same_destination({ from }));
  const companies = (await looking(order.config.destination, ({ db }) => companiesKept(db))) ?? [];
  if (companies.length === 0) throw nothingLoaded("a warehouse to move");
  const present = (await looking(order.to.destination, ({ db }) => companiesKept(db))) ?? [];
  if (present.length > 0) throw new ConfigError(moveMessages.target_not_empty({ to, companies: present }));
  await using former = await openDestination(order.config.destination, openerOf(tools), tools.waitMs);
  await using made = await openDestination(order.to.destination, openerOf(tools), tools.waitMs);
  const groups = [...new Set(order.catalogue.map(stream => lockGroupOf(order.catalogue, stream))), UPLOADS];
  await ensureState(made.db, made.dialect, made.stateSchema);
  for (const one of [former, made]) for (const company of companies) await one.lock(company, groups, tools.waitMs);
  // Rows that the table lacks after a damaged file was replaced lie beside it, where the new warehouse does not look.
  if ((await former.journal?.lines()) !== undefined) {
    await ensureState(former.db, former.dialect, former.stateSchema);
    await openUploadLedger(former, order.config.companies);
  }
  const added = await addedColumnsOf(former);
  const all = configured(order.catalogue, order.config).map(stream => withAdded(stream, added, []));
  const streams = await withTables(former, all);
  const now = new Date(tools.clock.now()).toISOString();
  const look = await lookAt(made, { ...tools, readers: order.to.destination.grantSelectTo, functions: true });
  await prepare(order, made, former, { catalogue: all, streams, now }, look);
  const sets = streams.flatMap(({ tables: { main, children } }) => [main, ...children]);
  const names = new Set(sets.flatMap(table => [table.name, versionsName(table)]));
  const stays = new Set(order.models.models.map(({ name }) => storedName(name)));
  const report = await inSnapshot(former, async db => {
    const lacking = (columns: readonly string[]) =>
      new ConfigError(moveMessages.source_lacks_columns({ from, columns }));
    const sides = { from: { ...former, db }, to: made, names, stays, canonical, lacking };
    return { from, to, companies, ...(await copyWarehouse({ ...sides, ...tools })) };
  });
  for (const { tables } of streams) await made.afterPublish(tables, report.rows);
  await made.releaseToReaders();
  return report;
}

/** A DuckDB file has no other writer. */
const inSnapshot = <T>({ db, dialect }: Destination, work: (db: Db) => Promise<T>): Promise<T> =>
  dialect.hasOtherWriters ? db.transaction().setIsolationLevel("repeatable read").execute(work) : work(db);

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

async function prepare(
  { version, models, to }: WarehouseMove,
  made: Destination,
  { db, dialect, schema }: Destination,
  wanted: Pick<Expectation, "catalogue" | "streams" | "now">,
  look: Look,
): Promise<void> {
  const names = wanted.streams.map(({ tables }) => ({ schema, name: versionsName(tables.main) }));
  const { rows } = await dialect.tablesAmong(names).execute(db);
  const there = new Set(rows.map(({ name }) => name));
  const versioned = wanted.streams.filter(({ tables }) => there.has(versionsName(tables.main)));
  const expectation: Expectation = {
    ...{ version, companies: [], lockGroups: [], lockedStreams: [], widening: [], waitMs: 0, ...wanted },
    versioned: new Set(versioned.map(({ name }) => name)),
    grantSelectTo: to.destination.grantSelectTo,
    volatileOf: name => to.streams.settings[name]?.volatile ?? [],
    views: viewsOf({ config: to, models }),
  };
  await prepareWarehouse(made, expectation, look);
}

/** What messages call it: without credentials. */
async function placeText(destination: DestinationConfig): Promise<string> {
  const { host, database } = await roleOf(destination);
  const at = database === "" ? addressOf(destination) : `in database ${database} at ${host}`;
  return `${titleOf(destination)} ${at} (schemas ${destination.schema} and ${destination.stateSchema})`;
}
