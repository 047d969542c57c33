import { expect } from "vitest";
import type { FinishedRun } from "../../../src/daemon/schedule/events.ts";
import { streams } from "../../../streams/index.ts";
import type { Warehouse } from "../../support/warehouse.ts";
import { fromTheWall, onTheWall } from "./berlin.ts";
import { companyDays } from "./company_days.ts";
import { openPlace, type Place } from "./place.ts";

/** Nights of a daemon at a company that works every day at noon. Times are those of a clock on a wall in Berlin. */
export interface Month extends Omit<Place, "passTo"> {
  /** How many invoices change on a working day. */
  busy: number;
  /** Lets time pass. Each day's changes are held against what the night made of them; returned are the runs that ended, in words. */
  until(shown: string): Promise<readonly string[]>;
  /** The machine sleeps, people work. */
  asleepUntil(shown: string): void;
  /** No daemon is up, and nobody works. */
  quietUntil(shown: string): void;
}

/** By the table that shows it: the list that people change, and its key. */
const tables = {
  invoices: { list: "invoices", key: "doc_id" },
  invoice_matches: { list: "invoices", key: "doc_id" },
  findings: { list: "findings", key: "finding_item_id" },
  ingested: { list: "ingested", key: "id" },
} as const;

/** The streams that can be held against the service's present rows: not the one that keeps a row for every night. */
export const read = streams.filter(({ name }) => Object.hasOwn(tables, name));

/** At the given time; no daemon is up yet. */
export async function openMonth(make: () => Promise<Warehouse>, start: string): Promise<Month> {
  const place = await openPlace(make, fromTheWall(start));
  const { clock, events, warehouse } = place;
  const company = companyDays(place.simulator, clock.date);
  let heard = 0;
  let level: string | undefined;
  let noon = fromTheWall(`${start.slice(0, 10)} 12:00`);

  const nextNoon = (): number => fromTheWall(`${onTheWall(noon + 86_400_000).slice(0, 10)} 12:00`);

  /** Of all rows, those that people changed have moved their _changed_at since the warehouse was last level; no others, and none in a night that failed. */
  async function holdAgainst(last: FinishedRun): Promise<void> {
    const code = last.outcome.exit_code;
    // A run that was stopped has got somewhere; the one that goes on from there is held against the whole.
    if (code === 143) return;
    const changed = company.changed();
    if (level !== undefined) {
      const expected = Object.entries(tables).map(([table, { list }]) => [table, code === 0 ? changed[list] : []]);
      const found = await changedSince(warehouse, level);
      expect({ at: onTheWall(clock.now()), ...found }).toEqual({
        at: onTheWall(clock.now()),
        ...Object.fromEntries(expected),
      });
    }
    if (code !== 0) return;
    company.level();
    level = clock.date().toISOString();
  }

  async function news(): Promise<readonly string[]> {
    const ended = events.slice(heard).filter(event => event.kind === "finished");
    heard = events.length;
    const last = ended.at(-1);
    if (last !== undefined) await holdAgainst(last);
    return ended.map(lineOf);
  }

  const month: Month = {
    ...place,
    busy: 2,
    async until(time) {
      const moment = fromTheWall(time);
      const lines: string[] = [];
      for (;;) {
        const next = nextNoon();
        await place.passTo(Math.min(next, moment));
        lines.push(...(await news()));
        if (next > moment) return lines;
        noon = next;
        company.work(month.busy);
      }
    },
    asleepUntil(time) {
      for (let next = nextNoon(); next < fromTheWall(time); next = nextNoon()) {
        clock.suspend(next);
        company.work(month.busy);
        noon = next;
      }
      clock.suspend(fromTheWall(time));
    },
    quietUntil(time) {
      clock.suspend(fromTheWall(time));
      noon = fromTheWall(`${onTheWall(clock.now() - 43_200_000).slice(0, 10)} 12:00`);
    },
  };
  return month;
}

/** `2026-03-22 02:30 schedule: succeeded 0`. */
function lineOf({ run, outcome, retryAt }: FinishedRun): string {
  const how = "status" in outcome ? outcome.status : outcome.error;
  const again = retryAt === undefined ? "" : `, again at ${onTheWall(retryAt).slice(11)}`;
  return `${onTheWall(run.startedAt)} ${run.cause}: ${how} ${outcome.exit_code}${again}`;
}

async function changedSince(warehouse: Warehouse, moment: string): Promise<Record<string, readonly string[]>> {
  return warehouse.look(async ({ query }) => {
    const found: Record<string, readonly string[]> = {};
    for (const [table, { key }] of Object.entries(tables)) {
      const rows = await query<Record<string, string>>(
        `select ${key} from procurement.${table} where _changed_at > timestamptz '${moment}'`,
      );
      found[table] = rows.map(row => row[key]!).sort();
    }
    return found;
  });
}
