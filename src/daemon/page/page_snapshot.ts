import { type Clock, isWithin } from "../../clock.ts";
import { TributaryError } from "../../errors.ts";
import type { Status } from "../../operations/status.ts";
import type { History } from "./history.ts";
import type { View } from "./page_model.ts";
import type { PageSource } from "./source.ts";

/** One look at everything. */
export interface PageSnapshot {
  readonly view: View;
  /** The warehouse's status as it was read just now; undefined when it could not be. */
  readonly fresh: Status | undefined;
}

interface Found {
  readonly fresh: Status | undefined;
  readonly unreadable: string | undefined;
}

/** Looks at a source, however many ask. */
export interface PageSnapshots {
  /** What could last be read stays while nothing can; never rejects. */
  look(): Promise<PageSnapshot>;
  /** What was seen so far, or is being looked at right now, is no longer how it is. */
  forget(): void;
}

export function createPageSnapshots(source: PageSource, clock: Clock, redact: (text: string) => string): PageSnapshots {
  let looking: Promise<Found> | undefined;
  let seen: { readonly found: Found; readonly at: number } | undefined;
  let known: { status: Status | undefined; history: History | undefined } = { status: undefined, history: undefined };

  const find = async (): Promise<Found> => {
    try {
      const fresh = await source.status();
      const history = await source.history();
      // A file in the hands of a run can't be looked into; what it held before is what readers have.
      if (fresh.warehouse.note === null) known = { status: fresh, history };
      else known = { status: held(fresh, known.status), history: known.history };
      return { fresh, unreadable: undefined };
    } catch (error) {
      return { fresh: undefined, unreadable: redact(messageOf(error)) };
    }
  };

  const found = (): Promise<Found> => {
    if (seen !== undefined && isWithin(clock, seen.at, source.keptMs())) return Promise.resolve(seen.found);
    if (looking !== undefined) return looking;
    const mine = find().then(all => {
      if (looking !== mine) return all;
      seen = { found: all, at: clock.now() };
      looking = undefined;
      return all;
    });
    looking = mine;
    return mine;
  };

  return {
    async look() {
      const { fresh, unreadable } = await found();
      const { daemon } = source;
      const view: View = {
        now: clock.now(),
        lateAfterMs: source.lateAfterMs(),
        unreadable,
        ...known,
        live: daemon?.live(),
        nextRuns: daemon?.nextRuns(),
        last: daemon?.last(),
      };
      return { view, fresh };
    },
    forget() {
      seen = undefined;
      looking = undefined;
    },
  };
}

function held(now: Status, before: Status | undefined): Status {
  if (before === undefined) return now;
  return { ...before, running: now.running, warehouse: { ...before.warehouse, note: now.warehouse.note } };
}

function messageOf(error: unknown): string {
  if (error instanceof TributaryError) return error.message;
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `The warehouse could not be looked at: ${what}. Run \`tributary check\`, which says what is wrong with it.`;
}
