import { type Given, syncOptions } from "../options/options.ts";
import type { RunReport, RunSnapshot } from "../sync/run/report.ts";
import type { RunOrder } from "../sync/run/run_order.ts";
import { runDefaults } from "./connector.ts";
import { begin, checked, type Run, type WatchOptions } from "./run.ts";
import { type OpenWarehouse, opened, type Warehouse } from "./warehouse.ts";

/** What a sync reads, how, and when it stops. */
export interface SyncOptions extends WatchOptions<RunSnapshot>, Given<typeof syncOptions> {}

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
  const { streams = [], company, full = false, details = false, ...others } = checked(syncOptions, options);
  const { resume = false, confirmDeletes = false, acceptAddress = false, maxTimeMs, maxRequests, waitMs = 0 } = others;
  return {
    ...(await runDefaults()),
    ...{ command: "tributary sync", config: loaded.config, selection: { names: streams, company } },
    refresh: { full, allDetails: details, resume, confirmDeletes },
    limits: { maxTimeMs, maxRequests, waitMs },
    acceptsAddress: acceptAddress,
  };
}
