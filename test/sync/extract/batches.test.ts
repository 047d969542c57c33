import { expect, test } from "vitest";
import { ByteBudget } from "../../../src/byte_budget.ts";
import { Encoder } from "../../../src/rows/encoder.ts";
import { createHasher } from "../../../src/rows/hash.ts";
import { isoUtc } from "../../../src/rows/moment.ts";
import { Batches } from "../../../src/sync/extract/batches.ts";
import type { Stage } from "../../../src/warehouse/destination.ts";
import { beginScan } from "../../../src/warehouse/state/stream_state.ts";
import { everything } from "../../rows/store.ts";
import { stillClock } from "../../support/clock.ts";
import { unlimited } from "../../support/memory.ts";

const encoderOf = async () =>
  new Encoder({
    ...{ tables: everything, formats: isoUtc, hasher: await createHasher() },
    ...{ ignored: [], highWaterColumn: undefined },
  });

test("rows are stored after the answers that they came in were kept, and after those that can't be stored", async () => {
  const done: string[] = [];
  const does = (what: string) => async () => {
    await new Promise(resolve => setImmediate(resolve));
    done.push(what);
  };
  const stage: Pick<Stage, "append"> = { append: does("rows") };
  const encoder = await encoderOf();
  const kept = { keepRejects: does("rejects"), archived: does("answers") };
  const batches = new Batches(stage, { encoder, ...unlimited(stillClock()), ...kept });
  encoder.add({ id: "a" }, {}, {});
  encoder.add({ text: "without its key" }, {}, {});
  await batches.put(beginScan("scan", "print", true, "2026-03-15T12:00:00.000Z"));
  await batches.flush();
  expect(done).toEqual(["answers", "rejects", "rows"]);
});

test("a batch is due at 8 MB, and at 1 MB when others wait for memory", async () => {
  const encoder = await encoderOf();
  const memory = new ByteBudget(10);
  const nothing = async () => undefined;
  const told = { clock: stillClock(), limiter: { memory }, keepRejects: nothing, archived: nothing };
  const batches = new Batches({ append: nothing }, { encoder, ...told });
  const add = (id: number) => encoder.add({ id: String(id), text: "x".repeat(1_000_000) }, {}, {});
  for (let id = 0; id < 8; id++) add(id);
  expect(batches.due).toBe(false);
  add(8);
  expect(batches.due).toBe(true);
  await batches.put(beginScan("scan", "print", true, "2026-03-15T12:00:00.000Z"));
  for (let id = 0; id < 2; id++) add(id);
  expect(batches.due).toBe(false);
  await memory.take(10);
  void memory.take(10);
  expect(batches.due).toBe(true);
});

test("a batch is due by its age", async () => {
  const encoder = await encoderOf();
  const clock = stillClock();
  const nothing = async () => undefined;
  const how = { encoder, ...unlimited(clock), keepRejects: nothing, archived: nothing };
  const batches = new Batches({ append: nothing }, how);
  encoder.add({ id: "a" }, {}, {});
  clock.advance(999);
  expect(batches.due).toBe(false);
  clock.advance(1);
  expect(batches.due).toBe(true);
});
