import type { Clock } from "../../clock.ts";
import { StoppedError } from "../../errors.ts";

/** Calls `stop` with a StoppedError when what is left of --max-time after `spentMs` is over, until the signal. */
export function limitTime(
  { maxTimeMs }: { readonly maxTimeMs: number | undefined },
  spentMs: number,
  clock: Clock,
  signal: AbortSignal,
  stop: (error: unknown) => void,
): void {
  if (maxTimeMs === undefined) return;
  const over = `--max-time is over after ${Math.round(maxTimeMs / 1000)} s: everything read so far is stored, the next run goes on from there.`;
  clock.sleep(Math.max(0, maxTimeMs - spentMs), signal).then(
    () => stop(new StoppedError(over, 5)),
    () => undefined,
  );
}
