import type { Stream } from "../../catalog/stream.ts";
import { lockGroupOf, versionedBy } from "../../config/selection.ts";
import type { Message } from "../../message.ts";
import { isPolicyApplied, reconcilePrivacy } from "../../privacy/apply_policy.ts";
import { readCatalog } from "../../warehouse/ddl/database_catalog.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { readExtensions, withExtensions } from "../../warehouse/schema/extended_tables.ts";
import type { Look } from "../../warehouse/schema/look.ts";
import {
  type Expectation,
  mendLost,
  type Prepared,
  prepareWarehouse,
  reconcileHistoriesOf,
  tableOrder,
  type Views,
} from "../../warehouse/schema/prepare_warehouse.ts";
import { recordedColumns } from "../../warehouse/schema/table_record.ts";
import { compareTypes } from "../../warehouse/schema/tables.ts";
import { addedColumnsOf, withAdded } from "../../warehouse/schema/unknown_field_columns.ts";
import { checkIdentity } from "../../warehouse/state/identity.ts";
import { acceptAddress } from "./accept_address.ts";
import { identityOf, isAccepted, isItself } from "./companies.ts";
import { policyOf } from "./jobs.ts";
import { runMessages } from "./messages.ts";
import type { PlannedRun } from "./opening.ts";
import type { Job } from "./report.ts";
import { keyLockOf, type Service } from "./service.ts";

/** A run whose destination is open and whose companies have answered. */
export interface OpenedRun {
  readonly plan: PlannedRun;
  readonly destination: Destination;
  readonly look: Look;
  readonly services: readonly Service[];
  readonly jobs: readonly Job[];
}

/** What the streams are worked on with: the warehouse is as the configuration asks, and locked. */
export interface PreparedRun {
  /** All streams, with the columns that were added to their tables. */
  readonly catalogue: readonly Stream[];
  /** Those that no attempt before has done. */
  readonly jobs: readonly Job[];
  readonly warnings: readonly Message[];
  /** Streams that cannot be worked on as their tables are, with the reason. */
  readonly unusable?: ReadonlyMap<string, Message>;
}

export async function prepareRun(run: OpenedRun): Promise<PreparedRun> {
  const { plan, destination, jobs } = run;
  const { source, attempt, tools } = plan;
  const catalogue = plan.streams.all;
  const present = run.services.filter(isItself);
  const tables = await prepareTables(run, present);
  if (plan.order.acceptsAddress === true)
    for (const service of present) {
      const accepted = await acceptAddress(service, destination, catalogue, tools.signal);
      if (accepted !== undefined) tools.log.info(accepted);
    }
  const privacy = await reconcilePolicy(run);
  const histories = await tables.reconcileHistories();
  for (const done of [...tables.done, ...privacy.done, ...histories]) tools.log.info(runMessages.prepared({ done }));
  const wide = new Map(catalogue.map(stream => [stream, tables.widened(stream)]));
  const names = present.map(({ company }) => company.name);
  const begun = (await source.begin?.(destination, names, [...wide.values()])) ?? [];
  await attempt?.begin(destination);
  return {
    catalogue: [...wide.values()],
    jobs: jobs
      .filter(({ company, stream }) => attempt?.isDone(company, stream.name) !== true)
      .map(job => ({ ...job, stream: wide.get(job.stream)! })),
    unusable: tables.unusable,
    warnings: [destination, tables, privacy].flatMap(({ warnings }) => warnings).concat(begun),
  };
}

/** The locks of a run that works on one company: nobody else works on its streams, or sends requests with its key. */
export async function lockCompany(plan: PlannedRun, destination: Destination) {
  const { waitMs } = plan.order.limits;
  const [company] = plan.companies;
  // Where it can't be read the service's opening says so.
  await company!.refreshKey().catch(() => undefined);
  await destination.lock(...keyLockOf(company!), waitMs);
  await destination.lock(company!.name, [...lockedBy(plan).lockGroups], waitMs);
}

