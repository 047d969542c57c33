import { describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/errors.ts";
import { sentence } from "../../support/log.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../scenario.ts";

const sizes = { items: 1_500, orders: 60, ingested: 3_000 };
const HOUR_MS = 3_600_000;
const AT_ONCE = 2;

interface Reader {
  readonly path: string;
  /** It reads what was loaded before. */
  readonly isLoaded?: true;
  run(place: Scenario, signal: AbortSignal, maxTimeMs: number | undefined): Promise<{ readonly exit_code: number }>;
}

const history = { from: "2025-06-01", to: undefined };
const readers: Readonly<Record<string, Reader>> = {
  "a list": { path: "/items", run: (place, signal, maxTimeMs) => place.sync({ names: ["items"], maxTimeMs }, signal) },
  "details that are read": {
    path: "/po/",
    run: (place, signal, maxTimeMs) => place.sync({ names: ["purchase_order_details"], maxTimeMs }, signal),
  },
  "a backfill of windows": {
    path: "/ingested",
    run: (place, signal, maxTimeMs) => place.backfill({ names: ["ingested"], range: history, maxTimeMs }, signal),
  },
  "a backfill of a list": {
    path: "/items",
    run: (place, signal, maxTimeMs) => place.backfill({ names: ["items"], maxTimeMs }, signal),
  },
  "a backfill of details": {
    path: "/po/",
    run: (place, signal, maxTimeMs) => place.backfill({ names: ["purchase_order_details"], maxTimeMs }, signal),
  },
  "verify, in a list": {
    path: "/items",
    isLoaded: true,
    run: (place, signal, maxTimeMs) => place.verify({ names: ["items"], maxTimeMs }, signal),
  },
  "verify, in details": {
    path: "/po/",
    isLoaded: true,
    run: (place, signal, maxTimeMs) => place.verify({ names: ["purchase_order_details"], maxTimeMs }, signal),
  },
};

describe.each(eitherWarehouse)("$name: the end of", ({ make }) => {
  const cases = Object.entries(readers).flatMap(([what, reader]) =>
    ["a signal", "--max-time"].map(how => [what, how, reader] as const),
  );
  test.each(cases)("%s by %s comes before its next request", async (_what, how, { path: asked, isLoaded, run }) => {
    const place = await scenario(make, sizes, { config: { api: { max_concurrency: AT_ONCE } } });
    if (isLoaded === true) await place.sync();
    const ending = new AbortController();
    let before = 0;
    let after = 0;
    place.look = ({ path }) => {
      if (!path.startsWith(asked)) return undefined;
      if (ending.signal.aborted) after++;
      else if (++before === 4) {
        if (how === "--max-time") place.clock.advance(HOUR_MS);
        // With --max-time it only says from when on to count.
        ending.abort(new StoppedError(sentence("stopped"), 143));
      }
      return undefined;
    };
    const isSignal = how === "a signal";
    const signal = isSignal ? ending.signal : new AbortController().signal;
    const report = await run(place, signal, isSignal ? undefined : HOUR_MS);
    expect(report).toMatchObject({ exit_code: isSignal ? 143 : 5 });
    // Requests that were under way when it came.
    expect(after).toBeLessThanOrEqual(AT_ONCE);
  });
});
