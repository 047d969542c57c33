import type { Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import { StoppedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { type Backfill, notePlans } from "./backfill_plans.ts";
import type { RunSource } from "./jobs.ts";
import { runMessages } from "./messages.ts";

/** How often a backfill looks whether another run waits for it. */
const GLANCE_MS = 2_000;
/** How long it stays away, so that the other finds the lock free: longer than any wait looks twice. */
export const ASIDE_MS = 1_500;
/** How long it then waits for the other to end. */
export const LONGEST_TURN_MS = 24 * 3_600_000;

/** The part of a backfill's source that notes its plans and lets other runs go first. */
export interface GivingWay extends Required<Pick<RunSource, "givesWay" | "underWay">> {
  /** Notes the plans; what has begun already `goesOn`. */
  begin(
    destination: Destination,
    companies: readonly string[],
    catalogue: readonly Stream[],
    goesOn?: boolean,
  ): Promise<readonly Message[]>;
  /** Aborted when another run waits for what this one holds. */
  readonly wanted: AbortSignal;
  /** Looks no more. */
  end(): void;
}

/** `isAwaited`: whether another run waits for what this one holds. */
export function givingWay(
  backfill: Backfill,
  clock: Clock,
  isAwaited = (destination: Destination) => destination.isWanted(),
): GivingWay {
  const wanted = new AbortController();
  const over = new AbortController();
  let noting = backfill;
  const lookOut = async (destination: Destination): Promise<void> => {
    while (!over.signal.aborted && !wanted.signal.aborted) {
      await clock.sleep(GLANCE_MS, over.signal);
      if (await isAwaited(destination)) wanted.abort(new StoppedError(runMessages.lock_given_up(), 5));
    }
  };
  return {
    ...{ givesWay: true, wanted: wanted.signal, end: () => over.abort() },
    async begin(destination, companies, catalogue, goesOn = false) {
      const continuing = { ...backfill, continued: true, restart: false };
      const plans = goesOn ? continuing : noting;
      await notePlans(destination, plans, companies, catalogue, new Date(clock.now()).toISOString());
      // Should the destination be lost, what has been loaded until then is not begun again.
      noting = continuing;
      return [];
    },
    // A lost destination is reported by the run that uses it.
    underWay: destination => void lookOut(destination).catch(() => undefined),
  };
}
