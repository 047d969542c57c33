import type { RunReport, RunSnapshot } from "../sync/run/report.ts";
import type { RunOrder } from "../sync/run/run_order.ts";
import { runDefaults } from "./connector.ts";
import { begin, type Run, type WatchOptions } from "./run.ts";
import { type OpenWarehouse, opened, type Warehouse } from "./warehouse.ts";

/** What a sync reads, how, and when it stops. */
export interface SyncOptions extends WatchOptions<RunSnapshot> {
  /** Names, patterns such as `invoice_*`, presets such as `preset:standard`; default: all that are on. */
  readonly streams?: readonly string[] | undefined;
  /** Default: all companies of the configuration. */
  readonly company?: string | undefined;
  /** Reads lists and feeds whole, whatever the high-water marks say. */
  readonly full?: boolean | undefined;
  /** Fetches the details of all rows again, unchanged ones too. */
  readonly details?: boolean | undefined;
  /** Lets `full` and `details` go on with what a stopped run began; without them a run always does. */
  readonly resume?: boolean | undefined;
  /** Reads lists and feeds whole, and accepts the deletions that were held back. */
  readonly confirmDeletes?: boolean | undefined;
  /** Records the service's new address, once it is compared with what is kept. Not with `workers`. */
  readonly acceptAddress?: boolean | undefined;
  /** Stops at a safe point after this time, in ms. */
  readonly maxTimeMs?: number | undefined;
  /** Stops at a safe point after this many requests. */
  readonly maxRequests?: number | undefined;
  /** How long another run's locks are waited for, in ms; default: not at all. */
  readonly waitMs?: number | undefined;
  /** Has the workers of the warehouse do it, and follows them; without the one who follows it goes on. */
  readonly workers?: boolean | undefined;
}

/**
 * Brings the tables up to date: reads what is new or changed, stores it, publishes it. It resolves for a run that began, also when
 * streams failed or it was stopped. @throws ConfigError, LockedError, DestinationError, StoppedError for what kept it from beginning
 */
export function sync(warehouse: Warehouse, options: SyncOptions = {}): Run<RunSnapshot, RunReport> {
  const own = opened(warehouse);
  return begin(own, options, async (tools, show) => {
    if (options.workers === true) {
      const { openFleet } = await import("../fleet/opening.ts");
      const { runOnWorkers } = await import("../fleet/following.ts");
      await using fleet = await openFleet(own.loaded.config, tools, { supervises: false });
      return await runOnWorkers(await syncOrder(own, options), { ...tools, ...fleet, watch: show });
    }
    const { runAttempts } = await import("../sync/run/attempts.ts");
    return runAttempts(await syncOrder(own, options), { ...tools, watch: show });
  });
}

/** The same as an order for a run, or for an estimate of one. */
export async function syncOrder({ loaded }: OpenWarehouse, options: SyncOptions): Promise<RunOrder> {
  const { streams = [], company, full, details, resume, confirmDeletes } = options;
  const { maxTimeMs, maxRequests, waitMs = 0, acceptAddress: acceptsAddress = false } = options;
  return {
    ...(await runDefaults()),
    ...{ command: "tributary sync", config: loaded.config, selection: { names: streams, company } },
    refresh: {
      full: full ?? false,
      allDetails: details ?? false,
      resume: resume ?? false,
      confirmDeletes: confirmDeletes ?? false,
    },
    limits: { maxTimeMs, maxRequests, waitMs },
    acceptsAddress,
  };
}
