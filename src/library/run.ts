import { systemClock } from "../clock.ts";
import type { RunTools } from "../sync/run/run_order.ts";
import type { OpenWarehouse } from "./warehouse.ts";

/**
 * Work that is under way: a promise of its report that can be iterated, too. An iteration gives about each second how the work stands,
 * and once more at its end; it throws what the work fails with. Leaving the loop does not stop the work: a signal does.
 */
export type Run<Progress, Report> = Promise<Report> & AsyncIterable<Progress>;

/** Where to look for how work stands, at any time. */
export interface ProgressView<Progress> {
  snapshot(): Progress;
}

/** What every kind of work takes. */
export interface WorkOptions {
  /** Stops it at the next safe point. What was stored until then stays, and the next call goes on from there. */
  readonly signal?: AbortSignal | undefined;
}

/** The same for work whose progress can be watched. */
export interface WatchOptions<Progress> extends WorkOptions {
  /** Is given once, as soon as it is known what there is to do, where to look for progress at any time. */
  readonly watch?: ((view: ProgressView<Progress>) => void) | undefined;
}

const EVERY_MS = 1_000;

/** Begins work with tools that are bound to nothing but the warehouse. */
export function begin<Progress, Report>(
  warehouse: OpenWarehouse,
  { signal, watch }: WatchOptions<Progress>,
  work: (tools: Omit<RunTools, "watch">, show: (view: ProgressView<Progress>) => void) => Promise<Report>,
): Run<Progress, Report> {
  let shown: ProgressView<Progress> | undefined;
  const show = (view: ProgressView<Progress>) => {
    shown = view;
    watch?.(view);
  };
  const report = warehouse.within(signal, own => {
    const { log, redact } = warehouse;
    return work({ clock: systemClock, random: Math.random, log, signal: own, redact }, show);
  });
  return Object.assign(report, { [Symbol.asyncIterator]: () => progressOf(report, () => shown) });
}

async function* progressOf<Progress>(
  report: Promise<unknown>,
  view: () => ProgressView<Progress> | undefined,
): AsyncGenerator<Progress, void, undefined> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const over = report.then(end, end);
  while (!isOver) {
    const pause = new AbortController();
    await Promise.race([over, systemClock.sleep(EVERY_MS, pause.signal).catch(() => undefined)]);
    pause.abort();
    const shown = view();
    if (shown !== undefined) yield shown.snapshot();
  }
  await report;
}
