import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { Batch, EncodedTable } from "../../../src/rows/batch.ts";
import { HeldStage } from "../../../src/sync/load/held_stage.ts";
import type { Stage, StageRecord } from "../../../src/warehouse/destination.ts";
import { stillClock } from "../../support/clock.ts";
import { connected } from "../../support/database.ts";
import { bench, lineOf } from "../../support/run.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";

const encoded = (text: string): EncodedTable => ({
  ...{ bytes: Buffer.from(text), rows: text === "" ? 0 : 1, wide: [], longest: text.length },
});
const batch = (keys: string): Batch => ({
  ...{ keys: encoded(keys), main: encoded(keys), children: [], outcomes: encoded("") },
});

/** A stage that records its calls in `done`. */
function staged(left?: StageRecord) {
  const done: string[] = [];
  let record = left;
  const stage: Stage = {
    get record() {
      return record;
    },
    staged: 7,
    async begin(begun) {
      record = begun;
      done.push(`begin ${begun["scan"]}`);
    },
    async append({ keys }, appended) {
      record = appended;
      done.push(`append ${keys.bytes} ${appended["phase"]}`);
    },
    keys: () => sql`keys`,
    rows: () => sql`rows`,
    outcomes: () => sql`outcomes`,
    async drop() {
      record = undefined;
      done.push("drop");
    },
  };
  return { done, held: new HeldStage(stage) };
}

test("a scan that one batch holds is stored only when its rows are asked for", async () => {
  const { done, held } = staged();
  await held.begin({ scan: "a", phase: "reading" });
  await held.append(batch("1,x"), { scan: "a", phase: "read" });
  expect([held.record, held.staged, done]).toEqual([{ scan: "a", phase: "read" }, 1, []]);
  expect(() => held.keys()).toThrow(/only once it is stored/);
  const { digest } = held;
  await held.store();
  expect(done).toEqual(["begin a", "append 1,x read"]);
  expect(held.digest).toBe(digest);
  held.keys();
  await held.begin({ scan: "b", phase: "reading" });
  expect(held.digest).toBeUndefined();
  await held.append(batch("2,x"), { scan: "b", phase: "read" });
  expect(held.digest).not.toBe(digest);
});

test("what is held goes without a trace; what an earlier run left goes with it", async () => {
  for (const [left, expected] of [
    [undefined, []],
    [{ scan: "before", phase: "reading" }, ["drop"]],
  ] as const) {
    const { done, held } = staged(left);
    await held.begin({ scan: "a", phase: "reading" });
    await held.append(batch("1,x"), { scan: "a", phase: "read" });
    await held.drop();
    expect([held.record, done]).toEqual([undefined, expected]);
  }
});

test("what is held is no longer the encoder's, which writes over its bytes; what is large is stored at once", async () => {
  const { done, held } = staged();
  const one = batch("1,x");
  await held.begin({ scan: "a", phase: "reading" });
  await held.append(one, { scan: "a", phase: "read" });
  one.keys.bytes.fill("?");
  await held.store();
  expect(done).toEqual(["begin a", "append 1,x read"]);
  await held.begin({ scan: "b", phase: "reading" });
  await held.append(batch("x".repeat(600_000)), { scan: "b", phase: "read" });
  expect([done.length, held.digest]).toEqual([4, undefined]);
});

test("of a scan that is not read to its end each batch is stored, and none has a digest", async () => {
  const { done, held } = staged();
  await held.begin({ scan: "a", phase: "reading" });
  await held.append(batch("1,x"), { scan: "a", phase: "reading" });
  await held.append(batch("2,x"), { scan: "a", phase: "read" });
  expect(done).toEqual(["begin a", "append 1,x reading", "append 2,x read"]);
  expect([held.digest, held.staged]).toEqual([undefined, 7]);
});

test("a list that came as before is compared all the same when the row state is another one", async () => {
  const clock = stillClock();
  const sizes = { orders: 1, invoices: 1, items: 9, findings: 1, ingested: 1 };
  const simulator = await startSimulator({ sizes, now: clock.date });
  onTestFinished(() => simulator.close());
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  const { sync } = bench({ simulator, warehouse, clock });
  const night = async () => {
    clock.advance(3_600_000);
    const { inserted, updated, deleted, unchanged } = lineOf(await sync({ names: ["items"] }), "items");
    return [inserted, updated, deleted, unchanged];
  };
  expect(await night()).toEqual([9, 0, 0, 0]);
  const database = await connected(warehouse.destination["url"] as string);
  onTestFinished(() => database.end());
  const first = "where item_id = (select min(item_id) from _tributary.rows_items)";
  for (const change of [
    ["hash = hash + 1", [0, 1, 0, 8]],
    ["vhash = vhash + 1", [0, 0, 0, 9]],
    ["missing_since = now()", [0, 0, 0, 9]],
    ["deleted_at = now()", [0, 1, 0, 8]],
  ] as const) {
    expect(await night()).toEqual([0, 0, 0, 9]);
    const [set, expected] = change;
    const state = async () => (await database.query("select * from _tributary.rows_items order by item_id")).rows;
    const before = await state();
    await database.query(`update _tributary.rows_items set ${set} ${first}`);
    expect(await night(), set).toEqual(expected);
    expect(await state(), set).toEqual(before);
  }
});
