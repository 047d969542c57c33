import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message } from "../../src/message.ts";
import { json, roleDatabase, secretKey, secretPassword, simulated, workplace } from "./workplace.ts";

interface Checked {
  readonly ok: boolean;
  readonly exit_code: number;
  readonly lines: readonly (Message & { name: string; ok: boolean; level: string; advice: string | null })[];
}

const lineOf = ({ lines }: Checked, name: string) => lines.find(line => line.name === name);

test("all is well: a line each, and nothing is written", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator);
  const { stdout, code } = await run(["check"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").map(line => line.slice(0, 30).trim())).toMatchObject([
    "ok    config",
    "ok    streams",
    "ok    api key",
    "ok    clock",
    "ok    purchase_orders",
    "ok    invoices",
    "ok    items",
    "ok    findings",
    "ok    findings_summary",
    "ok    ingested",
    "ok    purchase_order_details",
    "ok    invoice_matches",
    "ok    destination",
    "ok    disk",
    "ok    schedule nightly",
    "ok    freshness",
    "ok    status page",
    "",
    expect.stringContaining("All is well"),
    "",
  ]);
  expect(stdout).toMatch(/api key +acme is .+ \(\w+\) at http/);
  expect(stdout).toMatch(/purchase_orders +GET \/po answered in \d+ ms: 12 rows in all/);
  expect(simulator.requests.total).toBe(1 + 8);
  expect(readdirSync(folder)).toEqual(["config.yaml"]);
});

test("--offline asks nobody", async () => {
  const simulator = await simulated();
  const { destination } = await roleDatabase();
  const { run } = workplace(simulator, { destination });
  const checked = json<Checked>(await run(["check", "--offline", "--json"]));
  expect(checked).toMatchObject({ ok: true, exit_code: 0 });
  expect(lineOf(checked, "destination")?.message).toBe("not looked at: --offline");
  expect(lineOf(checked, "schedule nightly")).toMatchObject({ ok: true, code: expect.any(String), fields: {} });
  const file = expect.stringContaining("config.yaml");
  expect(lineOf(checked, "config")).toMatchObject({ code: "command.check_config_understood", fields: { file } });
  expect(simulator.requests.total).toBe(0);
});

test("what a run would fail with is told stream by stream, and what it can live with is a warning", async () => {
  const simulator = await simulated({ faults: { error500: 1, only: "/items" } });
  const { run } = workplace(simulator, { destination: { path: "./w.duckdb", grant_select_to: ["bi"] } });
  simulator.delete("invoices", simulator.truth.count("invoices"));
  const answer = await run(["check", "--json"]);
  const checked = json<Checked>(answer);
  expect(answer.code).toBe(1);
  expect(checked).toMatchObject({ ok: false, exit_code: 1 });
  expect(checked.lines.find(line => line.level === "warn")).toMatchObject({
    name: "config",
    message: expect.stringContaining("grant_select_to has no effect"),
  });
  expect(lineOf(checked, "clock")).toMatchObject({ ok: true, code: "check.clock" });
  expect(lineOf(checked, "items")).toMatchObject({ ok: false, level: "fail" });
  expect(lineOf(checked, "items")?.advice).toContain("try again later");
  expect(lineOf(checked, "invoice_matches")?.message).toBe("its list has no row to ask for");
  expect(lineOf(checked, "purchase_orders")).toMatchObject({ ok: true, level: "ok", advice: null });
});

test("a wrong clock is what is to be mended first", async () => {
  const simulator = await simulated({ now: () => new Date(Date.now() + 3_600_000) });
  const { run } = workplace(simulator);
  const checked = json<Checked>(await run(["check", "--json"]));
  expect(checked).toMatchObject({ ok: false, exit_code: 2 });
  expect(lineOf(checked, "clock")).toMatchObject({
    ...{ level: "fail", code: "source.clock", advice: expect.stringContaining("NTP") },
  });
  expect(lineOf(checked, "items")).toBeUndefined();
  const ignoring = workplace(simulator, { api: { base_url: simulator.url, key: `\${KEY}`, clock: "ignore" } });
  const ignored = json<Checked>(await ignoring.run(["check", "--json"]));
  expect(lineOf(ignored, "clock")).toMatchObject({ ok: true, code: "check.clock_unknown" });
  expect(lineOf(ignored, "items")).toMatchObject({ ok: true });
});

test("a company that the warehouse keeps under another name is noticed by its id", async () => {
  const simulator = await simulated();
  const { destination } = await roleDatabase();
  expect((await workplace(simulator, { destination }).run(["sync", "findings_summary"])).code).toBe(0);
  const { code, stdout } = await workplace(simulator, { destination, company: "other" }).run(["check"]);
  expect(code).toBe(2);
  expect(stdout).toMatch(
    /FAIL {2}destination +The key of company other belongs to .*, which this warehouse keeps as acme/,
  );
});

test("several companies are looked at one by one, and one key for two of them is found out", async () => {
  const simulator = await simulated();
  const companies = ["acme", "beta"].map(name => ({ name, key: `\${KEY}` }));
  const { run } = workplace(simulator, { company: undefined, companies });
  const answer = await run(["check", "--json"]);
  const checked = json<Checked>(answer);
  expect(answer.code).toBe(2);
  expect(checked.lines.filter(({ ok }) => !ok)).toMatchObject([
    { name: "beta: api key", message: expect.stringContaining("acme and beta belong to one company") },
  ]);
  expect(lineOf(checked, "acme: purchase_orders")).toMatchObject({ ok: true });
  expect(lineOf(checked, "beta: purchase_orders")).toMatchObject({ ok: true });
});

test("a password in PostgreSQL's own password file is used, and packages print nothing", async () => {
  const database = await roleDatabase();
  const url = new URL(database.as(database.role, ""));
  const place = workplace(await simulated(), { destination: { type: "postgres", url: url.href } });
  const file = join(place.folder, "pgpass");
  writeFileSync(file, `*:*:*:${database.role}:${secretPassword}\n`, { mode: 0o600 });
  const { code, stderr } = await place.run(["check"], { env: { KEY: secretKey, PGPASSFILE: file } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("secrets in files that others can read are a warning, those that only their owner reads are none", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator);
  const [file, env] = [join(folder, "config.yaml"), join(folder, ".env")];
  const text = readFileSync(file, "utf8");
  writeFileSync(env, `KEY=${secretKey}\n`);
  const warned = async () => {
    const { lines } = json<Checked>(await run(["check", "--offline", "--json"]));
    return lines.filter(({ name, level }) => name === "secrets" && level === "warn").map(({ message }) => message);
  };
  for (const path of [file, env]) chmodSync(path, 0o644);
  expect(await warned()).toEqual([expect.stringMatching(/\.env holds a secret in plain.*\(mode 644\)/)]);
  // Nothing is shown of it.
  writeFileSync(file, text.replace("$" + "{KEY}", JSON.stringify(secretKey)));
  chmodSync(env, 0o600);
  expect(await warned()).toEqual([expect.stringMatching(/^config\.yaml holds a secret/)]);
  chmodSync(file, 0o640);
  expect(await warned()).toHaveLength(1);
  chmodSync(file, 0o600);
  expect(await warned()).toEqual([]);
});
