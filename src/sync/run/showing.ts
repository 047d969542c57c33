import type { Clock } from "../../clock.ts";
import type { Log } from "../../logging.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { show } from "./conclusion.ts";

/** What is shown, and by which clock. */
interface Showing {
  readonly destination: Destination;
  readonly tools: { readonly clock: Clock; readonly log: Log };
}

/** Between two looks at a first load: a publish of a small file takes a fifth of a second. */
const FIRST_LOOK_MS = 5_000;

/**
 * A first load is usable early: its lists are shown when they have been read, unless that was a moment ago. Whether it is
 * one is asked when it matters: most runs are over by then.
 */
export function firstLook({ destination, tools }: Showing): () => Promise<void> {
  const { clock, log } = tools;
  let isFirst: boolean | undefined;
  let last = clock.now();
  return async () => {
    if (isFirst === false || clock.now() - last < FIRST_LOOK_MS) return;
    last = clock.now();
    const { owed, shownAt } = await destination.unshown();
    isFirst ??= shownAt === undefined;
    if (isFirst && owed) await show(destination, log);
  };
}

/** While a long run lasts, readers are shown what has been published so far. */
export async function showEvery({ destination, tools }: Showing, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await tools.clock.sleep(everyMs, signal).catch(() => undefined);
    if (!signal.aborted && (await destination.unshown()).owed) await show(destination, tools.log);
  }
}
