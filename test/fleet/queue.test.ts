import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { HEARTBEAT_S, JobQueue, jobId } from "../../src/fleet/queue.ts";
import { openSharedState } from "../../src/warehouse/postgres/shared_state.ts";
import { queueSchema } from "../../src/warehouse/shared_tables.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "./workers.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterAll(() => database.drop());

/** Each test's queue is in a schema of its own. */
let schemas = 0;
const freshSchema = () => `State ${++schemas}`;

async function open(stateSchema: string, supervises = false): Promise<JobQueue> {
  const state = await openSharedState({ url: database.url, schema: "procurement", stateSchema, clock: systemClock });
  const queue = await JobQueue.open(state, stateSchema, { supervises });
  onTestFinished(async () => {
    await queue.close();
    await state.close();
  });
  return queue;
}

/** As if the worker had said nothing for so long. */
async function silence(stateSchema: string, seconds: number): Promise<void> {
  const jobs = database.admin.escapeIdentifier(queueSchema(stateSchema));
  await database.admin.query(
    `update ${jobs}.job set heartbeat_on = now() - make_interval(secs => $1), started_on = now() - make_interval(secs => $1) where state = 'active'`,
    [seconds],
  );
}

const job = (name: string, priority = 0) => ({ id: jobId(name), data: { name }, priority });

test("the same id twice is one job, also when it is being worked on or has ended, and stays as it was", async () => {
  const queue = await open(freshSchema());
  await queue.add("companies", [job("a"), job("b")]);
  await queue.add("companies", [{ ...job("a"), data: { name: "other" } }, job("c")]);
  const found = await queue.open("companies");
  expect(found.map(({ data }) => (data as { name: string }).name).toSorted()).toEqual(["a", "b", "c"]);
  const claim = (await queue.take("companies"))!;
  await queue.add("companies", [job("a"), job("b"), job("c")]);
  await queue.complete(claim, { done: 1 });
  await queue.add("companies", [job("a"), job("b"), job("c")]);
  expect(await queue.open("companies")).toHaveLength(2);
  const ended = { id: claim.id, state: "completed", output: { done: 1 }, data: claim.data };
  expect(await queue.stateOf("companies", claim.id)).toEqual(ended);
  expect(await queue.ended("companies", [jobId("a"), jobId("b"), jobId("c")])).toEqual([ended]);
});

test("workers that are started together on a new warehouse make its queue once, and all have it", async () => {
  const schema = freshSchema();
  const queues = await Promise.all(Array.from({ length: 6 }, () => open(schema)));
  await Promise.all(queues.map((queue, nth) => queue.add("runs", [job(`run ${nth % 2}`)])));
  expect(await queues[5]!.open("runs")).toHaveLength(2);
});

