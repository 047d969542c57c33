import type { Stream } from "../../catalog/stream.ts";
import { lockGroupOf, versionedBy } from "../../config/selection.ts";
import type { Message } from "../../message.ts";
import { isPolicyApplied, reconcilePrivacy } from "../../privacy/apply_policy.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { type Prepared, prepareWarehouse, type Views } from "../../warehouse/schema/prepare_warehouse.ts";
import { addedColumnsOf, withAdded } from "../../warehouse/schema/unknown_field_columns.ts";
import { acceptAddress } from "./accept_address.ts";
import { identityOf, isAccepted, isItself } from "./companies.ts";
import { policyOf } from "./jobs.ts";
import { runMessages } from "./messages.ts";
import type { PlannedRun } from "./opening.ts";
import type { Job } from "./report.ts";
import type { Service } from "./service.ts";

/** A run whose destination is open and whose companies have answered. */
export interface OpenedRun {
  readonly plan: PlannedRun;
  readonly destination: Destination;
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
    warnings: [destination, tables, privacy].flatMap(({ warnings }) => warnings).concat(begun),
  };
}

/** Joins a run that is prepared already: locks the streams as one of its parts, beside the others. */
export async function joinRun({ plan, destination, services, jobs }: OpenedRun, part: string): Promise<PreparedRun> {
  const { order, streams } = plan;
  const { lockGroups } = lockedBy(plan);
  for (const { company } of services.filter(isItself))
    await destination.lock(company.name, [...lockGroups], order.limits.waitMs, part);
  const added = await addedColumnsOf(destination);
  const { settings } = order.config.streams;
  const wide = new Map(
    streams.all.map(stream => [stream.name, withAdded(stream, added, settings[stream.name]?.volatile ?? [])]),
  );
  return {
    catalogue: [...wide.values()],
    jobs: jobs.map(job => ({ ...job, stream: wide.get(job.stream.name)! })),
    warnings: [...destination.warnings],
  };
}

/** Locks what the run works on, and creates, upgrades and widens tables and views. */
async function prepareTables({ plan, destination }: OpenedRun, present: readonly Service[]): Promise<Prepared> {
  const { order, startedAt, streams, privacy } = plan;
  const { config, version, limits } = order;
  const views = viewsOf(order);
  // Models that are kept as tables hold values as they were: they go before what they were made of is rewritten.
  const isTreated = views.wanted !== "materialized" || (await isPolicyApplied(destination, privacy.policy));
  const { all, on, selected } = streams;
  const { settings } = config.streams;
  const { lockGroups, held } = lockedBy(plan);
  return prepareWarehouse(destination, {
    version,
    companies: present.map(service => ({ ...identityOf(service), isRecorded: isAccepted(service) })),
    catalogue: all,
    streams: all.filter(stream => on.includes(stream) || selected.includes(stream)),
    lockGroups: [...lockGroups],
    lockedStreams: held.map(({ name }) => name),
    versioned: versionedBy(all, config.streams),
    acceptsAddress: order.acceptsAddress,
    grantSelectTo: config.destination.grantSelectTo,
    widening: selected.map(({ name }) => name).filter(name => policyOf(config, name).unknownFields === "column"),
    formats: config.formats,
    volatileOf: name => settings[name]?.volatile ?? [],
    waitMs: limits.waitMs,
    now: startedAt,
    views: isTreated ? views : { ...views, wanted: true },
  });
}

/** The views that the configuration asks for. */
export const viewsOf = ({ config, models }: Pick<PlannedRun["order"], "config" | "models">): Views => ({
  wanted: config.views,
  models,
  meanings: config.meanings,
  currency: config.currency,
});

/** The lock groups that the run works on, and all of their streams. Another address is accepted for all streams. */
function lockedBy({ order, streams: { all, selected } }: PlannedRun) {
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
    always: !source.asksService,
  });
}
