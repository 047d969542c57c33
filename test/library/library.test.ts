import { getEventListeners } from "node:events";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { ConfigError } from "../../src/errors.ts";
import {
  type Change,
  type ChangesState,
  type LogEntry,
  openWarehouse,
  read,
  streams,
  sync,
  TributaryError,
  upload,
  type Warehouse,
  type WarehouseOptions,
} from "../../src/library/index.ts";
import { opened } from "../../src/library/warehouse.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { emptyFolder } from "../cli/process.ts";
import { roleDatabase, secretKey, secretPassword, simulated } from "../cli/workplace.ts";

type Values = Readonly<Record<string, unknown>>;

const databases = [
  { name: "duckdb", make: async (): Promise<Values> => ({ path: join(emptyFolder(), "w.duckdb") }) },
  { name: "postgres", make: async () => (await roleDatabase()).destination },
];

async function place(destination: Values, options: SimulatorOptions = {}, more: Values = {}) {
  const simulator = await simulated(options);
  const api = { base_url: simulator.url, key: `\${KEY}` };
  const config = { api, company: "acme", destination, views: false, ...more };
  const open = (own: Partial<WarehouseOptions> = {}): Promise<Warehouse> =>
    openWarehouse({ config, env: { KEY: secretKey, PASSWORD: secretPassword }, ...own });
  return { simulator, open };
}

async function taken(changes: AsyncIterable<Change>): Promise<readonly Change[]> {
  const all: Change[] = [];
  for await (const change of changes) all.push(change);
  return all;
}

/** What this process holds: files below a folder, where the system tells, and what keeps Node.js alive. */
const held = (folder: string) => [
  ...(existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd") : []).flatMap(fd => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return [];
    }
  }),
  ...process.getActiveResourcesInfo().filter(what => !/Pipe|Timeout|MessagePort|TTY/.test(what)),
];

