import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import type { MissedDetail, ProblemRow, RejectedRow } from "../../src/operations/rejects.ts";
import type { Status } from "../../src/operations/status.ts";
import type { StreamDescription } from "../../src/outputs/dictionary/stream_description.ts";
import { interposed, refused } from "../support/interposed.ts";
import { emptyFolder, tributary } from "./process.ts";
import { json, roleDatabase, secretKey, simulated, workplace } from "./workplace.ts";

const streamOf = (status: Status, name: string) => status.streams.find(one => one.stream === name);

test("status, rejects and problems of a warehouse, before and after it is loaded", async () => {
  const simulator = await simulated();
  const [item] = simulator.truth.rows("items");
  simulator.patch("items", String(item?.["item_id"]), { item_id: null });
  const [order] = simulator.truth.rows("purchase_orders");
  simulator.patch("purchase_orders", String(order?.["po_number"]), { po_date: `no date, ${secretKey}` });
  const postgres = await roleDatabase();
  const places = [{}, { destination: postgres.destination }].map(more =>
    workplace(simulator, { views: false, ...more }),
  );
  for (const { run } of places) {
    const [bare, bareJson, none] = [await run(["status"]), await run(["status", "--json"]), await run(["rejects"])];
    expect(bare.stdout).toContain("Nothing has been loaded yet");
    expect(none.stdout).toContain("Nothing has been loaded yet");
    expect([bare.code, none.code]).toEqual([0, 0]);
    const empty = json<Status>(bareJson);
    expect(empty).toMatchObject({ warehouse: { loaded: false }, running: null, last_run: null });
    expect(empty.next_run).toEqual({ schedule: "nightly", at: expect.stringMatching(/T02:00:00\.000Z$/) });
    expect(bare.stdout).toMatch(
      /\nNext run: +nightly at \d{4}-\d\d-\d\d 02:00 UTC, in .*, if `tributary schedule` is up\n/,
    );
    expect(streamOf(empty, "items")).toMatchObject({ on: true, status: "never", last_success_at: null, rows: 0 });

    const synced = await run(["sync", "items", "purchase_orders"]);
    expect(synced.code).toBe(0);
    expect(synced.stdout).toMatch(/\nWarning: items: 1 rows? could not be stored.*tributary rejects items/);

    const [shown, asJson] = [await run(["status"]), await run(["status", "--json"])];
    const [rejected, shownRejects] = [await run(["rejects", "items", "--json"]), await run(["rejects"])];
    const problems = await run(["rejects", "--problems", "--json"]);
    const shownProblems = await run(["rejects", "purchase_orders", "--problems"]);
    const status = json<Status>(asJson);
    const parts = ["warehouse", "lake", "running", "last_run", "next_run", "workers", "streams", "plan"];
    expect(Object.keys(status)).toEqual(parts);
    expect(status).toMatchObject({
      warehouse: { loaded: true },
      running: null,
      last_run: { status: "warning", exit_code: 0 },
    });
    expect(streamOf(status, "items")).toMatchObject({
      status: "warning",
      rows: 129,
      live_rows: 129,
      rejects: 1,
      problems: 0,
    });
    expect(streamOf(status, "purchase_orders")).toMatchObject({ status: "warning", rows: 12, problems: 1 });
    expect(streamOf(status, "items")).toMatchObject({ service_rows: 130, difference: -1 });
    expect(shown.stdout).toContain("items: 1 row fewer than at the service: rows rejected");
    expect(streamOf(status, "invoices")).toMatchObject({ status: "never" });
    expect(shown.stdout).toMatch(/\nRunning: +nothing\nLast run: +\S+ warning, just now, took /);
    expect(shown.stdout).toMatch(/\nitems +warning +just now +just now +129 +130 +0 +0 +1\n/);
    expect(shown.stdout).toContain("Rows that could not be stored (items): `tributary rejects` shows them.");

    const rejects = json<{ total: number; rejects: RejectedRow[] }>(rejected);
    expect(rejects.total).toBe(1);
    expect(rejects.rejects[0]).toMatchObject({ company: "acme", stream: "items", raw: { item_id: null } });
    expect(shownRejects.stdout).toMatch(/\n\S+ +items +.*item_id/);
    const unread = json<{ problems: ProblemRow[] }>(problems);
    expect(unread.problems).toMatchObject([{ table_name: "purchase_orders", column_name: "po_date", rows: 1 }]);
    expect(shownProblems.stdout).toContain("purchase_orders.po_date");
  }
});

