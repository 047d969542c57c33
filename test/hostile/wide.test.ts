import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { identityEndpoint } from "../../streams/identity.ts";
import { program, variables } from "../support/program.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { serving } from "./service.ts";

/* Rows that are as wide as few: the process is held to what the configuration's `memory` promises. */

const MEMORY = 256;
const BESIDE = { duckdb: 200, postgres: 110 };
/** As the command's own first line says. */
const FLAGS = ["--max-semi-space-size=2", "--heap-growing-percent=70", "--v8-pool-size=1"];

/** Texts that differ, so that nothing of them is stored once for all. */
const text = (nth: number, length: number): string => `${nth} `.repeat(length).slice(0, length);

const ended = { has_more: false, next_cursor: null };

/** A page of a list that is asked for with `limit` and `cursor`. */
function answerPage(response: ServerResponse, { searchParams }: URL, name: string, rows: number, row: Row): void {
  const from = Number(searchParams.get("cursor") ?? 0);
  const to = Math.min(rows, from + Number(searchParams.get("limit") ?? 25));
  const data = { [name]: Array.from({ length: to - from }, (_, i) => row(from + i)) };
  const pagination = to < rows ? { has_more: true, next_cursor: String(to) } : ended;
  response.end(JSON.stringify({ data, pagination }));
}

type Row = (nth: number) => object;

/** Syncs streams in a process of its own: its exit code, what it said, and its largest resident set in MB. */
async function syncing(warehouse: Warehouse, url: string, streams: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "tributary-wide-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, "config.json");
  const api = { base_url: url, key: "sk-test" };
  await writeFile(config, JSON.stringify({ api, destination: warehouse.destination, memory: `${MEMORY}MB` }));
  const child = spawn(process.execPath, [...FLAGS, program, "sync", ...streams, "--config", config], {
    env: variables,
    cwd: folder,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", piece => (said += piece));
  let kilobytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = `/proc/${child.pid}/status`;
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readable(status));
    kilobytes = Math.max(kilobytes, Number(peak?.[1] ?? 0));
    await sleep(10);
  }
  return { code: child.exitCode, said, megabytes: (kilobytes * 1024) / 1e6 };
}

function readable(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const weigh = (warehouse: Warehouse, table: string, column: string) =>
  outside(
    warehouse,
    `select cast(count(*) as varchar) as n, cast(sum(length(${column})) as varchar) as length from procurement.${table}`,
  );

const WIDE = 100_000;
const WIDEST = 400_000;

test.each(warehouses)(
  "lists, feeds and details of wide rows are loaded within `memory`: $name",
  async ({ name, make }) => {
    const limits = new Map<string, number[]>();
    const url = await serving((request, response) => {
      const asked = new URL(request.url ?? "/", "http://service");
      const path = asked.pathname.replace(/^\/api\/v1/, "");
      const limit = asked.searchParams.get("limit");
      if (limit !== null) limits.set(path, [...(limits.get(path) ?? []), Number(limit)]);
      response.setHeader("content-type", "application/json");
      if (path === identityEndpoint.path) response.end('{"data":{"company_id":"c","company_name":"Acme"}}');
      else if (path === "/po")
        answerPage(response, asked, "purchase_orders", 1_000, nth => ({
          po_number: `PO-${nth}`,
          vendor_name: text(nth, WIDE),
        }));
      else if (path === "/findings")
        answerPage(response, asked, "findings", 100, nth => ({
          item_id: `F-${nth}`,
          created_at: "2026-03-01T00:00:00Z",
          title: text(nth, WIDEST),
        }));
      else {
        const nth = Number(path.slice("/po/PO-".length));
        const status = nth % 25 === 0 ? text(nth, WIDEST) : "small";
        response.end(JSON.stringify({ data: { po_number: `PO-${nth}`, status } }));
      }
    });
    const warehouse = await make();
    const streams = ["purchase_orders", "findings", "purchase_order_details"];
    const { code, said, megabytes } = await syncing(warehouse, url, streams);
    expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
    const total = (rows: number, length: number) => ({ n: String(rows), length: String(rows * length) });
    expect(await weigh(warehouse, "purchase_orders", "vendor_name")).toEqual([total(1_000, WIDE)]);
    expect(await weigh(warehouse, "findings", "title")).toEqual([total(100, WIDEST)]);
    const details = { n: "1000", length: String(40 * WIDEST + 960 * "small".length) };
    expect(await weigh(warehouse, "purchase_order_details", "status")).toEqual([details]);
    // A page of 40 MB was not read to its end.
    expect(limits.get("/findings")?.slice(0, 2)).toEqual([100, 25]);
    expect(Math.round(megabytes)).toBeLessThanOrEqual(MEMORY + BESIDE[name as keyof typeof BESIDE]);
  },
);
