import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { roleDatabase, simulated, workplace } from "./workplace.ts";

interface Line {
  readonly table?: string;
  readonly record?: Readonly<Record<string, unknown>>;
  readonly state?: object;
}

const linesOf = (stdout: string): readonly Line[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line) as Line);
const recordsOf = (stdout: string) => linesOf(stdout).flatMap(({ record }) => (record === undefined ? [] : [record]));

test("a sync runs first, each row comes once, then only what changed: both databases write the same", async () => {
  const simulator = await simulated();
  const postgres = await roleDatabase();
  const both = [{}, { destination: postgres.destination }].map(more => workplace(simulator, { views: false, ...more }));
  const words = ["read", "purchase_order_details", "findings", "--state", "read.json", "--no-progress"];
  const first: object[] = [];
  for (const { run, folder } of both) {
    const ended = await run(words);
    expect(ended.code, ended.stderr).toBe(0);
    const lines = linesOf(ended.stdout);
    expect(lines.at(-1)!.state).toEqual(JSON.parse(readFileSync(join(folder, "read.json"), "utf8")));
    const tables = new Set(lines.flatMap(({ table }) => table ?? []));
    expect(tables.has("findings") && tables.has("purchase_order_line_items")).toBe(true);
    expect(tables.has("purchase_orders")).toBe(false);
    const bare = ({ _changed_at, _first_seen_at, ...rest }: Readonly<Record<string, unknown>>) => rest;
    first.push(recordsOf(ended.stdout).map(bare));
    const again = await run([...words, "--no-sync"]);
    expect([again.code, recordsOf(again.stdout)]).toEqual([0, []]);
  }
  // jsonb has its own order of fields.
  expect(first[1]).toEqual(first[0]);
  simulator.update("findings", 1);
  simulator.delete("findings", 1);
  for (const { run } of both) {
    const changed = recordsOf((await run(words)).stdout).filter(record => "finding_item_id" in record);
    expect(changed.map(record => record["_deleted_at"] !== null).sort()).toEqual([false, true]);
  }
});

test("nothing loaded and a state that is none: said, with exit code 2, and the state stays", async () => {
  const { run, folder } = workplace(await simulated(), { views: false });
  const nothing = await run(["read", "--no-sync"]);
  expect([nothing.code, nothing.stdout]).toEqual([2, ""]);
  expect(nothing.stderr).toContain("nothing has been loaded yet");
  writeFileSync(join(folder, "read.json"), "oops");
  const wrong = await run(["read", "--state", "read.json"]);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toMatch(/Expected in .*read\.json a state that `tributary read` wrote, got "oops"/);
  expect(readFileSync(join(folder, "read.json"), "utf8")).toBe("oops");
  expect(existsSync(join(folder, "w.duckdb"))).toBe(false);
});

test("a state of another company, or one that cannot be kept, ends `read` with exit code 2 before a request", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator, { views: false });
  const state = { version: 1, companies: { other: { items: { changed_at: "2026-01-01T00:00:00.000Z", key: [] } } } };
  writeFileSync(join(folder, "other.json"), JSON.stringify(state));
  const bookmarks = { items: { other: state.companies.other.items } };
  writeFileSync(join(folder, "tap.json"), JSON.stringify({ type: "STATE", value: { bookmarks } }));
  const cases = [
    ["read", "other.json", "Expected a state of acme, got one of other."],
    ["singer", "tap.json", "Expected a state of acme, got one of other."],
    ["read", "missing/state.json", "(ENOENT)"],
    ["read", "other.json/state.json", "(ENOTDIR)"],
  ] as const;
  for (const [command, file, said] of cases) {
    const ended = await run([command, "--state", file]);
    expect({ file, code: ended.code, stdout: ended.stdout }).toEqual({ file, code: 2, stdout: "" });
    expect(ended.stderr).toContain(said);
  }
  expect(simulator.requests.total).toBe(0);
});

test.skipIf(process.platform === "win32")(
  "a state that can no longer be written ends `read` with exit code 1",
  async () => {
    const { run, folder } = workplace(await simulated(), { views: false });
    symlinkSync(join(folder, "missing/state.json"), join(folder, "state.json"));
    const ended = await run(["read", "items", "--no-progress", "--state", "state.json"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/state\.json \(ENOENT\): check its folder/);
  },
);

test("`read --no-sync` of streams that no run has loaded ends with exit code 2, of loaded ones without rows with 0", async () => {
  const { run } = workplace(await simulated({ sizes: { items: 3, orders: 0, invoices: 0 } }), { views: false });
  expect((await run(["sync", "items", "invoices"])).code).toBe(0);
  for (const [words, code] of [
    [["findings"], 2],
    [["contracts"], 2],
    [["findings", "items"], 0],
    [["invoices"], 0],
    [[], 0],
  ] as const) {
    const ended = await run(["read", ...words, "--no-sync", "--no-progress"]);
    expect({ words, code: ended.code }).toEqual({ words, code });
    if (code === 2) expect(ended.stderr).toContain("Expected rows of");
  }
});

test("a run that could not read everything ends with its exit code, and what is there is written all the same", async () => {
  const { run } = workplace(await simulated(), { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  const ended = await run(["read", "items", "--no-progress", "--max-requests", "0"]);
  expect([ended.code, recordsOf(ended.stdout).length]).toEqual([5, 130]);
});

test("whoever takes only the first lines ends it without a complaint", async () => {
  const { run, start } = workplace(await simulated(), { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  const child = start("read", "items", "--no-sync", "--no-progress");
  child.stdout.destroy();
  const said: string[] = [];
  child.stderr.on("data", piece => said.push(String(piece)));
  const [code] = await once(child, "close");
  expect({ code, said: said.join("") }).toEqual({ code: 0, said: "" });
});

test("rows of many kilobytes come whole: more memory is given where they need it", async () => {
  const { run, folder } = workplace(await simulated(), {
    views: false,
    destination: { path: "./w.duckdb", readers: "direct" },
  });
  expect((await run(["sync", "items"])).code).toBe(0);
  const instance = await DuckDBInstance.create(join(folder, "w.duckdb"));
  const connection = await instance.connect();
  await connection.run(
    "update procurement.items set description = (select string_agg(md5(concat(item_id, n)), '') from range(6000) t(n))",
  );
  connection.closeSync();
  instance.closeSync();
  const ended = await run(["read", "items", "--no-sync", "--no-progress"]);
  expect(ended.code, ended.stderr).toBe(0);
  const lengths = recordsOf(ended.stdout).map(({ description }) => String(description).length);
  expect(lengths).toEqual(Array.from({ length: 130 }, () => 32 * 6000));
});
