import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, inject, onTestFinished, test } from "vitest";
import { openCompany } from "../crash/company.ts";
import { goodSync, killedSync, type Phase } from "../crash/killing.ts";
import { makeDucklake } from "../crash/warehouse.ts";
import { pythonWith, pythonWithPip } from "./brought.ts";
import { duckdbVersion } from "./extensions.ts";
import { addressOf, plainly } from "./plain.ts";
import type { ReaderOrder, Told } from "./reader.ts";

/** All of them change in a publish, and they are more than stay in the catalog. */
const ITEMS = 1_000;
const sizes = { orders: 5, invoices: 1, items: ITEMS, findings: 1, ingested: 1 };
const config = {
  streams: {
    include: ["items", "purchase_orders", "purchase_order_details"],
    exclude: ["invoice*", "findings*", "ingested"],
  },
};

const latest = "select max(_changed_at) from procurement.items";
const live = (table: string) => `select count(*) from procurement.${table} where _deleted_at is null`;
const told = (stream: string) => `select live_rows from _tributary.streams where stream = '${stream}'`;
const withLines = "po_number in (select po_number from procurement.purchase_order_line_items)";
/** What one publish writes together, in pairs that agree. */
const pairs = [
  [latest, latest],
  ["select count(distinct _changed_at) from procurement.items", "select 1"],
  [live("items"), told("items")],
  ["select count(*) from procurement.items", "select count(*) from _tributary.rows_items"],
  [live("purchase_orders"), told("purchase_orders")],
  [
    "select count(distinct po_number) from procurement.purchase_order_line_items where _deleted_at is null",
    `${live("purchase_order_details")} and ${withLines}`,
  ],
];
const rowOf = (questions: readonly (string | undefined)[]) =>
  `select ${questions.map(each => `(${each})::varchar`).join(", ")}`;
const questions = [rowOf(pairs.map(([one]) => one)), rowOf(pairs.map(([, other]) => other))] as const;

/** Readers in a process of their own; `end` makes them look once more and tell. */
async function readersIn(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<() => Promise<Told>> {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("open");
  return async () => {
    child.stdin.end();
    const { value } = await lines.next();
    if (child.exitCode === null) await once(child, "exit");
    return JSON.parse(String(value));
  };
}

/** As any client reads: a process with Python's DuckDB; one with Node's where the machine has no Python. */
async function inPython(order: ReaderOrder): Promise<() => Promise<Told>> {
  if ((await pythonWithPip().catch(() => undefined)) === undefined) {
    console.warn(
      "No Python with pip is here: its seven readers are read in Node instead. What Python's DuckDB sees was NOT tested.",
    );
    return inNode(order);
  }
  const { python, env } = await pythonWith(`duckdb==${(await duckdbVersion()).replace(/^v/, "")}`);
  const words = { ...order, ...addressOf(order.destination) };
  return readersIn(python, [join(import.meta.dirname, "reader.py"), JSON.stringify(words)], env);
}

const inNode = (order: ReaderOrder): Promise<() => Promise<Told>> =>
  readersIn(process.execPath, [join(import.meta.dirname, "reader.ts"), JSON.stringify(order)], {});

test("twenty readers in three processes hear of no error and see no mixture, while runs publish, are killed, and files are put together", async () => {
  const company = await openCompany(sizes);
  onTestFinished(() => company.close());
  const warehouse = await makeDucklake(inject("postgresUrl"), inject("extensions"))(company.url, config);
  onTestFinished(() => warehouse.remove());
  await goodSync(warehouse);
  const order = { destination: warehouse.destination, questions, pauseMs: 4_000 };
  const processes = [
    await inPython({ ...order, readers: 7 }),
    await inNode({ ...order, readers: 7 }),
    await inNode({ ...order, readers: 6 }),
  ];

  const night = () => {
    company.update("items", ITEMS);
    company.insert("purchase_orders", 2);
    company.delete("purchase_orders", 1);
    company.requests.clear();
  };
  const phases: Phase[] = [];
  const killed = () => phases.filter(phase => phase === "publishing").length;
  // How long a publish takes is the machine's: as many tries as two need.
  for (const value of [30, 300, 100, 10, 200, 60, 30, 300, 100, 10, 200, 60]) {
    if (killed() === 2) break;
    night();
    phases.push(await killedSync(warehouse, company, { by: "publishing", value }));
  }
  night();
  await goodSync(warehouse);
  await plainly(warehouse.destination, async connection => {
    await connection.run("call ducklake_flush_inlined_data('lake')");
    await connection.run("call ducklake_rewrite_data_files('lake', delete_threshold => 0)");
    await connection.run("call ducklake_merge_adjacent_files('lake')");
  });

  const seen = await Promise.all(processes.map(end => end()));
  expect(killed(), `killed while ${phases.join(", ")}`).toBe(2);
  expect(seen.map(({ readers, errors, mixtures }) => ({ readers, errors, mixtures }))).toEqual(
    [7, 7, 6].map(readers => ({ readers, errors: [], mixtures: [] })),
  );
  for (const { looks, states, readers } of seen) {
    expect(looks).toBeGreaterThan(readers);
    expect(states).toBeGreaterThan(1);
  }
});
