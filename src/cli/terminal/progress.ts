import type { createLogUpdate } from "log-update";
import { formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import type { LogSink } from "../../logging.ts";
import type { RunSnapshot, RunView } from "../../sync/run/report.ts";
import { cutText, fitTable, textWidth } from "./table.ts";

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

export interface Place {
  readonly stream: NodeJS.WriteStream;
  readonly screen: ReturnType<typeof createLogUpdate> | undefined;
}

/** In place on a terminal that can move its cursor and says how wide it is. What draws is loaded there only: a nightly run has no use for it, and it is 14 MB. */
export async function placeOn(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Promise<Place> {
  const canDraw = stream.isTTY && stream.columns > 0 && env["TERM"] !== "dumb";
  return { stream, screen: canDraw ? (await import("log-update")).createLogUpdate(stream) : undefined };
}

/** Shows a run's progress: on a terminal a few lines kept up to date, which end with it, elsewhere one line every 30 seconds; nothing unless enabled. */
export function startProgress(
  source: RunView,
  { stream, screen }: Place,
  { clock, enabled, begun = clock.now() }: { clock: DisplayClock; enabled: boolean; begun?: number | undefined },
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
  let drawn: readonly string[] = [];
  let width = 0;
  // In a window that has become narrower what was drawn takes more lines than the screen knows of: they would be left behind.
  const gather = (): void => {
    const columns = stream.columns || 80;
    const folded =
      columns < width ? drawn.reduce((sum, line) => sum + Math.max(0, Math.ceil(textWidth(line) / columns) - 1), 0) : 0;
    width = columns;
    if (folded > 0) stream.write("\x1b[2K\x1b[1A".repeat(folded));
  };
  const draw = (): void => {
    gather();
    const size = { columns: width, height: stream.rows || 24 };
    drawn = frame(source.snapshot(), speeds, size, clock.now() - begun);
    screen(drawn.join("\n"));
  };
  const end = clock.every(frameMs, draw);
  draw();
  return {
    sink: {
      write(line) {
        gather();
        screen.persist(line.trimEnd());
        draw();
      },
    },
    stop: () => {
      end();
      gather();
      screen.clear();
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

/** The run in two lines, and below them the streams at work, as many as the screen has room for. */
function frame(
  snapshot: RunSnapshot,
  speeds: Speedometer,
  { columns, height }: { readonly columns: number; readonly height: number },
  elapsedMs: number,
): readonly string[] {
  const { streams, requests, remainingMs } = snapshot;
  const rows = streams.reduce((sum, one) => sum + one.rows, 0);
  const speed = speeds("", rows);
  const measured = streams.map(one => ({ ...one, speed: speeds(one.stream, one.rows) }));
  const busy = measured.filter(isBusy);
  const left = remainingMs === undefined ? "" : `, about ${timespan(remainingMs)} left`;
  const sent = requests === undefined ? "" : `${formatCount(requests)} requests, `;
  // More lines than the screen has would scroll, and the next frame would be drawn below them.
  const room = Math.max(1, height - 6);
  const hidden = busy.length - room;
  const { lines } = fitTable(
    busy.slice(0, room),
    [
      ["stream", one => one.stream],
      ["state", one => one.state],
      [
        "rows",
        ({ rows, total }) => formatCount(rows) + (total === undefined ? "" : ` of ${formatCount(total)}`),
        "right",
      ],
      ["rows/s", one => one.speed, "right"],
      ["left", one => (one.remainingMs === undefined ? null : timespan(one.remainingMs)), "right"],
      ["waiting for", one => one.waitingFor ?? null],
    ],
    columns,
    { first: ["rows", "waiting for", "left", "state"] },
  );
  return [
    `${counts(streams)} in ${timespan(elapsedMs)}${left}`,
    `${sent}${formatCount(rows)} rows, ${formatCount(speed)}/s; ${limitLine(snapshot)}`,
    ...(busy.length === 0 ? [] : lines),
    ...(hidden > 0 ? [`… and ${hidden} more at work`] : []),
    ...waitingLine(streams),
  ].map(line => cutText(line, columns));
}

function counts(streams: RunSnapshot["streams"]): string {
  const count = (state: string) => streams.filter(one => one.state === state).length;
  const ended = ["failed", "stopped"].filter(state => count(state) > 0).map(state => `, ${count(state)} ${state}`);
  return `${count("done")} of ${streams.length} streams done${ended.join("")}`;
}

/** What the streams wait for that have not begun. */
function waitingLine(streams: RunSnapshot["streams"]): string[] {
  const waiting = streams.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return [];
  const causes = [...Map.groupBy(waiting, ({ waitingFor = "their turn" }) => waitingFor)];
  const parts = causes
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([cause, ones]) => `${ones.length} for ${cause}`);
  return [`waiting: ${parts.join(", ")}`];
}

function progressLine(snapshot: RunSnapshot, speeds: Speedometer): string {
  const { streams, remainingMs } = snapshot;
  // Every stream is sampled, also idle ones: speeds are computed from the sample before.
  const measured = streams.map(one => ({ one, speed: speeds(one.stream, one.rows) }));
  const busy = measured.filter(({ one }) => isBusy(one));
  const parts = busy.map(({ one, speed }) => {
    const total = one.total === undefined ? "" : ` of ${formatCount(one.total)}`;
    const waiting = one.waitingFor === undefined ? "" : `, waiting for ${one.waitingFor}`;
    const left = one.remainingMs === undefined ? "" : `, about ${timespan(one.remainingMs)} left`;
    return `${one.stream} ${one.state} ${formatCount(one.rows)}${total} rows, ${formatCount(speed)}/s${left}${waiting}`;
  });
  const whole = remainingMs === undefined ? "" : `, about ${timespan(remainingMs)} left`;
  return [counts(streams) + whole, ...parts, limitLine(snapshot)].join("; ");
}

function limitLine({ limitedBy, inFlight, ceiling, limited429, step }: RunSnapshot): string {
  if (step !== undefined) return `now ${step}`;
  const limited = limited429 === 0 ? "" : `, ${formatCount(limited429)} answers 429`;
  return `limited by ${limitedBy}: ${inFlight} of ${ceiling} requests in flight${limited}`;
}

const isBusy = ({ state }: RunSnapshot["streams"][number]): boolean => state === "reading" || state === "publishing";
