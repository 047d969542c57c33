import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { placeOn, startProgress } from "../../../src/cli/terminal/progress.ts";
import type { RunView } from "../../../src/sync/run/report.ts";

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
};

/** A screen or a pipe, and a clock that moves when told to. */
function display(size?: { columns: number; rows: number }) {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream;
  if (size !== undefined) Object.assign(stream, { isTTY: true, ...size });
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
  return { stream, clock, advance, text: () => stripVTControlCharacters(written), running: () => ticker !== undefined };
}

test("on a terminal there is a line a stream, its speed, and what limits all", async () => {
  const screen = display({ columns: 100, rows: 24 });
  let snapshot = first;
  const progress = startProgress({ snapshot: () => snapshot }, await placeOn(screen.stream), {
    clock: screen.clock,
    enabled: true,
  });
  snapshot = {
    ...first,
    streams: first.streams.map(one => (one.stream === "items" ? { ...one, rows: 3500, remainingMs: 6_900_000 } : one)),
  };
  screen.advance(2_000);
  const lines = screen
    .text()
    .split("\n")
    .map(line => line.trimEnd());
  expect(lines).toContain("stream           state    pages             rows  rows/s        left  waiting for");
  expect(lines).toContain("items            reading      3  1,500 of 12,000       0  2 h 05 min  the service");
  expect(lines).toContain("items            reading      3  3,500 of 12,000   1,000  1 h 55 min  the service");
  expect(lines).toContain("limited by latency: 4 of 8 requests in flight, 2 answers 429");
  progress.sink.write("a line of the log\n");
  expect(screen.text()).toContain("a line of the log");
  progress.stop();
  expect(screen.running()).toBe(false);
});

test("on a small terminal the busy streams are shown, no line wraps, and the rest is counted", async () => {
  const screen = display({ columns: 40, rows: 6 });
  startProgress({ snapshot: () => first }, await placeOn(screen.stream), { clock: screen.clock, enabled: true }).stop();
  const lines = screen
    .text()
    .split("\n")
    .map(line => line.trimEnd());
  expect(lines).toContain("… and 2 more");
  expect(lines.some(line => line.startsWith("findings"))).toBe(false);
  expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(40);
});

test("off a terminal there is one line at a time", async () => {
  const pipe = display();
  const progress = startProgress({ snapshot: () => first }, await placeOn(pipe.stream), {
    clock: pipe.clock,
    enabled: true,
  });
  expect(pipe.text()).toBe("");
  pipe.advance(30_000);
  progress.stop();
  pipe.advance(30_000);
  expect(pipe.text()).toBe(
    "1 of 3 streams done; items reading 1,500 of 12,000 rows, 0/s, about 2 h 05 min left, waiting for the service; limited by latency: 4 of 8 requests in flight, 2 answers 429\n",
  );
});

test("--no-progress shows nothing and lets the log through", async () => {
  const pipe = display();
  const progress = startProgress({ snapshot: () => first }, await placeOn(pipe.stream), {
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
  startProgress({ snapshot: () => ({ ...first, streams }) }, await placeOn(pipe.stream), {
    clock: pipe.clock,
    enabled: true,
  });
  pipe.advance(30_000);
  expect(pipe.text()).toContain("0/s, about 40 s left, waiting");
});
