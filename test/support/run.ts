import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Simulator } from "../../simulator/simulator.ts";
import type { Look } from "../../src/cli/terminal/look.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type BackfillOrder, planBackfill, runBackfill } from "../../src/operations/backfill/backfill.ts";
import { type Estimate, estimateSync } from "../../src/operations/estimate/estimate.ts";
import type { VerifyReport } from "../../src/operations/verify/report.ts";
import { type VerifyOrder, verify } from "../../src/operations/verify/verify.ts";
import type { Refresh } from "../../src/sync/context.ts";
import { companiesOf, type RunReport, type RunView, runSync } from "../../src/sync/run/run.ts";
import type { RunLimits, RunOrder, RunTools, Selection } from "../../src/sync/run/run_order.ts";
import { identityEndpoint } from "../../streams/identity.ts";
import { streams } from "../../streams/index.ts";
import { relationsOf } from "../../streams/relations.ts";
import { type StillClock, stillClock } from "./clock.ts";
import { logTo } from "./log.ts";
import { models } from "./models.ts";
import type { Warehouse } from "./warehouse.ts";

/** What a test says about its runs; the rest is the configuration's defaults. */
export interface Setting {
  readonly simulator: Pick<Simulator, "url" | "key">;
  readonly warehouse: Pick<Warehouse, "destination">;
  readonly clock?: StillClock;
  /** Further keys of the configuration; `destination` is merged with the warehouse's. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Streams of the service that runs leave out, where the configuration names none to take or leave: they have no rows. */
  readonly unread?: readonly string[];
  /** How an order is run; absent: once. */
  readonly run?: (order: RunOrder, tools: RunTools) => Promise<RunReport>;
  /** Told by every run where to look for its progress. */
  readonly watch?: (view: RunView) => void;
}

/** An order in which selection, refresh and limits stand side by side: tests name few of them. */
type Flat = Omit<RunOrder, "config" | "command" | "selection" | "refresh" | "limits"> & Selection & Refresh & RunLimits;

export type Ordered = Partial<Flat>;

export type HistoryOrdered = Partial<Omit<Flat, "version" | keyof Refresh | "source">> &
  Partial<Pick<BackfillOrder, "range" | "resume" | "restart" | "workers">>;

export type Verified = Partial<Omit<VerifyOrder, "config">>;

/** A text that goes to no terminal. */
export const plain: Look = { width: undefined, paint: (_colour, text) => text };

/** Runs against one service and one warehouse. */
export interface Bench {
  readonly clock: StillClock;
  /** What the runs so far said, warnings and infos alike. */
  readonly said: string[];
  sync(order?: Ordered, signal?: AbortSignal): Promise<RunReport>;
  /** Loads history; `consent` is asked when it takes many requests. */
  backfill(
    order?: HistoryOrdered,
    signal?: AbortSignal,
    consent?: (estimate: Estimate) => Promise<void>,
  ): Promise<RunReport>;
  /** Compares the warehouse with the service. */
  verify(order?: Verified, signal?: AbortSignal): Promise<VerifyReport>;
  /** What such a sync would request. */
  dryRun(order?: Ordered): Promise<Estimate>;
  /** What such a backfill would request. */
  estimate(order?: HistoryOrdered): Promise<Estimate>;
  /** Changes the configuration of the runs to come. */
  configure(config: Readonly<Record<string, unknown>>): void;
}

