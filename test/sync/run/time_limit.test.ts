import { describe, expect, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { runAttempts } from "../../../src/sync/run/attempts.ts";
import { stillClock } from "../../support/clock.ts";
import { bench } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";

describe.each(eitherWarehouse)("a limit of time in $name", ({ make }) => {
  async function limited(maxTimeMs: number, prepare: (faults: object) => void = () => undefined) {
    const still = stillClock();
    let passed = 0;
    // Each look at this clock takes a millisecond, as on a busy machine.
    const clock = { ...still, now: () => still.now() + passed++ };
    const simulator = await startSimulator({ sizes: { items: 5 }, now: still.date });
    const warehouse = await make();
    const place = bench({ simulator, warehouse, clock, run: runAttempts });
    await place.sync({ names: ["items"] });
    prepare(simulator.faults);
    const report = place.sync({ names: ["items"], full: true, maxTimeMs });
    return report.finally(() => simulator.close());
  }

  test("is told as it was given, whatever passed before it began", async () => {
    const waits = (faults: object) => Object.assign(faults, { planLimit: { remaining: 0, retryAfterSeconds: 40 } });
    await expect(limited(1_000, waits)).rejects.toMatchObject({
      ...{ code: "run.time_over", fields: { max_time_ms: 1_000 } },
      message: expect.stringMatching(/^--max-time is over after 1 s: /),
    });
  });

  test("that is over before the first stream begins ends the run", async () => {
    const report = await limited(1);
    expect(report).toMatchObject({ exit_code: 5, status: "stopped" });
    expect(report.streams[0]).toMatchObject({ rows_read: 0 });
  });
});