test("rejects lists details that could not be fetched with their reason, and with --all those that answer 404", async () => {
  const simulator = await simulated();
  const [failed, absent] = [...simulator.truth.rows("purchase_orders")].map(row => String(row["po_number"]));
  const answers = new Map([
    [`/po/${encodeURIComponent(failed!)}`, refused(400, "BROKEN")],
    [`/po/${encodeURIComponent(absent!)}`, refused(404, "RESOURCE_NOT_FOUND")],
  ]);
  const { run } = workplace(await interposed(simulator, ({ path }) => answers.get(path)), { views: false });
  await run(["sync", "purchase_orders", "purchase_order_details"]);
  const listed = async (...options: string[]) => {
    const found = json<{ details: MissedDetail[] }>(
      await run(["rejects", "purchase_order_details", ...options, "--json"]),
    );
    return found.details.map(({ parent_key, outcome, attempts }) => ({ parent_key, outcome, attempts }));
  };
  const one = { parent_key: failed, outcome: "failed", attempts: 1 };
  expect(await listed()).toEqual([one]);
  expect(await listed("--all")).toEqual([one, { parent_key: absent, outcome: "absent", attempts: 1 }]);
  expect(await listed("--limit", "1", "--all")).toEqual([one]);
  const { stdout, code } = await run(["rejects", "purchase_order_details"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(`\\n\\S+ +purchase_order_details +${failed} +failed +.*400 BROKEN.* +\\d{4}-\\S+\\n`),
  );
  expect(json(await run(["rejects", "items", "--json"]))).toMatchObject({ details: [] });
});

test("status shows a failure with its advice, and readers: direct while nobody writes", async () => {
  const simulator = await simulated();
  const { run } = workplace(simulator, { views: false, destination: { path: "./w.duckdb", readers: "direct" } });
  await run(["sync", "items"]);
  simulator.faults.hasMoreWithoutCursor = 1;
  expect((await run(["sync", "items"])).code).toBe(1);
  const { stdout, code } = await run(["status"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nLast run: +\S+ failed/);
  expect(stdout).toMatch(/\nitems: .*has_more is true, but next_cursor is missing.*tell the service's operator/);
});

test("streams needs no configuration, and names both databases' types; streams and ddl say every column that a sync makes", async () => {
  const cwd = emptyFolder();
  const { run, folder } = workplace(await simulated(), { streams: { exclude: ["findings*"] } });
  const list = await tributary(["streams"], { cwd });
  const one = await tributary(["streams", "invoice_matches"], { cwd });
  const whole = await tributary(["streams", "--json"], { cwd });
  const configured = await run(["streams", "--json"]);
  expect((await run(["sync"])).code).toBe(0);
  expect(list.stdout).toMatch(/\n\nCore\n {2}on +purchase_orders +scan +core +\/api\/v1\/po\n/);
  expect(list.stdout).toMatch(/\n\d+ streams, \d+ tables; 8 streams are on /);
  expect(list.stderr).toBe("");
  expect(one.stdout).toMatch(/mode +detail of invoices: one request for each of its rows/);
  expect(one.stdout).toMatch(/\ndoc_id +VARCHAR +text +\S/);
  expect(one.stdout).toContain("\ninvoice_line_items: ");
  const described = json<StreamDescription[]>(whole);
  const core = described.filter(stream => stream.preset === "core");
  expect(described.filter(stream => stream.on)).toEqual(core);
  expect(
    json<StreamDescription[]>(configured)
      .filter(stream => stream.preset === "core" && !stream.on)
      .map(stream => stream.name),
  ).toEqual(["findings", "findings_summary"]);
  const wanted = core
    .filter(stream => !stream.name.startsWith("findings"))
    .flatMap(({ tables }) =>
      tables.flatMap(({ name, columns }) => columns.map(column => [name, column.name, column.duckdb, column.comment])),
    );
  const made = await columnsIn(join(folder, "w.duckdb"));
  expect(new Set(wanted.map(String))).toEqual(new Set(made.map(String)));

  const file = join(folder, "by-hand.duckdb");
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run((await run(["ddl"])).stdout);
  connection.closeSync();
  instance.closeSync();
  expect(await columnsIn(file)).toEqual(made);
});

test("streams with a configuration that lacks its variable says so, and shows the catalogue", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "config.yaml"), `api: { base_url: "\${SERVICE}" }\n`);
  const { code, stdout, stderr } = await tributary(["streams"], { cwd });
  expect(stderr).toMatch(/SERVICE is not set[\s\S]*On and off are shown by the default preset\.\n$/);
  expect(stdout).toContain("purchase_orders");
  expect(code).toBe(0);
});

async function columnsIn(file: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `select table_name, column_name, replace(replace(data_type, ', ', ','), 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ'), comment
     from duckdb_columns() where schema_name = 'procurement' order by all`,
  );
  connection.closeSync();
  instance.closeSync();
  return reader.getRows();
}