export function bench({
  simulator,
  warehouse,
  clock = stillClock(),
  config = {},
  watch = () => undefined,
  run = runSync,
  unread = [],
}: Setting): Bench {
  const said: string[] = [];
  let more = config;
  const tools = (signal: AbortSignal): RunTools => ({
    clock,
    random: Math.random,
    log: logTo((text, _facts, level) => void (level === "debug" || said.push(text))),
    signal,
    redact: text => text,
    watch,
  });
  const configFor = ({ catalogue }: Pick<Ordered, "catalogue">) =>
    configOf(simulator, warehouse, catalogue === undefined ? leavingOut(unread, more) : more);
  const history = async (order: HistoryOrdered): Promise<BackfillOrder> => {
    const { range = { from: undefined, to: undefined }, resume = false, restart = false, ...flat } = order;
    const { refresh: _refresh, ...rest } = grouped({ ...whole, ...flat });
    return { ...rest, command: "backfill", range, resume, restart, config: await configFor(order) };
  };
  const never = new AbortController().signal;
  return {
    clock,
    said,
    configure(changed) {
      more = changed;
    },
    async sync(order = {}, signal = never) {
      const config = await configFor(order);
      return run({ command: "sync", ...grouped({ ...whole, ...order }), config }, tools(signal));
    },
    async backfill(order = {}, signal = never, consent = undefined) {
      return runBackfill(await history(order), tools(signal), consent);
    },
    async verify(order = {}, signal = never) {
      const { catalogue, identity, version, names, company, maxTimeMs, maxRequests, waitMs } = whole;
      const common = { catalogue, identity, version, names, company, maxTimeMs, maxRequests, waitMs };
      const all = { sample: undefined, seed: "seed" };
      const config = await configFor(order);
      return verify({ ...common, ...all, ...order, config }, tools(signal));
    },
    async dryRun(order = {}) {
      const flat = { ...whole, ...order };
      const { version, maxRequests, company } = flat;
      const config = await configFor(order);
      const given = { ...tools(never), version, maxRequests };
      return estimateSync({ ...grouped(flat), config }, companiesOf(config, company), given);
    },
    async estimate(order = {}) {
      return planBackfill(await history(order), tools(never));
    },
  };
}

const whole: Flat = {
  version: "0.0.0",
  catalogue: streams,
  models,
  relations: relationsOf,
  identity: identityEndpoint,
  names: [],
  company: undefined,
  full: false,
  allDetails: false,
  confirmDeletes: false,
  maxTimeMs: undefined,
  maxRequests: undefined,
  waitMs: 0,
};

function grouped(flat: Flat): Omit<RunOrder, "config" | "command"> {
  const { names, named, company, full, allDetails, resume, confirmDeletes, ...rest } = flat;
  const { maxTimeMs, maxRequests, waitMs, ...order } = rest;
  return {
    ...order,
    selection: { names, company, ...(named === undefined ? {} : { named }) },
    refresh: { full, allDetails, confirmDeletes, ...(resume === undefined ? {} : { resume }) },
    limits: { maxTimeMs, maxRequests, waitMs },
  };
}

type More = Readonly<Record<string, unknown>>;

function leavingOut(unread: readonly string[], config: More): More {
  const streams = (config["streams"] as object | undefined) ?? {};
  const chooses = ["preset", "include", "exclude"].some(key => Object.hasOwn(streams, key));
  return chooses || unread.length === 0 ? config : { ...config, streams: { ...streams, exclude: unread } };
}

/** The configuration of such runs. */
export async function configOf(simulator: Setting["simulator"], warehouse: Pick<Warehouse, "destination">, more: More) {
  const folder = await mkdtemp(join(tmpdir(), "tributary-config-"));
  const file = join(folder, "config.yaml");
  const destination = { ...warehouse.destination, ...((more["destination"] as object | undefined) ?? {}) };
  // Many a service has the machine's time, and runs have another.
  const api = {
    base_url: simulator.url,
    key: `\${KEY}`,
    clock: "ignore",
    ...((more["api"] as object | undefined) ?? {}),
  };
  // Views cost a new warehouse a fifth of a second: tests that are about them say so, those of the command have them all.
  await writeFile(file, stringify({ company: "acme", views: false, ...more, api, destination }));
  try {
    return (await loadConfig(file, { KEY: simulator.key })).config;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A stream's line of a report. */
export function lineOf(report: RunReport, stream: string): RunReport["streams"][number] {
  const line = report.streams.find(candidate => candidate.stream === stream);
  if (line === undefined)
    throw new Error(`the report has no ${stream}, only ${report.streams.map(s => s.stream).join(", ")}`);
  return line;
}