/** Joins a run whose warehouse another process has prepared, with one company, which `lockCompany` has locked. */
export async function joinRun(run: OpenedRun): Promise<PreparedRun> {
  const { plan, destination, services, jobs } = run;
  const { order, streams, startedAt: now, source } = plan;
  const { config, version } = order;
  const { db, dialect, schema } = destination;
  const added = await addedColumnsOf(destination);
  const widened = streams.all.map(stream =>
    withAdded(stream, added, config.streams.settings[stream.name]?.volatile ?? []),
  );
  const versioned = versionedBy(streams.all, config.streams);
  const wanted = tableOrder(destination, { streams: widened, grantSelectTo: [], versioned });
  const catalog = await readCatalog(db, dialect, [schema]);
  const extensions = await readExtensions(db, dialect, wanted, catalog);
  const { unusable } = await compareTypes(db, dialect, wanted, catalog, await recordedColumns(db));
  const wide = new Map(widened.map(stream => [stream.name, withExtensions(stream, extensions)]));
  const catalogue = [...wide.values()];
  const joined = { catalogue, unusable, jobs: jobs.map(job => ({ ...job, stream: wide.get(job.stream.name)! })) };
  const present = services.filter(isItself);
  const companies = present.filter(isAccepted).map(identityOf);
  await checkIdentity(db, dialect, { schema, program: version, companies });
  const names = present.map(({ company }) => company.name);
  const locked = {
    companies: present.map(identityOf),
    lockedStreams: lockedBy(plan)
      .held.map(({ name }) => name)
      .filter(name => !unusable.has(name)),
    ...{ versioned, now },
  };
  const tables = [...streams.on, ...streams.selected].map(({ name }) => name);
  // The others have no tables.
  const own = { ...locked, streams: catalogue.filter(({ name }) => tables.includes(name)) };
  const mended = await mendLost(destination, { ...own, isFull: isFull(order) });
  const histories = await reconcileHistoriesOf(destination, own);
  for (const done of [...mended.flatMap(each => each.done), ...histories])
    plan.tools.log.info(runMessages.prepared({ done }));
  const begun = (await source.begin?.(destination, names, catalogue)) ?? [];
  return { ...joined, warnings: [...destination.warnings, ...mended.flatMap(each => each.warnings), ...begun] };
}

/** Locks what the run works on, and creates, upgrades and widens tables and views. */
async function prepareTables({ plan, destination, look }: OpenedRun, present: readonly Service[]): Promise<Prepared> {
  const { order, startedAt, streams, privacy, source } = plan;
  const { config, version, limits } = order;
  const views = viewsOf(order);
  // Models that are kept as tables hold values as they were: they go before what they were made of is rewritten.
  const isTreated = views.wanted !== "materialized" || (await isPolicyApplied(destination, privacy.policy));
  const { all, on, selected } = streams;
  const { settings } = config.streams;
  const { lockGroups, held } = lockedBy(plan);
  const expectation: Expectation = {
    version,
    companies: present.map(service => ({
      ...identityOf(service),
      isRecorded: source.isShared !== true && isAccepted(service),
    })),
    catalogue: all,
    streams: all.filter(stream => on.includes(stream) || selected.includes(stream)),
    lockGroups: [...lockGroups],
    isShared: plan.source.isShared === true,
    isFull: isFull(order),
    lockedStreams: held.map(({ name }) => name),
    versioned: versionedBy(all, config.streams),
    acceptsAddress: order.acceptsAddress,
    grantSelectTo: config.destination.grantSelectTo,
    widening: selected.map(({ name }) => name).filter(name => policyOf(config, name).unknownFields === "column"),
    volatileOf: name => settings[name]?.volatile ?? [],
    waitMs: limits.waitMs,
    now: startedAt,
    views: isTreated ? views : { ...views, wanted: true },
  };
  return prepareWarehouse(destination, expectation, look);
}

const isFull = ({ refresh }: PlannedRun["order"]): boolean => refresh.full || refresh.allDetails;

/** The views that the configuration asks for. */
export const viewsOf = ({ config, models }: Pick<PlannedRun["order"], "config" | "models">): Views => ({
  wanted: config.views,
  models,
  meanings: config.meanings,
  currency: config.currency,
});

/** The lock groups that the run works on, and all of their streams. Another address is accepted for all streams. */
function lockedBy({ order, streams: { all, selected } }: Pick<PlannedRun, "order" | "streams">) {
  const lockGroups = new Set((order.acceptsAddress === true ? all : selected).map(stream => lockGroupOf(all, stream)));
  return { lockGroups, held: all.filter(stream => lockGroups.has(lockGroupOf(all, stream))) };
}

function reconcilePolicy({ plan, destination }: OpenedRun) {
  const { order, tools, startedAt, privacy, source } = plan;
  return reconcilePrivacy(destination, privacy, {
    archive: order.config.archive,
    waitMs: order.limits.waitMs,
    now: new Date(tools.clock.now()).toISOString(),
    askedAt: order.askedAt ?? startedAt,
    log: tools.log,
    always: !source.asksService && source.isShared !== true,
  });
}