/** What is held beyond what was before; that may go meanwhile, as idle connections of other tests do. */
function heldBeyond(before: readonly string[], folder: string): readonly string[] {
  const left = [...before];
  return held(folder).filter(what => {
    const at = left.indexOf(what);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The system and the server may take a moment to let go. */
const patience = { timeout: 60_000 };

describe.each(databases)("$name", ({ make }) => {
  test("rows come once, go on behind any of them, and then come what changed and what was deleted", async () => {
    const { simulator, open } = await place(await make());
    await using warehouse = await open();
    const wanted = ["findings", "purchase_orders"];
    expect(await sync(warehouse, { streams: wanted })).toMatchObject({ status: "succeeded", exit_code: 0 });
    const all = await taken(read(warehouse, { streams: wanted }));
    const counts = Map.groupBy(all, ({ table }) => table);
    expect([...counts.keys()]).toEqual(expect.arrayContaining(["findings", "purchase_orders"]));
    expect(counts.get("findings")).toHaveLength(5);
    for (const at of [3, Math.floor(all.length / 2), all.length - 1]) {
      const state: ChangesState = JSON.parse(JSON.stringify(all[at]!.state));
      const rest = await taken(read(warehouse, { streams: wanted, state }));
      expect(rest.map(({ table, record }) => ({ table, record }))).toEqual(
        all.slice(at + 1).map(({ table, record }) => ({ table, record })),
      );
    }
    const { state } = all.at(-1)!;
    const [changed] = simulator.update("findings", 1);
    const [gone] = simulator.delete("findings", 1);
    await sync(warehouse, { streams: wanted });
    const news = await taken(read(warehouse, { streams: ["findings"], state }));
    const isGone = ({ record }: Change) => [record["finding_item_id"], record["_deleted_at"] !== null];
    expect(news.map(isGone).sort()).toEqual(
      [
        [changed, false],
        [gone, true],
      ].sort(),
    );
    expect(new Set(news.map(({ stream }) => stream))).toEqual(new Set(["findings"]));
  });

  test("a loop that is left gives everything back, and the next sync can write", async () => {
    const destination = await make();
    const { open } = await place(destination, { sizes: { items: 6_000 } });
    await using warehouse = await open();
    await sync(warehouse, { streams: ["items"] });
    const folder = join(String(destination["path"] ?? "/nowhere"), "..");
    const before = held(folder);
    for await (const change of read(warehouse, { streams: ["items"] })) {
      expect(change.table).toBe("items");
      break;
    }
    expect(heldBeyond(before, folder)).toEqual([]);
    expect(await sync(warehouse, { streams: ["items"] })).toMatchObject({ exit_code: 0 });
  });

  test("what a database or service refuses is thrown without secrets, and a signal stops before anything begins", async () => {
    const { open } = await place(await make());
    await using warehouse = await open();
    await expect(sync(warehouse, { streams: ["no_such_stream"] })).rejects.toMatchObject({
      name: "ConfigError",
      message: expect.stringContaining("no_such_stream"),
    });
    await expect(taken(read(warehouse))).rejects.toThrow("nothing has been loaded yet");
    const stopped = sync(warehouse, { signal: AbortSignal.abort(new Error("enough")) });
    await expect(stopped).rejects.toMatchObject({ name: "StoppedError" });
    await using other = await open({ env: { KEY: "sk-wrong-one-99", PASSWORD: secretPassword } });
    const refused = await sync(other, { streams: ["findings"] }).catch((error: unknown) => ({
      exit_code: error instanceof TributaryError ? error.exitCode : undefined,
      errors: [String(error)],
    }));
    expect(refused.exit_code).toBe(3);
    expect(JSON.stringify(refused)).not.toContain("sk-wrong");
  });
});

test("a failure is thrown without secrets in its message, its fields and its cause", async () => {
  const { open } = await place({ path: join(emptyFolder(), "w.duckdb") });
  const wrong = { code: "test.wrong", message: `got ${secretKey}`, fields: { values: [secretKey] } };
  const failing = opened(await open()).within(undefined, async () => {
    throw new ConfigError(wrong, new Error(secretKey));
  });
  await expect(failing).rejects.toMatchObject({
    ...{ code: "test.wrong", message: "got •••", fields: { values: ["•••"] } },
    cause: { message: "•••" },
  });
});

test("two warehouses are synced at once: one is aborted, the other ends well, and neither leaves anything open", async () => {
  const folder = emptyFolder();
  const database = await roleDatabase();
  const quick = await place({ path: join(folder, "w.duckdb") });
  const slow = await place(database.destination, { faults: { latencyMs: 300 }, sizes: { items: 3_000 } });
  const before = held(folder);
  const logged: LogEntry[] = [];
  const one = await quick.open({ log: entry => logged.push(entry) });
  const two = await slow.open();
  const controller = new AbortController();
  const runs = [sync(one), sync(two, { signal: controller.signal })] as const;
  const seen: string[] = [];
  for await (const { streams: lines } of runs[1]) {
    seen.push(...lines.flatMap(({ state, stream }) => (state === "reading" ? [stream] : [])));
    if (seen.length > 0) controller.abort();
  }
  const [well, stopped] = await Promise.all(runs);
  expect(well).toMatchObject({ status: "succeeded", exit_code: 0, errors: [] });
  expect(well.streams.find(({ stream }) => stream === "purchase_orders")).toMatchObject({ inserted: 12 });
  expect(stopped).toMatchObject({ status: "stopped", exit_code: 5 });
  expect(seen.length).toBeGreaterThan(0);
  expect(logged.map(({ level }) => level)).toContain("info");
  for (const entry of logged) expect(entry).toMatchObject({ code: expect.any(String), fields: expect.any(Object) });
  expect(JSON.stringify(logged)).not.toContain(secretKey);
  await Promise.all([one.close(), two.close()]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  await slow.simulator.close();
  await quick.simulator.close();
  const others = before.filter(what => what !== "TCPServerWrap");
  await expect.poll(() => heldBeyond(others, folder), patience).toEqual([]);
  const sessions = async () =>
    (
      await database.admin.query(
        "select pid from pg_stat_activity where usename = $1 and datname = current_database()",
        [database.role],
      )
    ).rowCount;
  await expect.poll(sessions, patience).toBe(0);
});

test("closing ends a loop over rows that asks for nothing more, and does not wait for it", async () => {
  const { open } = await place({ path: join(emptyFolder(), "w.duckdb") }, { sizes: { items: 6_000 } });
  const warehouse = await open();
  await sync(warehouse, { streams: ["items"] });
  const rows = read(warehouse, { streams: ["items"] });
  expect((await rows.next()).value?.table).toBe("items");
  // Time for the rows after these to stand ready: whoever brings them waits for being asked.
  await sleep(500);
  await warehouse.close();
  await expect(taken(rows)).rejects.toMatchObject({ code: "library.warehouse_closed" });
});

test("closing stops what was begun, and waits for its end", async () => {
  const { open } = await place({ path: join(emptyFolder(), "w.duckdb") }, { faults: { latencyMs: 200 } });
  const warehouse = await open();
  let report: RunReport | undefined;
  const begun = Promise.withResolvers<void>();
  const run = sync(warehouse, { watch: () => begun.resolve() }).then(ended => {
    report = ended;
  });
  await begun.promise;
  await warehouse.close();
  await run;
  expect(report).toMatchObject({ status: "stopped", exit_code: 5 });
  await expect(sync(warehouse)).rejects.toMatchObject({ code: "library.warehouse_closed" });
});

test("files are uploaded, waited for, and shown as rows", async () => {
  const folder = emptyFolder();
  const meanings = { processed: { status: ["processed"] } };
  const destination = { path: join(folder, "w.duckdb") };
  const { open, simulator } = await place(destination, { faults: { processingMs: 100 } }, { meanings });
  await using warehouse = await open();
  const file = join(folder, "a.pdf");
  writeFileSync(file, "content");
  const run = upload(warehouse, [file], { waitMs: 60_000 });
  const steps: string[] = [];
  for await (const files of run) steps.push(...files.map(({ step }) => step));
  expect(steps.at(-1)).toBe("done");
  expect(await run).toMatchObject({
    ...{ exit_code: 0, pending: [], uploads: [{ file, outcome: "uploaded", doc_id: "DOC-U1" }] },
    rows: { ingested: [{ id: "DOC-U1" }] },
  });
  expect(await upload(warehouse, [file])).toMatchObject({ uploads: [{ outcome: "present" }] });
  expect(simulator.uploads.all).toHaveLength(1);
  await expect(upload(warehouse, [join(folder, "none.pdf")])).rejects.toThrow("got nothing of that name");
});

test("streams are described with their tables, and whether they are on", async () => {
  const { open } = await place({ path: join(emptyFolder(), "w.duckdb") }, {}, { streams: { exclude: ["findings"] } });
  const all = await streams(await open());
  const on = new Map(all.map(({ name, on }) => [name, on]));
  expect([on.get("purchase_orders"), on.get("findings")]).toEqual([true, false]);
  const orders = all.find(({ name }) => name === "purchase_orders")!;
  expect(orders.tables[0]!.columns.map(({ name }) => name)).toContain("po_number");
});

test("integers that a number cannot hold come as bigint", async () => {
  const database = await roleDatabase();
  const { open } = await place(database.destination);
  await using warehouse = await open();
  await sync(warehouse, { streams: ["items"] });
  const column = "document_count";
  await database.admin.query(
    `update procurement.items set ${column} = 9007199254740993
     where item_id = (select min(item_id) from procurement.items)`,
  );
  const values = (await taken(read(warehouse, { streams: ["items"] }))).map(({ record }) => record[column]);
  expect(values.filter(value => typeof value === "bigint")).toEqual([9007199254740993n]);
  expect(values.some(value => typeof value === "number")).toBe(true);
});

test("an option that a function does not have, or whose value does not fit, is refused before anything begins", async () => {
  await using warehouse = await openWarehouse({ config: { api: { base_url: "http://127.0.0.1:1", key: "k" } } });
  const option_value = { code: "library.option_value", fields: { option: "maxTimeMs" } };
  await expect(sync(warehouse, { maxTimeMs: Number.NaN })).rejects.toMatchObject(option_value);
  const unknown = { code: "library.unknown_option", fields: { suggestion: "full" } };
  await expect(sync(warehouse, { ful: true } as object)).rejects.toMatchObject(unknown);
  await expect(taken(read(warehouse, { compny: "acme" } as object))).rejects.toMatchObject({ code: unknown.code });
  await expect(upload(warehouse, [], { waitMs: -1 })).rejects.toMatchObject({ code: option_value.code });
});

test("a state that `read` did not give, or one of another company, is a ConfigError before anything is read", async () => {
  await using warehouse = await openWarehouse({ config: { api: { base_url: "http://127.0.0.1:1", key: "k" } } });
  const given = (state: unknown) => taken(read(warehouse, { state: state as ChangesState }));
  for (const state of [null, 1n, { companies: { acme: 1 } }, { version: 1, companies: { acme: { items: {} } } }])
    await expect(given(state)).rejects.toMatchObject({ name: "ConfigError", code: "changes.unreadable_state" });
  const others = { version: 1, companies: { other: {} } };
  await expect(given(others)).rejects.toMatchObject({ name: "ConfigError", code: "changes.state_of_others" });
});

test("a configuration is a file or its values; what is wrong in it is said at once, and nothing is no warehouse", async () => {
  await expect(openWarehouse({ config: join(emptyFolder(), "none.yaml") })).rejects.toThrow("no configuration at");
  const wrong = openWarehouse({ config: { company: "acme", api: { base_url: "nowhere" } }, env: {} });
  await expect(wrong).rejects.toThrow(/the configuration:\d+:\d+ .*api\.base_url/);
  expect(() => sync({} as Warehouse)).toThrow(expect.objectContaining({ code: "library.not_a_warehouse" }));
});
