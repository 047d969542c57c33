import { Draw } from "../../../simulator/random.ts";
import type { Status, StreamStatus } from "../../../src/operations/status.ts";
import type { History, PastRun, PastStreamRun } from "../../../src/warehouse/read/run_history.ts";
import { streams as catalogue } from "../../../streams/index.ts";
import { sentence } from "../../support/log.ts";
import { now, stream, warehouseStatus } from "./warehouse_status.ts";

const HOUR_MS = 3_600_000;
const at = (ms: number): string => new Date(ms).toISOString();

const forbidden =
  "Expected data, got 403 FORBIDDEN. The API key may not read this: ask for the permission, or exclude the stream with streams.exclude.";
const away = "Expected data from GET /items, got 503 SERVICE_UNAVAILABLE. The service is disturbed: try again later.";
const senseless = "Expected a pagination block, got none. The scan stays incomplete and the next run tries again.";

/** What is wrong in the last night: every 40th stream failed, every seventh has rejects, every 20th is late. */
function troubleOf(nth: number): Pick<PastStreamRun, "status" | "error" | "rejected"> {
  if (nth % 40 === 3) return { status: "failed", error: nth === 43 ? away : forbidden, rejected: 0 };
  if (nth === 80) return { status: "incomplete", error: senseless, rejected: 0 };
  return nth % 7 === 1
    ? { status: "warning", error: null, rejected: 1 + (nth % 5) }
    : { status: "succeeded", error: null, rejected: 0 };
}

/** A month of nights of all streams of the catalogue; the last one went well, or a lot is wrong. */
export function manyStreams(isWell: boolean): { readonly status: Status; readonly history: History } {
  const draw = new Draw(11);
  const random = () => draw.next() / 0x1_0000_0000;
  const sizes = catalogue.map(() => Math.round(10 ** (1 + 4 * random())));
  const nights = Array.from({ length: 30 }, (_, night) => nightOf(night, sizes, random, isWell));
  const last = nights[0]!;
  const streams = catalogue.map(({ name, mode }, nth): StreamStatus => {
    const { status, error, rejected } = last.streams.find(part => part.stream === name)!;
    const age = !isWell && nth % 20 === 5 ? 50 : 10;
    const moment = at(Date.parse(now) - age * HOUR_MS - nth * 1_000);
    const facts = { status, error, rejects: rejected, complete_to: moment, last_success_at: moment };
    const rows = { rows: sizes[nth]! + 7, live_rows: sizes[nth]!, service_rows: sizes[nth]! };
    return stream({ ...facts, ...rows, stream: name, details_pending: mode.kind === "detail" ? nth % 3 : null });
  });
  const { run_id, command, status, started_at, finished_at, error, warnings } = last;
  const run = { run_id, command, status, started_at, finished_at, error, warnings, exit_code: isWell ? 0 : 1 };
  return {
    status: warehouseStatus(streams, { last_run: { ...run, snapshot: null } }),
    history: {
      runs: nights,
      streams: catalogue.map(({ name }) => ({
        company: "acme",
        stream: name,
        runs: nights.map(({ streams: parts }) => parts.find(part => part.stream === name)!).toReversed(),
      })),
    },
  };
}

/** Eight streams at once, each as soon as one before it is through. */
function nightOf(night: number, sizes: readonly number[], random: () => number, isWell: boolean): PastRun {
  const began = Date.parse(now) - 10 * HOUR_MS - night * 24 * HOUR_MS;
  const free = Array.from({ length: 8 }, () => began + 1_000);
  const parts = catalogue.map(({ name }, nth): PastStreamRun => {
    const lane = free.indexOf(Math.min(...free));
    const from = free[lane]!;
    const to = from + 400 + Math.round(sizes[nth]! * (0.8 + 0.4 * random()));
    free[lane] = to;
    const trouble = isWell || night > 0 ? { status: "succeeded", error: null, rejected: 0 } : troubleOf(nth);
    const changed = Math.round(sizes[nth]! * 0.02 * random());
    return {
      ...{ run_id: `r${night}`, company: "acme", stream: name, started_at: at(from), finished_at: at(to) },
      ...{
        rows_read: Math.max(1, sizes[nth]! - 2 * night),
        inserted: changed,
        updated: 2 * changed,
        deleted: 0,
        ...trouble,
      },
      requests: 1 + Math.ceil(sizes[nth]! / 100),
    };
  });
  const failed = parts.filter(({ error }) => error !== null);
  const warned = parts.filter(({ status }) => status === "warning");
  return {
    ...{ run_id: `r${night}`, command: "tributary schedule nightly", started_at: at(began) },
    finished_at: at(Math.max(...free)),
    status: failed.length > 0 ? "failed" : warned.length > 0 ? "warning" : "succeeded",
    error: failed[0]?.error ?? null,
    warnings: warned.map(({ stream: name, rejected }) =>
      sentence(`${name}: ${rejected} rows could not be stored; \`tributary rejects ${name}\` shows them.`),
    ),
    streams: parts,
  };
}
