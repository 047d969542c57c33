import type { createLogUpdate } from "log-update";
import { timespan } from "../../duration.ts";
import type { LogSink } from "../../logging.ts";
import type { RunSnapshot, RunView } from "../../sync/run/report.ts";
import { cutText, formatCount, rowTable } from "./table.ts";

/** Time for the display; `every` calls back until the function it returns is called, and never keeps the process alive. */
export interface DisplayClock {
  now(): number;
  every(ms: number, tick: () => void): () => void;
}

export const displayClock: DisplayClock = {
  now: Date.now,
  every: (ms, tick) => {
    const timer = setInterval(tick, ms).unref();
    return () => clearInterval(timer);
  },
};

/** A display that runs until `stop`; lines for the log go through `sink`, so that they stand above it. */
export interface Progress {
  readonly sink: LogSink;
  stop(): void;
}

const frameMs = 200;
/** Without a terminal: samples for the speed every 5 seconds, a line every 30. */
const lookMs = 5_000;
const lineMs = 30_000;

/** Where progress is shown; `screen` draws in place. */
export interface Place {
  readonly stream: NodeJS.WriteStream;
  readonly screen: ReturnType<typeof createLogUpdate> | undefined;
}

/** In place on a terminal. What draws is loaded there only: a nightly run has no use for it, and it is 14 MB. */
export async function placeOn(stream: NodeJS.WriteStream): Promise<Place> {
  return { stream, screen: stream.isTTY ? (await import("log-update")).createLogUpdate(stream) : undefined };
}

/** Shows a run's progress: on a terminal a table kept up to date, elsewhere one line every 30 seconds; nothing unless enabled. */
export function startProgress(
  source: RunView,
  { stream, screen }: Place,
  { clock, enabled }: { clock: DisplayClock; enabled: boolean },
): Progress {
  const plainSink = { write: (line: string) => void stream.write(line) };
  if (!enabled) return { sink: plainSink, stop: () => undefined };
  const speeds = speedometer(clock);
  if (screen === undefined) {
    let looks = 0;
    const stop = clock.every(lookMs, () => {
      const line = progressLine(source.snapshot(), speeds);
      looks += 1;
      if ((looks * lookMs) % lineMs === 0) stream.write(`${line}\n`);
    });
    return { sink: plainSink, stop };
  }
  const draw = (): void => screen(progressTable(source.snapshot(), speeds, stream.columns ?? 80, stream.rows ?? 24));
  const end = clock.every(frameMs, draw);
  draw();
  return {
    sink: { write: line => screen.persist(line.trimEnd()) },
    stop: () => {
      end();
      draw();
      screen.done();
    },
  };
}

/** Rows a second of a stream, over the last few seconds. */
type Speedometer = (stream: string, rows: number) => number;

function speedometer(clock: DisplayClock): Speedometer {
  const windowMs = 5_000;
  const samples = new Map<string, { readonly at: number; readonly rows: number }[]>();
  return (stream, rows) => {
    const now = clock.now();
    const seen = samples.get(stream) ?? [];
    samples.set(stream, seen);
    seen.push({ at: now, rows });
    // Keeps one sample that is older than the window: speeds are measured from it.
    while (seen.length > 2 && now - (seen[1]?.at ?? now) >= windowMs) seen.shift();
    const first = seen[0];
    if (first === undefined || now <= first.at) return 0;
    return Math.max(0, Math.round(((rows - first.rows) * 1000) / (now - first.at)));
  };
}

function progressTable(snapshot: RunSnapshot, speeds: Speedometer, columns: number, height: number): string {
  const measured = snapshot.streams.map(one => ({ ...one, speed: speeds(one.stream, one.rows) }));
  // More lines than the screen has would scroll, and the next frame would be drawn below them.
  const room = Math.max(1, height - 4);
  const busiest = measured.length <= room ? measured : measured.filter(isBusy);
  const hidden = measured.length - Math.min(busiest.length, room);
  const more = hidden > 0 ? [`… and ${hidden} more`] : [];
  const table = rowTable(busiest.slice(0, room), [
    ["stream", one => one.stream],
    ["state", one => one.state],
    ["pages", one => one.pages],
    [
      "rows",
      ({ rows, total }) => formatCount(rows) + (total === undefined ? "" : ` of ${formatCount(total)}`),
      "right",
    ],
    ["rows/s", one => one.speed],
    ["left", ({ remainingMs }) => (remainingMs === undefined ? null : timespan(remainingMs)), "right"],
    ["waiting for", one => one.waitingFor ?? null],
  ]);
  const lines = [...table.split("\n"), ...more, limitLine(snapshot)];
  return lines.map(line => cutText(line, columns)).join("\n");
}

function progressLine(snapshot: RunSnapshot, speeds: Speedometer): string {
  const { streams } = snapshot;
  const done = streams.filter(one => one.state === "done").length;
  const failed = streams.filter(one => one.state === "failed").length;
  // Every stream is sampled, also idle ones: speeds are computed from the sample before.
  const measured = streams.map(one => ({ one, speed: speeds(one.stream, one.rows) }));
  const busy = measured.filter(({ one }) => isBusy(one));
  const parts = busy.map(({ one, speed }) => {
    const total = one.total === undefined ? "" : ` of ${formatCount(one.total)}`;
    const waiting = one.waitingFor === undefined ? "" : `, waiting for ${one.waitingFor}`;
    const left = one.remainingMs === undefined ? "" : `, about ${timespan(one.remainingMs)} left`;
    return `${one.stream} ${one.state} ${formatCount(one.rows)}${total} rows, ${formatCount(speed)}/s${left}${waiting}`;
  });
  const counts = `${done} of ${streams.length} streams done${failed > 0 ? `, ${failed} failed` : ""}`;
  return [counts, ...parts, limitLine(snapshot)].join("; ");
}

function limitLine({ limitedBy, inFlight, ceiling, limited429 }: RunSnapshot): string {
  return `limited by ${limitedBy}: ${inFlight} of ${ceiling} requests in flight, ${formatCount(limited429)} answers 429`;
}

const isBusy = ({ state }: RunSnapshot["streams"][number]): boolean => state === "reading" || state === "publishing";
