import { DuckDBInstance } from "@duckdb/node-api";
import { Draw } from "../../../simulator/random.ts";
import { sentence } from "../../support/log.ts";

/** What a stream did in one of the nights. Times in seconds since the run began. */
interface Turn {
  readonly stream: string;
  readonly from: number;
  readonly took: number;
  readonly status: string;
  readonly read: number;
  readonly changed: number;
  readonly rejected: number;
  readonly error: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const away =
  "Expected data from GET /po, got 503 SERVICE_UNAVAILABLE (request_id req_7f3a), after 6 requests. The service or the way to it is disturbed: try again later, and check api.base_url and the proxy.";

/** Puts a month of nights, the last at `until`, in place of the runs that a warehouse has had. */
export async function writeNights(path: string, company: string, until: number): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  const moment = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;
  const text = (value: string | null): string => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`);
  await connection.run("delete from _tributary.runs; delete from _tributary.stream_runs");
  const draw = new Draw(7);
  for (let night = 29; night >= 0; night--) {
    const began = until - night * DAY_MS;
    const id = `${new Date(began).toISOString().replace(/[-:]/g, "").slice(0, 15)}-${String(night).padStart(8, "0")}`;
    const turns = turnsOf(night, () => draw.next() / 0x1_0000_0000);
    const failed = turns.some(({ status }) => status === "failed");
    const warned = turns.some(({ status }) => status === "warning");
    const status = failed ? "failed" : warned ? "warning" : "succeeded";
    const end = began + Math.max(...turns.map(({ from, took }) => from + took)) * 1_000 + 900;
    const warning = "items: 3 rows could not be stored; `tributary rejects items` shows them.";
    const warnings = JSON.stringify(warned ? [sentence(warning)] : []);
    await connection.run(`insert into _tributary.runs (run_id, command, status, exit_code, started_at, finished_at, version, process, warnings, error)
      values ('${id}', 'schedule nightly', '${status}', ${failed ? 1 : 0}, ${moment(began)}, ${moment(end)}, '1.0.0', '{}', ${text(warnings)}, ${text(failed ? away : null)})`);
    for (const turn of turns) {
      const start = began + turn.from * 1_000;
      const inserted = Math.round(turn.changed * 0.6);
      await connection.run(`insert into _tributary.stream_runs (run_id, company, stream, status, started_at, finished_at, requests, retries, pages,
          rows_read, inserted, updated, unchanged, repeated, carried, missing, deleted, rejected, problems, rounded, bytes, error, recent)
        values ('${id}', '${company}', '${turn.stream}', '${turn.status}', ${moment(start)}, ${moment(start + turn.took * 1_000)}, ${1 + Math.ceil(turn.read / 100)}, 0, 1,
          ${turn.read}, ${inserted}, ${turn.changed - inserted}, 0, 0, 0, 0, 0, ${turn.rejected}, 0, 0, 0, ${text(turn.error)}, true)`);
    }
  }
  const streams = [
    ["purchase_orders", 52_310, 41],
    ["invoices", 38_944, 12],
    ["items", 12_406, 0],
    ["findings", 4_118, 903],
    ["findings_summary", 214, 0],
    ["ingested", 96_002, 0],
    ["purchase_order_details", 52_269, 38],
    ["invoice_matches", 38_120, 9],
  ] as const;
  for (const [index, [stream, live, deleted]] of streams.entries())
    await connection.run(`update _tributary.streams set live_rows = ${live}, rows = ${live + deleted}, details_pending = null,
      complete_to = ${moment(until - index * 41_000)}, last_success_at = ${moment(until)} where stream = '${stream}'`);
  connection.closeSync();
  instance.closeSync();
}

/** Night 11 found the service away, in nights 17 and 0 some rows could not be stored. */
function turnsOf(night: number, random: () => number): Turn[] {
  const around = (value: number): number => Math.round(value * (0.75 + 0.5 * random()));
  const growth = 1 - night * 0.006;
  const weekend = night % 7 === 0 || night % 7 === 1;
  const busy = weekend ? 0.2 : 1;
  const turn = (stream: string, from: number, took: number, read: number, changed: number): Turn => ({
    stream,
    from,
    took,
    status: "succeeded",
    read: Math.round(read),
    changed: Math.round(changed),
    rejected: 0,
    error: null,
  });
  const orders = around(74);
  const invoices = around(55);
  const turns = [
    turn("purchase_orders", 1, orders, 52_000 * growth, around(310) * busy),
    turn("invoices", 1, invoices, 39_000 * growth, around(240) * busy),
    turn("items", 1, around(21), 12_400 * growth, around(12) * busy),
    turn("findings", 24, around(17), 5_000 * growth, around(60) * busy),
    turn("findings_summary", 44, around(2), 1, around(1)),
    turn("ingested", 44, around(12), around(900) * busy, around(850) * busy),
    turn("purchase_order_details", orders + 2, around(88), around(1_350) * busy, around(290) * busy),
    turn("invoice_matches", invoices + 2, around(49), around(1_000) * busy, around(200) * busy),
  ];
  if (night === 11)
    return turns.slice(0, 4).map(each => ({ ...each, took: 62, status: "failed", read: 0, changed: 0, error: away }));
  if (night !== 0 && night !== 17) return turns;
  return turns.map(each =>
    each.stream === "items" ? { ...each, status: "warning", rejected: night === 0 ? 3 : 1 } : each,
  );
}
