import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { placeOn, startProgress } from "../../../src/cli/terminal/progress.ts";
import type { RunView } from "../../../src/sync/run/report.ts";
import { Screen } from "./screen.ts";

const first: ReturnType<RunView["snapshot"]> = {
  streams: [
    { stream: "purchase_orders", state: "done", pages: 20, rows: 2000 },
    {
      stream: "items",
      state: "reading",
      pages: 3,
      total: 12000,
      rows: 1500,
      waitingFor: "the service",
      remainingMs: 7_500_000,
    },
    { stream: "findings", state: "waiting", pages: 0, rows: 0 },
  ],
  limitedBy: "latency",
  inFlight: 4,
  ceiling: 8,
  limited429: 2,
  requests: 31,
  remainingMs: 8_000_000,
};

/** A pipe, and a clock that moves when told to. */
function display() {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream;
  let written = "";
  stream.on("data", (chunk: Buffer) => {
    written += chunk.toString();
  });
  let now = 0;
  let ticker: (() => void) | undefined;
  let interval = 1_000;
  const clock = {
    now: () => now,
    every: (ms: number, tick: () => void) => {
      ticker = tick;
      interval = ms;
      return () => {
        ticker = undefined;
      };
    },
  };
  const advance = (ms: number): void => {
    for (const end = now + ms; now < end; ) {
      now = Math.min(end, now + interval);
      ticker?.();
    }
  };
  return { stream, clock, advance, text: () => written, running: () => ticker !== undefined };
}

/** A screen with progress on it. */
async function drawn(columns: number, rows: number, snapshot: () => typeof first) {
  const screen = new Screen(columns, rows);
  const { clock, advance, running } = display();
  const progress = startProgress({ snapshot }, await placeOn(screen.stream, {}), { clock, enabled: true });
  return { screen, advance, running, progress, lines: () => screen.text().split("\n") };
}

test("on a terminal the run stands above its streams at work, with their speed and what they wait for", async () => {
  let snapshot = first;
  const { screen, advance, running, progress, lines } = await drawn(100, 24, () => snapshot);
  expect(lines()).toEqual([
    "1 of 3 streams done in 0 ms, about 2 h 13 min left",
    "31 requests, 3,500 rows, 0/s; limited by latency: 4 of 8 requests in flight, 2 answers 429",
    "stream  state               rows  rows/s        left  waiting for",
    "items   reading  1,500 of 12,000       0  2 h 05 min  the service",
    "waiting: 1 for their turn",
  ]);
  snapshot = {
    ...first,
    streams: first.streams.map(one => (one.stream === "items" ? { ...one, rows: 3500, remainingMs: 6_900_000 } : one)),
  };
  advance(2_000);
  expect(lines()[0]).toBe("1 of 3 streams done in 2 s, about 2 h 13 min left");
  expect(lines()[3]).toBe("items   reading  3,500 of 12,000   1,000  1 h 55 min  the service");
  progress.sink.write("a line of the log\n");
  expect(lines()).toHaveLength(6);
  expect(lines()[0]).toBe("a line of the log");
  progress.stop();
  expect(running()).toBe(false);
  expect(screen.text()).toBe("a line of the log");
});

test("once nothing is requested the run says what it does, streams that a signal stopped are no failures, and time begins with the command", async () => {
  const streams = (["done", "stopped", "failed"] as const).map((state, at) => ({ ...first.streams[at]!, state }));
  const snapshot = { ...first, streams, step: "copying for readers" };
  const screen = new Screen(100, 24);
  const { clock, advance } = display();
  advance(3_000);
  startProgress({ snapshot: () => snapshot }, await placeOn(screen.stream, {}), { clock, enabled: true, begun: 1_000 });
  expect(screen.text().split("\n")).toEqual([
    "1 of 3 streams done, 1 failed, 1 stopped in 2 s, about 2 h 13 min left",
    "31 requests, 3,500 rows, 0/s; now copying for readers",
  ]);
});

test("on a small terminal no line wraps, and the streams that have no room are counted", async () => {
  const streams = [...first.streams, { stream: "invoices", state: "reading" as const, pages: 1, rows: 9 }];
  const { screen, lines } = await drawn(40, 7, () => ({ ...first, streams }));
  expect(lines().slice(2)).toEqual([
    "stream             rows  waiting for",
    "items   1,500 of 12,000  the service",
    "… and 1 more at work",
    "waiting: 1 for their turn",
  ]);
  expect(screen.tooLong).toEqual([]);
});

test("a window that is made narrower and wider again leaves nothing of what was drawn, and takes nothing of the log", async () => {
  let snapshot = first;
  const { screen, advance, progress, lines } = await drawn(100, 24, () => snapshot);
  progress.sink.write("a line of the log\n");
  for (const columns of [44, 30, 70]) {
    screen.resize(columns);
    snapshot = { ...snapshot, requests: (snapshot.requests ?? 0) + 1 };
    advance(1_000);
    expect(lines().filter(line => line.includes("streams done"))).toHaveLength(1);
    progress.sink.write(`at ${columns}\n`);
  }
  screen.resize(40);
  progress.stop();
  expect(screen.text()).toBe("a line of the log\nat 44\nat 30\nat 70");
});

test.each([
  [80, { TERM: "dumb" }],
  [0, {}],
])("a terminal of %i columns in %j gets lines, as a file does", async (columns, env) => {
  const { screen } = await placeOn(new Screen(columns).stream, env);
  expect(screen).toBe(undefined);
  expect((await placeOn(new Screen(80).stream, {})).screen).toBeDefined();
});

test("off a terminal there is one line at a time", async () => {
  const pipe = display();
  const progress = startProgress({ snapshot: () => first }, await placeOn(pipe.stream, {}), {
    clock: pipe.clock,
    enabled: true,
  });
  expect(pipe.text()).toBe("");
  pipe.advance(30_000);
  progress.stop();
  pipe.advance(30_000);
  expect(pipe.text()).toBe(
    "1 of 3 streams done, about 2 h 13 min left; items reading 1,500 of 12,000 rows, 0/s, about 2 h 05 min left, waiting for the service; limited by latency: 4 of 8 requests in flight, 2 answers 429\n",
  );
});

test("--no-progress shows nothing and lets the log through", async () => {
  const pipe = display();
  const progress = startProgress({ snapshot: () => first }, await placeOn(pipe.stream, {}), {
    clock: pipe.clock,
    enabled: false,
  });
  pipe.advance(60_000);
  progress.sink.write("a line of the log\n");
  progress.stop();
  expect(pipe.text()).toBe("a line of the log\n");
});

test("what takes seconds is told in whole ones", async () => {
  const pipe = display();
  const streams = first.streams.map(one => (one.stream === "items" ? { ...one, remainingMs: 40_200 } : one));
  startProgress({ snapshot: () => ({ ...first, streams }) }, await placeOn(pipe.stream, {}), {
    clock: pipe.clock,
    enabled: true,
  });
  pipe.advance(30_000);
  expect(pipe.text()).toContain("0/s, about 40 s left, waiting");
});
