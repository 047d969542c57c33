import { expect, test } from "vitest";
import type { Clock } from "../../../src/clock.ts";
import { createStatusCache } from "../../../src/daemon/cached_status.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence } from "../../support/log.ts";
import { type Progress, scriptedDaemon } from "./scripted.ts";
import { served, stream, telling, warehouseStatus } from "./warehouse_status.ts";

interface Frame {
  readonly event: string;
  readonly data: string;
}

/** The frames of an open connection, one after the other. */
async function* framesOf(url: string): AsyncGenerator<Frame, void> {
  const { body, headers } = await fetch(`${url}/events`);
  expect(headers.get("content-type")).toBe("text/event-stream");
  let held = "";
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
    held += piece;
    for (let end = held.indexOf("\n\n"); end !== -1; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const said = (name: string) =>
        lines.flatMap(line => (line.startsWith(`${name}: `) ? line.slice(name.length + 2) : []));
      yield { event: said("event")[0] ?? "", data: said("data").join("\n") };
    }
  }
}

async function next(frames: AsyncGenerator<Frame, void>, fits: (frame: Frame) => boolean): Promise<Frame> {
  for (;;) {
    const { value, done } = await frames.next();
    if (done) throw new Error("the connection ended");
    if (fits(value)) return value;
  }
}

const run = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T11:59:00.000Z" } as const;
const reading = (rows: number): Progress[] => [
  { stream: "items", state: "reading", pages: 1, rows, total: 1_000, remainingMs: 5_000 },
  { stream: "<b>orders</b>", state: "waiting", pages: 0, rows: 0, waitingFor: "items" },
];
const shows = (words: string) => (frame: Frame) => frame.event === "progress" && frame.data.includes(words);

test("progress is sent as it moves, and the newest to visitors that come later", async () => {
  const daemon = scriptedDaemon();
  const { url } = await served({ ...telling(() => warehouseStatus([stream()])), daemon });
  daemon.run(run, reading(100));
  const first = framesOf(url);
  const { data } = await next(first, shows("100 of 1,000 rows, 5 s left"));
  expect(data).toContain('<progress max="1000" value="100" aria-label="Progress of items">');
  expect(data).toContain("&lt;b&gt;orders&lt;/b&gt;");
  expect(data).not.toContain("<b>orders");
  daemon.run(run, reading(450));
  await next(first, shows("450 of 1,000 rows"));
  const second = framesOf(url);
  await next(second, shows("450 of 1,000 rows"));
  daemon.run(run, [{ stream: "items", state: "failed", pages: 2, rows: 500 }]);
  await Promise.all([next(first, shows("1 of 1 stream</strong> done")), next(second, shows("failed"))]);
  await first.return();
  await second.return();
});

test("events of the daemon make pages fetch themselves again", async () => {
  const daemon = scriptedDaemon();
  const { url, close } = await served({ ...telling(() => warehouseStatus([stream()])), daemon });
  expect(daemon.listeners).toBe(0);
  const frames = framesOf(url);
  await next(frames, () => true);
  expect(daemon.listeners).toBe(1);
  daemon.tell({ kind: "reloaded", changed: [] });
  await next(frames, ({ event }) => event === "changed");
  await close();
  expect((await frames.next()).done).toBe(true);
  expect(daemon.listeners).toBe(0);
});

test("without a daemon a change in the warehouse is noticed by looking", async () => {
  let streams = [stream({ rows: 10 })];
  const { url } = await served(telling(() => warehouseStatus(streams)));
  const frames = framesOf(url);
  expect((await next(frames, () => true)).event).toBe("alive");
  expect((await next(frames, () => true)).event).toBe("alive");
  streams = [stream({ rows: 11 })];
  await next(frames, ({ event }) => event === "changed");
  await frames.return();
});

test("nothing is read while there are no visitors", async () => {
  const still = stillClock();
  let waiting = 0;
  const clock: Clock = {
    now: still.now,
    async sleep(ms, signal) {
      waiting += 1;
      await still.sleep(ms, signal).finally(() => {
        waiting -= 1;
      });
    },
  };
  const { url } = await served(
    telling(() => warehouseStatus([stream()])),
    { clock },
  );
  expect(waiting).toBe(0);
  const frames = framesOf(url);
  await next(frames, () => waiting > 0);
  await frames.return();
  await expect.poll(() => waiting, { timeout: 60_000 }).toBe(0);
  expect(waiting).toBe(0);
});

test("a page that is one too many is turned away, and let in when another one leaves", async () => {
  const { url } = await served(telling(() => warehouseStatus([stream()])));
  const open = await Promise.all(Array.from({ length: 64 }, () => fetch(`${url}/events`)));
  const refused = await fetch(`${url}/events`);
  expect(refused.status).toBe(503);
  await Promise.all(open.map(({ body }) => body?.cancel()));
  await expect
    .poll(
      async () => {
        const { status, body } = await fetch(`${url}/events`);
        await body?.cancel();
        return status;
      },
      { timeout: 60_000 },
    )
    .toBe(200);
  expect((await fetch(`${url}/events`, { method: "HEAD" })).status).toBe(200);
});

test("a view that fails is logged, and visitors hear of the next one", async () => {
  const daemon = scriptedDaemon();
  const { url, warned } = await served({ ...telling(() => warehouseStatus([stream()])), daemon });
  daemon.run(run);
  daemon.watch({
    snapshot() {
      throw new Error("inside");
    },
  });
  const frames = framesOf(url);
  await next(frames, () => warned.length > 0);
  daemon.run(run, reading(450));
  await next(frames, shows("450 of 1,000 rows"));
  await frames.return();
});

test("after a run the warehouse is looked at anew, however short ago that was", async () => {
  const daemon = scriptedDaemon();
  let rows = 10;
  const read = async () => warehouseStatus([stream({ live_rows: rows })]);
  const cache = createStatusCache({ read, clock: stillClock(), daemon, keptMs: () => 3_600_000 });
  const source = { ...telling(() => warehouseStatus([])), status: cache.read, daemon };
  const { url } = await served(source);
  const page = async () => (await fetch(url)).text();
  expect(await page()).toContain("10 rows");
  rows = 4_711;
  daemon.tell({ kind: "started", run: { ...run, view: undefined } });
  expect(await page()).toContain("10 rows");
  const outcome = { exit_code: 0, error: sentence("") };
  daemon.tell({
    kind: "finished",
    run: { ...run, view: undefined },
    finishedAt: run.startedAt,
    outcome,
    retryAt: undefined,
  });
  expect(await page()).toContain("4,711 rows");
});
