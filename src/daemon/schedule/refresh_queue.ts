import { REFRESH } from "../../config/schedules.ts";
import type { NamedRows } from "../../operations/refresh.ts";
import type { Turn } from "./order.ts";

interface RefreshTurn extends Turn {
  readonly rows: NamedRows;
}

/** Keys that may wait at once, of all lists. */
const MOST_KEYS = 1_000;
const RETRIES = 3;
const RETRY_AFTER_MS = 60_000;

/** Rows whose details hints asked for, until a run takes them: those of one list are one run. */
export class RefreshQueue {
  readonly #turns = new Map<string, RefreshTurn>();

  get waiting(): readonly RefreshTurn[] {
    return [...this.#turns.values()];
  }

  /** Answers whether there is room: where not, nothing of it is noted. */
  add(rows: NamedRows, now: number, waitMs: number): boolean {
    const others = this.waiting.filter(turn => turn.rows.list !== rows.list);
    const fresh = this.#merged({ rows, at: now, failures: 0, waitMs });
    if ([...others, fresh].reduce((sum, turn) => sum + turn.rows.keys.length, 0) > MOST_KEYS) return false;
    this.#turns.set(rows.list, fresh);
    return true;
  }

  take(turn: Turn): void {
    if (turn.rows !== undefined && this.#turns.get(turn.rows.list) === turn) this.#turns.delete(turn.rows.list);
  }

  /** Has a failed run's rows asked for again, beside those that wait by now; returns when, undefined after the last try. */
  retry({ rows, failures: before, waitMs }: Turn, now: number): number | undefined {
    const failures = before + 1;
    if (rows === undefined || failures > RETRIES) return undefined;
    const again = this.#merged({ rows, failures, waitMs, at: now + RETRY_AFTER_MS * 2 ** (failures - 1) });
    this.#turns.set(rows.list, again);
    return again.at;
  }

  /** After the clock was set back what waits is due at once. */
  startOver(now: number): void {
    for (const [list, turn] of this.#turns) this.#turns.set(list, { ...turn, at: Math.min(turn.at, now) });
  }

  #merged({ rows, at, failures, waitMs }: Pick<RefreshTurn, "rows" | "at" | "failures" | "waitMs">): RefreshTurn {
    const known = this.#turns.get(rows.list);
    const keys = [...new Set([...(known?.rows.keys ?? []), ...rows.keys])];
    return {
      ...{ schedule: REFRESH, names: [], company: undefined, maxTimeMs: undefined, waitMs },
      at: Math.min(at, known?.at ?? at),
      failures: Math.max(failures, known?.failures ?? 0),
      cause: failures > 0 ? "retry" : "hint",
      rows: { list: rows.list, keys },
    };
  }
}
