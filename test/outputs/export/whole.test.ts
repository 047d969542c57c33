import { execFile } from "node:child_process";
import { mkdir, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { StoppedError } from "../../../src/errors.ts";
import { placeOf } from "../../../src/outputs/export/place.ts";
import { meddle } from "../../operations/verify/planting.ts";
import { sentence } from "../../support/log.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, postgresWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { exported } from "./exporting.ts";
import { lake } from "./lake.ts";
import { byAnother, manifestOf } from "./parquet.ts";

const run = promisify(execFile);
const child = join(import.meta.dirname, "child.ts");
const sizes = { orders: 20, invoices: 10, items: 15, findings: 5, ingested: 10 };

let simulator: Simulator;
const warehouses: Warehouse[] = [];
beforeAll(async () => {
  simulator = await startSimulator({ sizes });
  warehouses.push(await duckdbWarehouse(), await postgresWarehouse(inject("postgresUrl")));
  for (const warehouse of warehouses)
    expect(await bench({ simulator, warehouse }).sync()).toMatchObject({ exit_code: 0 });
});
afterAll(async () => {
  for (const warehouse of warehouses) await warehouse.drop();
  await simulator.close();
});

/** What the child exports. */
const streams = ["purchase_orders", "invoices", "items", "findings"];
const duckdb = () => warehouses[0]!;
let change = 0;
/** Changes all of them, so that an export has something to write. */
const changed = (warehouse: Warehouse) => {
  change++;
  return meddle(warehouse, [
    `update procurement.purchase_orders set vendor_name = 'v${change}'`,
    `update procurement.invoices set vendor_name = 'v${change}'`,
    `update procurement.items set sku = 'v${change}'`,
    `update procurement.findings set _extra = '{"later": ${change}}'`,
  ]);
};

/** What a reader finds: the manifest, and every row of every table of it. */
async function readWhole(out: string): Promise<string> {
  const manifest = await manifestOf(out);
  const rows = [];
  for (const table of manifest.tables) {
    const found = await byAnother(out, table);
    expect(found.length).toBe(table.rows);
    rows.push(found);
  }
  return JSON.stringify([manifest, rows]);
}

const leftovers = async (out: string): Promise<string[]> =>
  (await readdir(`${out}.exports`)).filter(name => !/^\d{4}-[\dTZ.-]+$/.test(name));

describe("killed", () => {
  it.each([
    ["duckdb", "writing"],
    ["duckdb", "before the link"],
    ["duckdb", "before the rename"],
    ["postgres", "written"],
  ])("%s, %s: readers have the export before, and the next one goes well", async (name, point) => {
    const warehouse = warehouses.find(candidate => candidate.name === name)!;
    const out = await lake();
    const first = await exported(warehouse, out, { streams });
    const before = await readWhole(out);
    await changed(warehouse);
    const argv = [child, JSON.stringify(warehouse.destination), out, point];
    await expect(run(process.execPath, argv)).rejects.toMatchObject({ signal: "SIGKILL" });
    expect(await readWhole(out)).toBe(before);
    expect(await leftovers(out)).toHaveLength(1);
    const next = await exported(warehouse, out, { streams });
    expect(await readWhole(out)).not.toBe(before);
    expect(await readdir(`${out}.exports`)).toEqual([first.version, next.version]);
    expect(await readdir(dirname(out))).toEqual(["lake", "lake.exports"]);
    await readWhole(out);
  });

  test("at the first export of all: there is none, and the next one goes well", async () => {
    const out = await lake();
    const argv = [child, JSON.stringify(duckdb().destination), out, "before the rename"];
    await expect(run(process.execPath, argv)).rejects.toMatchObject({ signal: "SIGKILL" });
    await expect(stat(out)).rejects.toMatchObject({ code: "ENOENT" });
    await exported(duckdb(), out, { streams });
    await readWhole(out);
  });
});

test("what is written while PostgreSQL is read comes with the next export, all of it", async () => {
  const warehouse = warehouses[1]!;
  const out = await lake();
  await changed(warehouse);
  const rowsOf = async () => {
    const { tables } = await manifestOf(out);
    return JSON.stringify(await Promise.all(tables.map(table => byAnother(out, table))));
  };
  await exported(warehouse, out, { streams });
  const before = await rowsOf();
  let copies = 0;
  await exported(warehouse, out, {
    streams,
    beforeCopy: async () => void (++copies === 2 && (await changed(warehouse))),
  });
  expect(copies).toBe(4);
  expect(await rowsOf()).toBe(before);
  await exported(warehouse, out, { streams });
  expect(await rowsOf()).not.toBe(before);
});

describe("what keeps an export from being made", () => {
  test("a full disk: exit code 6, the export before is there, and nothing is left behind", async () => {
    const out = await lake();
    await exported(duckdb(), out, { streams });
    const before = await readWhole(out);
    await changed(duckdb());
    const limited = ["-c", 'ulimit -f 10 && exec "$@"', "bash", process.execPath, child];
    const failed = run("bash", [...limited, JSON.stringify(duckdb().destination), out, "none"]);
    await expect(failed).rejects.toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/disk is full.*What was exported before is untouched/),
    });
    expect(await readWhole(out)).toBe(before);
    expect(await leftovers(out)).toEqual([]);
    expect(await readdir(`${out}.exports`)).toHaveLength(1);
  });

  test("a file system without links: exit code 6", async () => {
    const out = await lake();
    const makeLink = () =>
      Promise.reject(Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" }));
    const asked = exported(duckdb(), out, { tools: { makeLink } });
    await expect(asked).rejects.toMatchObject({
      exitCode: 6,
      code: "export.no_links",
      fields: { error_code: "EPERM" },
    });
    expect(await readdir(dirname(out))).toEqual([]);
  });

  test("a signal: its reason, and nothing is left behind", async () => {
    for (const warehouse of warehouses) {
      const out = await lake();
      const stopping = new AbortController();
      const reason = new StoppedError(sentence("stopped"), 130);
      const watch = () => stopping.abort(reason);
      await expect(exported(warehouse, out, { tools: { signal: stopping.signal, watch } })).rejects.toBe(reason);
      expect(await readdir(dirname(out))).toEqual([]);
    }
  });

  it.each(["while it writes", "before it is shown"])(
    "another export into the same folder, %s: it fails, and readers have the other one",
    async point => {
      const warehouse = warehouses[1]!;
      const out = await lake();
      await exported(warehouse, out, { streams });
      const during: string[] = [];
      const other = async (here: string) => {
        if (here !== point || during.length > 0) return;
        during.push("");
        await changed(warehouse);
        await exported(warehouse, out, { streams });
        during[0] = await readWhole(out);
      };
      let copies = 0;
      const failing = exported(warehouse, out, {
        streams,
        beforeCopy: async () => void (++copies === 2 && (await other("while it writes"))),
        tools: {
          makeLink: async (target, path) => {
            await other("before it is shown");
            await symlink(target, path);
          },
        },
      });
      await expect(failing).rejects.toMatchObject({
        exitCode: 6,
        code: "export.disk_refused",
        fields: { why: "gone" },
      });
      expect(await readWhole(out)).toBe(during[0]);
      expect(await leftovers(out)).toEqual([]);
    },
  );
});

