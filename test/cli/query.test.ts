import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { deafContext } from "./process.ts";
import { json, roleDatabase, secretKey, secretPassword, simulated, workplace } from "./workplace.ts";

test("answers are CSV, tables or JSON, from both databases, and what is wrong is said", async () => {
  const simulator = await simulated();
  const postgres = await roleDatabase();
  const sql = "select po_number, is_open from purchase_orders order by po_number limit 3";
  const answers: string[] = [];
  for (const more of [{}, { destination: postgres.destination }]) {
    const { run, folder } = workplace(simulator, more);
    expect((await run(["query", sql])).stderr).toContain("nothing has been loaded yet");
    expect((await run(["sync", "purchase_orders"])).code).toBe(0);
    const csv = await run(["query", sql]);
    expect([csv.code, csv.stderr]).toEqual([0, ""]);
    const table = await run(["query", sql, "--format", "table", "--limit", "2"]);
    expect(table.stdout).toMatch(
      /^po_number +is_open\nPO-1 .*\nPO-10 .*\n\(the first 2 rows; --limit 0 shows all\)\n$/,
    );
    const lines = (await run(["query", sql, "--format", "json", "--limit", "1"])).stdout;
    expect(JSON.parse(lines)).toHaveProperty("po_number", "PO-1");
    answers.push(csv.stdout.replace(/,t(rue)?$/gm, ",true").replace(/,f(alse)?$/gm, ",false"));
    const wrong = await run(["query", "select nothing_like_it from purchase_orders"]);
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toContain("nothing_like_it");
    expect((await run(["query"])).stderr).toContain("Expected a query");
    const parquet = await run(["query", sql, "--format", "parquet", "--out", "orders.parquet"]);
    expect([parquet.code, parquet.stdout]).toEqual([0, `3 rows in ${join(folder, "orders.parquet")}\n`]);
    expect(readFileSync(join(folder, "orders.parquet"), "latin1")).toMatch(/^PAR1[\s\S]*PAR1$/);
    expect((await run(["query", sql, "--format", "parquet"])).stderr).toContain("together with --out");
  }
  expect(answers[0]).toMatch(/^po_number,is_open\nPO-1,/);
  expect(answers[1]).toBe(answers[0]);
});

test("a prompt takes queries over several lines, goes on after a wrong one, and remembers them", async () => {
  const { run, folder } = workplace(await simulated(), { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  const state = join(folder, "state");
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const env = { KEY: secretKey, PASSWORD: secretPassword, XDG_STATE_HOME: state };
  const { context, written } = deafContext({ env, cwd: folder, stdin: stdin as unknown as NodeJS.ReadStream });
  Object.assign(context.stdout, { isTTY: true, columns: 100 });
  const ended = runCommand(["query", "--config", join(folder, "config.yaml")], context);
  const typed = ["select count(*) as n", "from items;", "select wrong;", "\\tables", "select 7 as seven;", "\\q"];
  for (const line of typed) {
    stdin.write(`${line}\n`);
    await sleep(300);
  }
  await ended;
  const { stdout, stderr } = await written();
  expect(stdout).toMatch(/n\n130\n\(1 row\)/);
  expect(stdout).toMatch(/seven\n +7\n\(1 row\)/);
  expect(stdout).toContain("\\tables lists");
  expect(stdout).toMatch(/procurement +items +table +130\n/);
  expect(stderr).toMatch(/^Expected one query that the database can answer, but it says: .*wrong/);
  const history = readFileSync(join(state, "tributary/query_history"), "utf8");
  expect(history.split("\n").slice(0, 3)).toEqual(["\\q", "select 7 as seven;", "\\tables"]);
});

test("a query comes as an argument, with -c or in a file; --json is one document, --tables a list", async () => {
  const { run, folder } = workplace(await simulated(), { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  const sql = "select item_id, avg_price from items order by item_id";
  writeFileSync(join(folder, "q.sql"), `${sql} -- all\n;\n`);
  const answers = [
    ["query", sql],
    ["query", "-c", sql],
    ["query", "--command", sql],
    ["query", "--file", "q.sql"],
  ];
  const texts = [];
  for (const args of answers) texts.push((await run(args)).stdout);
  expect(new Set(texts).size).toBe(1);
  const { rows } = json<{ rows: unknown[] }>(await run(["query", sql, "--json"]));
  expect([rows.length, rows[0]]).toEqual([130, expect.objectContaining({ item_id: expect.any(String) })]);
  expect(json(await run(["query", `${sql} limit 0`, "--json"]))).toEqual({ rows: [] });
  expect(json(await run(["query", "select 'é' as a", "--json"]))).toEqual({ rows: [{ a: "é" }] });
  expect(json(await run(["query", "select wrong", "--json"]))).toMatchObject({ error: { code: "query.refused" } });
  const listed = json<{ rows: unknown[] }>(await run(["query", "--tables", "--json"]));
  expect(listed.rows).toContainEqual({ schema: "procurement", name: "items", type: "table", rows: 130 });
  const narrow = await run(["query", `select * from (${sql}) i`, "--format", "table"], {
    env: { KEY: secretKey, COLUMNS: "20" },
  });
  expect(Math.max(...narrow.stdout.split("\n").map(line => line.length))).toBeLessThanOrEqual(20);
  expect(narrow.stdout).not.toMatch(/\d\.\d*0{5}/);
  for (const args of [
    ["query", sql, "-c", sql],
    ["query", sql, "--tables"],
    ["query", "-c", sql, "--file", "q.sql"],
    ["query", "--file", "nowhere.sql"],
    ["query", sql, "--json", "--format", "csv"],
  ])
    expect((await run(args)).code, args.join(" ")).toBe(2);
});

test("a query may come on stdin", async () => {
  const { run, folder } = workplace(await simulated(), { views: false });
  expect((await run(["sync", "items"])).code).toBe(0);
  writeFileSync(join(folder, "q.sql"), "select count(*) as n from items;\n");
  const { context, written } = deafContext({ env: { KEY: secretKey, PASSWORD: secretPassword }, cwd: folder });
  (context.stdin as unknown as PassThrough).end(readFileSync(join(folder, "q.sql")));
  await runCommand(["query", "--config", join(folder, "config.yaml")], context);
  expect((await written()).stdout).toBe("n\n130\n");
});
