import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { StoppedError } from "../../../src/errors.ts";
import type { Api } from "../../../src/source/api.ts";
import { createLimiter } from "../../../src/source/limit.ts";
import { leaveOut } from "../../../src/sync/run/jobs.ts";
import { type Closing, type Job, type RunView, viewOf } from "../../../src/sync/run/report.ts";
import type { Service } from "../../../src/sync/run/service.ts";
import { StreamProgress } from "../../../src/sync/stream_progress.ts";
import { streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { interposed } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";

function running(
  companies: readonly string[],
  api: Partial<Api> = {},
  usual?: (job: Job) => number | undefined,
  closing: Closing = {},
) {
  const clock = stillClock();
  const limiters = companies.map(() => createLimiter({ maxConcurrency: 8, clock }));
  const services = companies.map(
    (name, i) => ({ company: { name }, limiter: limiters[i]!, api }) as unknown as Service,
  );
  const jobs: Job[] = companies.map(company => ({
    company,
    stream: streams[0]!,
    progress: new StreamProgress(new Date(clock.now()).toISOString()),
  }));
  for (const { progress } of jobs) Object.assign(progress.activity, { state: "reading", total: 1_000 });
  return { clock, limiters, jobs, view: viewOf(jobs, services, clock, usual, closing) };
}

test("where the total is known the time left is told while the stream reads or publishes early, and not at its end", () => {
  const { clock, jobs, view } = running(["acme"]);
  expect(view.snapshot().streams[0]).not.toHaveProperty("remainingMs");
  clock.advance(10_000);
  jobs[0]!.progress.activity.rows = 250;
  expect(view.snapshot().streams[0]).toMatchObject({ rows: 250, total: 1_000, remainingMs: 30_000 });
  // An early publish: there is more to read.
  jobs[0]!.progress.activity.state = "publishing";
  expect(view.snapshot().streams[0]).toMatchObject({ remainingMs: 30_000 });
  jobs[0]!.progress.activity.rows = 1_000;
  expect(view.snapshot().streams[0]).not.toHaveProperty("remainingMs");
});

test("a run that requests nothing more says whether it publishes or closes, and no time left", () => {
  const closing: Closing = {};
  const { clock, jobs, view } = running(["acme"], {}, () => 8, closing);
  const { progress } = jobs[0]!;
  clock.advance(10_000);
  progress.activity.rows = 250;
  expect(view.snapshot()).not.toHaveProperty("step");
  progress.activity.state = "publishing";
  expect(view.snapshot()).toMatchObject({ step: "publishing", inFlight: 0 });
  progress.activity.state = "done";
  closing.step = "copying for readers";
  expect(view.snapshot()).toMatchObject({ step: "copying for readers" });
  expect(view.snapshot()).not.toHaveProperty("remainingMs");
});

test("a stream that a stop ends is stopped, not failed; another process's too", () => {
  const { jobs, view } = running(["acme"]);
  const { progress } = jobs[0]!;
  const stateAfter = (error: unknown) => {
    progress.endBy(error);
    return view.snapshot().streams[0]!.state;
  };
  expect(stateAfter(new StoppedError(sentence("enough"), 130))).toBe("stopped");
  expect(stateAfter(new Error("no"))).toBe("failed");
  const taken = new StreamProgress("2026-03-01T00:00:00Z");
  taken.takeOver({ ...progress.outcome(), run: { ...progress.run, status: "stopped", error: "enough" } });
  expect(taken.activity.state).toBe("stopped");
  leaveOut(jobs[0]!);
  expect(view.snapshot().streams[0]!.state).toBe("stopped");
});

test("a pause after a 429 is what every reading stream of that company waits for, until it is over", () => {
  const { clock, limiters, view } = running(["acme", "globex"]);
  limiters[0]!.pause(42_000, "status 429");
  const [acme, globex] = view.snapshot().streams;
  expect(acme).toMatchObject({ stream: `acme/${streams[0]!.name}`, waitingFor: "the pause after a 429, 42 s" });
  expect(globex).not.toHaveProperty("waitingFor");
  clock.advance(42_000);
  expect(view.snapshot().streams[0]).not.toHaveProperty("waitingFor");
});

test("a request that has no answer for long is what its company's streams wait for", () => {
  const unanswered = () => ({ method: "GET" as const, path: "/po", attempt: 2, sinceMs: 12_345, others: 3 });
  const { view } = running(["acme"], { unanswered });
  expect(view.snapshot().streams[0]!.waitingFor).toBe("GET /po since 12 s (attempt 2, and 3 other requests)");
});

test("a stream that has read nothing says whether it waits for its turn, its first answer or the warehouse", () => {
  const { jobs, view } = running(["acme"]);
  const { activity } = jobs[0]!.progress;
  const waitingFor = () => view.snapshot().streams[0]!.waitingFor;
  expect(waitingFor()).toBe(undefined);
  Object.assign(activity, { asked: 0 });
  expect(waitingFor()).toBe("the warehouse");
  Object.assign(activity, { asked: 2 });
  expect(waitingFor()).toBe("its turn, 0 requests queue");
  Object.assign(activity, { sent: 1 });
  expect(waitingFor()).toBe("its first answer");
  Object.assign(activity, { pages: 1, rows: 100 });
  expect(waitingFor()).toBe(undefined);
  Object.assign(activity, { waitingFor: "the publish of another stream" });
  expect(waitingFor()).toBe("the publish of another stream");
});

test("the time left of a run is told where it is known of all streams what they have to do", () => {
  const usual: { requests?: number } = {};
  const { clock, jobs, view } = running(["acme", "globex"], {}, job => (job === jobs[1] ? usual.requests : undefined));
  const [reading, waiting] = jobs.map(({ progress }) => progress);
  Object.assign(waiting!.activity, { state: "waiting", total: undefined });
  view.snapshot();
  clock.advance(10_000);
  reading!.run.requests = 10;
  Object.assign(reading!.activity, { pages: 10, rows: 250 });
  expect(view.snapshot()).toMatchObject({ requests: 10 });
  expect(view.snapshot()).not.toHaveProperty("remainingMs");
  usual.requests = 20;
  // 30 more pages of the one and 20 requests of the other, at one a second.
  view.snapshot();
  clock.advance(5_000);
  reading!.run.requests = 15;
  Object.assign(reading!.activity, { pages: 15, rows: 375 });
  expect(view.snapshot()).toMatchObject({ remainingMs: 45_000 });
  waiting!.activity.state = "done";
  expect(view.snapshot()).toMatchObject({ remainingMs: 25_000 });
});

test("where few requests are left the streams tell the time that a run still takes", () => {
  const companies = Array.from({ length: 10 }, (_, at) => `company_${at}`);
  const { clock, jobs, view } = running(companies, {}, () => 1);
  for (const { progress } of jobs) Object.assign(progress.activity, { state: "waiting", total: undefined });
  view.snapshot();
  clock.advance(12_000);
  for (const { progress } of jobs.slice(0, 4)) {
    progress.activity.state = "done";
    progress.run.requests = 100;
  }
  expect(view.snapshot()).toMatchObject({ requests: 400, remainingMs: 18_000 });
});

test("requests that queue behind slow answers say so", async () => {
  const { limiters, jobs, view } = running(["acme"]);
  const limiter = limiters[0]!;
  for (let i = 0; i < 20; i++) limiter.observe({ ok: true, limited: false, latencyMs: 50 });
  for (let i = 0; i < 20; i++) limiter.observe({ ok: true, limited: false, latencyMs: 1_000 });
  const gate = Promise.withResolvers<void>();
  const requests = Array.from({ length: 9 }, () => limiter.run(() => gate.promise));
  expect(view.snapshot().streams[0]).toMatchObject({ waitingFor: "slow answers" });
  jobs[0]!.progress.activity.state = "done";
  expect(view.snapshot().streams[0]).not.toHaveProperty("waitingFor");
  gate.resolve();
  await Promise.all(requests);
});

test("a first load tells how long its details will take, by the speed at which they come", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes: { orders: 60 }, now: clock.date });
  onTestFinished(() => simulator.close());
  let view: RunView | undefined;
  const seen: { at: number; rows: number; total: number | undefined; remainingMs: number | undefined }[] = [];
  // The service answers a detail a second.
  const slow = await interposed(simulator, ({ path }) => {
    if (!path.startsWith("/po/")) return undefined;
    const details = view?.snapshot().streams.find(({ stream }) => stream === "purchase_order_details");
    if (details !== undefined) {
      const { rows, total, remainingMs, waitingFor } = details;
      // While an answer is late nothing is said of the time left.
      if (waitingFor?.startsWith("GET") === true) expect(remainingMs).toBe(undefined);
      else seen.push({ at: clock.now(), rows, total, remainingMs });
    }
    clock.advance(1_000);
    return undefined;
  });
  const warehouse = await passing(duckdbWarehouse());
  const watch = (given: RunView) => {
    view = given;
  };
  const { sync } = bench({ simulator: slow, warehouse, clock, watch });
  await sync({ names: ["purchase_order_details"] });
  const begun = seen[0]!.at;
  const told = seen.filter(({ at, rows }) => at - begun >= 3_000 && rows > 0);
  expect(told).not.toEqual([]);
  for (const { at, rows, total, remainingMs } of told) {
    expect(total).toBe(60);
    expect(remainingMs).toBe(Math.round(((60 - rows) * (at - begun)) / rows));
  }
});

test("a run tells what it does after its last stream, to its end", async () => {
  const clock = stillClock();
  const simulator = await startSimulator({ sizes: { items: 3 }, now: clock.date });
  onTestFinished(() => simulator.close());
  let view: RunView | undefined;
  const { sync } = bench({
    ...{ simulator, warehouse: await passing(duckdbWarehouse()), clock },
    watch: given => {
      view = given;
    },
  });
  expect((await sync({ names: ["items"] })).exit_code).toBe(0);
  expect(view!.snapshot()).toMatchObject({ step: "closing", streams: [{ state: "done" }] });
});