describe("where an export may go", () => {
  test("an empty folder becomes the link; the link is relative", async () => {
    const out = await lake();
    await mkdir(out);
    const { version } = await exported(duckdb(), out, { streams: ["items"] });
    expect(await readlink(out)).toBe(join("lake.exports", version));
  });

  it.each<[string, (out: string) => Promise<unknown>, string]>([
    [
      "a folder with somebody's files",
      out => mkdir(out).then(() => writeFile(join(out, "thesis.txt"), "x")),
      "export.foreign_files",
    ],
    ["a file", out => writeFile(out, "x"), "export.not_a_folder"],
    ["somebody's link", out => symlink("/nowhere", out), "export.foreign_link"],
    ["a file where versions would lie", out => writeFile(`${out}.exports`, "x"), "export.versions_blocked"],
  ])("%s is refused and left alone", async (_name, make, code) => {
    const out = await lake();
    await make(out);
    const before = await readdir(dirname(out), { recursive: true });
    await expect(exported(duckdb(), out)).rejects.toMatchObject({ exitCode: 2, code });
    expect(await readdir(dirname(out), { recursive: true })).toEqual(before);
  });

  test("the folder one is in, or one above it, is refused", async () => {
    const out = await lake();
    for (const [path, cwd] of [
      [".", out],
      ["..", out],
      ["/", out],
      [out, join(out, "below")],
    ] as const)
      await expect(placeOf(path, cwd)).rejects.toMatchObject({ exitCode: 2, code: "export.not_below" });
    expect(await placeOf("../lake", join(dirname(out), "beside"))).toMatchObject({ path: out });
  });
});
