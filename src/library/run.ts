import { systemClock } from "../clock.ts";
import { refuse } from "../errors.ts";
import { nearest } from "../nearest_name.ts";
import { type Given, type Options, programRules } from "../options/options.ts";
import type { RunTools } from "../sync/run/run_order.ts";
import { libraryMessages } from "./messages.ts";
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

/** Options of a call, once each fits its schema. @throws ConfigError for all that don't */
export function checked<O extends Options>(
  options: O,
  { signal: _signal, watch: _watch, ...given }: Given<O> & WatchOptions<never>,
): Given<O> {
  const rules = programRules(options);
  const { data, error } = rules.safeParse(given);
  if (error === undefined) return data as Given<O>;
  const known = Object.keys(rules.shape);
  const faults = error.issues.flatMap(issue =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map(option => libraryMessages.unknown_option({ option, suggestion: nearest(option, known), known }))
      : libraryMessages.option_value({ option: String(issue.path[0]), reason: issue.message }),
  );
  refuse(faults);
  throw new TypeError("A call was refused without a fault.");
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