test("ids are UUIDs by what a job is about, and tell apart what reads the same", () => {
  expect(jobId("a", "b")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(jobId("a", "b")).toBe(jobId("a", "b"));
  expect(new Set([jobId("a", "b"), jobId("ab"), jobId("a,b"), jobId('a","b'), jobId("b", "a")]).size).toBe(5);
});

test("the highest priority goes first, a place for higher ones leaves the rest, and nobody takes a job twice", async () => {
  const schema = freshSchema();
  const queues = [await open(schema), await open(schema)];
  await queues[0]!.add("companies", [job("low", 1), job("high", 3), job("middle", 2)]);
  expect((await queues[0]!.take("companies", 3))?.data).toEqual({ name: "high" });
  expect(await queues[0]!.take("companies", 3)).toBeUndefined();
  const taken = await Promise.all([0, 1, 0, 1].map(nth => queues[nth]!.take("companies")));
  expect(taken.flatMap(claim => claim?.data ?? [])).toHaveLength(2);
  expect(await queues[0]!.take("runs")).toBeUndefined();
});

test("a claim that has lapsed cannot complete, give back or keep what is another worker's", async () => {
  const schema = freshSchema();
  const [slow, other] = [await open(schema), await open(schema, true)];
  await slow.add("companies", [job("a")]);
  const first = (await slow.take("companies"))!;
  expect(await slow.touch("companies", [first])).toEqual(new Set([first.id]));
  await silence(schema, HEARTBEAT_S + 1);
  let second: typeof first | undefined;
  await until(async () => {
    second = await other.take("companies");
    return second !== undefined;
  });
  expect(second).toMatchObject({ id: first.id, retryCount: first.retryCount + 1, data: first.data });
  expect(await slow.touch("companies", [first])).toEqual(new Set());
  expect(await other.touch("companies", [second!])).toEqual(new Set([first.id]));
  await slow.complete(first, { by: "slow" });
  await slow.giveBack(first, "slow");
  expect(await other.stateOf("companies", first.id)).toMatchObject({ state: "active" });
  await other.complete(second!, { by: "other" });
  expect(await slow.stateOf("companies", first.id)).toMatchObject({ state: "completed", output: { by: "other" } });
});

test("a worker that says something now and then keeps its job, and one that gives it back leaves it to the next, with what it knows", async () => {
  const schema = freshSchema();
  const [queue, other] = [await open(schema), await open(schema, true)];
  await queue.add("companies", [job("a")]);
  const claim = (await queue.take("companies"))!;
  const jobs = database.admin.escapeIdentifier(queueSchema(schema));
  const supervised = async () =>
    (await database.admin.query(`select max(monitor_on) as at from ${jobs}.queue where name = 'companies'`)).rows[0].at;
  for (let look = 0; look < 2; look++) {
    await silence(schema, HEARTBEAT_S - 2);
    await queue.touch("companies", [claim]);
    const before = await supervised();
    await until(async () => (await supervised()) > before);
    expect(await other.take("companies")).toBeUndefined();
  }
  await queue.giveBack(claim, "the worker left", 4_711);
  let next: typeof claim | undefined;
  await until(async () => {
    next = await other.take("companies");
    return next !== undefined;
  });
  expect(next).toMatchObject({ id: claim.id, retryCount: 1, blockedSince: 4_711 });
  await other.remove("companies", claim.id);
  expect(await queue.stateOf("companies", claim.id)).toBeUndefined();
});

test("what nobody has begun is withdrawn, what is under way is not, and a withdrawn job has ended", async () => {
  const queue = await open(freshSchema());
  await queue.add("companies", [job("a", 2), job("b", 1)]);
  const claim = (await queue.take("companies"))!;
  expect(await queue.withdraw("companies", [jobId("a"), jobId("b"), jobId("nowhere")])).toEqual(new Set([jobId("b")]));
  expect(await queue.take("companies")).toBeUndefined();
  expect((await queue.open("companies")).map(({ id }) => id)).toEqual([claim.id]);
  expect(await queue.stateOf("companies", jobId("b"))).toMatchObject({ state: "cancelled" });
  await queue.add("companies", [job("b", 1)]);
  expect(await queue.take("companies")).toBeUndefined();
});

test("a role that may not make the queue's schema is told what it needs, and with that it makes the queue", async () => {
  await database.admin.query("create role queueless login password 'q'");
  onTestFinished(async () => void (await database.admin.query("drop owned by queueless cascade; drop role queueless")));
  await database.admin.query("create schema narrow authorization queueless");
  const url = database.as("queueless", "q");
  const state = await openSharedState({ url, schema: "procurement", stateSchema: "narrow", clock: systemClock });
  onTestFinished(() => state.close());
  await expect(JobQueue.open(state, "narrow")).rejects.toThrow(/CREATE SCHEMA "narrow_jobs" AUTHORIZATION <role>\.$/);
  await database.admin.query('create schema "narrow_jobs" authorization queueless');
  const queue = await JobQueue.open(state, "narrow", { supervises: false });
  onTestFinished(() => queue.close());
  await queue.add("runs", [job("a")]);
  expect(await queue.open("runs")).toHaveLength(1);
});
