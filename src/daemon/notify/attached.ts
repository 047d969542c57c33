import { withTimeLimit } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { Status } from "../../operations/status.ts";
import { isLate } from "../../warehouse/state/freshness.ts";
import type { CachedStatus } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";
import type { Past } from "../schedule/past_runs.ts";
import type { NotifyTools } from "./delivery.ts";
import { notifyMessages } from "./messages.ts";
import type { EndedReport } from "./notification.ts";
import { Notifier } from "./notify.ts";

/** What notifications are made from. `settings` is asked each time, so that a reloaded configuration holds. */
export interface Attachment {
  readonly daemon: Pick<Daemon, "listen">;
  readonly settings: () => Pick<Config, "notify" | "freshness">;
  /** What the warehouse's records say of the schedules' runs, the hook's included. */
  readonly past: () => Promise<Past | undefined>;
  readonly cachedStatus: () => Promise<CachedStatus>;
  readonly tools: Omit<NotifyTools, "signal">;
  /** Whether this daemon tells people, of several that see the same; absent: it does. */
  readonly isLeading?: () => Promise<boolean>;
}

export interface AttachedNotifier {
  readonly observeReport: (ended: EndedReport) => void;
  readonly end: () => Promise<void>;
}

const EVERY_MS = 60_000;
/** How long the start waits for the warehouse. */
const PATIENCE_MS = 5_000;
/** How long the end waits for deliveries; the run may have taken nine of the ten seconds of a stop. */
const FAREWELL_MS = 700;

/**
 * Notifications for as long as a daemon lives: call it before the first run begins, and `end` at the end. The
 * warehouse is read after runs and when data seems late, not each minute: a run of another process may want the file. Who finds
 * it in another's hands knows nothing yet, and looks again.
 */
export async function attachNotifier({
  daemon,
  settings,
  past,
  cachedStatus,
  tools,
  isLeading = async () => true,
}: Attachment): Promise<AttachedNotifier> {
  const { clock, log } = tools;
  const ending = new AbortController();
  let leads = false;
  const own = (): ReturnType<typeof settings> => {
    const { notify, ...rest } = settings();
    return { ...rest, notify: leads ? notify : { ...notify, targets: [] } };
  };
  const notifier = new Notifier(own, { ...tools, signal: ending.signal });
  let known: Status | undefined = (await cachedStatus()).status;
  // Where the records cannot be read no recovery is owed.
  const recorded = past().catch(() => undefined);
  notifier.recall(await withTimeLimit(clock, PATIENCE_MS, recorded, undefined), known);
  let observed = Promise.resolve();
  // One that doesn't lead sees it too: it may have to tell of the recovery.
  const observe = (work: () => void): void => {
    observed = observed.then(async () => {
      leads = await isLeading();
      work();
    });
  };
  const unlisten = daemon.listen(event => {
    if (event.kind === "finished") known = undefined;
    observe(() => notifier.observe(event));
  });

  const seemsLate = ({ streams }: Status): boolean => {
    const { lateAfterMs } = settings().freshness;
    return streams.some(stream => isLate(stream, lateAfterMs, clock.now()));
  };
  async function watch(): Promise<void> {
    while (!ending.signal.aborted) {
      // Without targets nothing is looked for; targets that a new configuration names are told from then on.
      leads = await isLeading();
      if (settings().notify.targets.length > 0) {
        if (known === undefined || known.warehouse.note !== null || seemsLate(known))
          known = (await cachedStatus()).status;
        notifier.checkLate(known);
      }
      await clock.sleep(EVERY_MS, ending.signal).catch(() => undefined);
    }
  }
  const watching = watch().catch(error => log.warn(notifyMessages.no_longer_watching(), { err: error }));

  const end = async () => {
    unlisten();
    const settled = observed.then(() => notifier.settle());
    await withTimeLimit(clock, FAREWELL_MS, settled, undefined);
    ending.abort();
    await watching;
  };
  return { end, observeReport: ended => observe(() => notifier.observeReport(ended)) };
}
