import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import type { Simulator } from "../../simulator/simulator.ts";
import { key, openCompany } from "../crash/company.ts";
import { type Ended, killedSync, sync } from "../crash/killing.ts";
import { type MakeWarehouse, makeDuckdb, makePostgres, type Warehouse } from "../crash/warehouse.ts";
import { connected } from "../support/database.ts";

const password = "pg/7f3a+hush@=:";
/** Each secret as it is, as a URL has it, and as base64 has it wherever it begins. */
const forms = [key, password].flatMap(secret => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(encodeURIComponent(encodeURIComponent(secret))).slice(1, -1),
  ...[0, 1, 2].map(offset => base64At(secret, offset)),
]);

/** The digits of base64 that the secret alone decides when it begins so many bytes into a group of three. */
function base64At(secret: string, offset: number): string {
  const bytes = Buffer.from(secret);
  const digits = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

const found = (text: string): string[] => forms.filter(form => text.includes(form));

let company: Simulator;
let echo: { readonly url: string; readonly close: () => void };
beforeAll(async () => {
  company = await openCompany({ orders: 3, invoices: 3, items: 700, findings: 3, ingested: 3 });
  echo = await startEcho();
});
afterAll(async () => {
  await company.close();
  echo.close();
});

/** A service that refuses everything and says with what it was asked, in every spelling. */
async function startEcho(): Promise<typeof echo> {
  const server = createServer((request, response) => {
    const said = String(request.headers.authorization);
    // A service that accepts nothing at all is not kept, nor is anything that it said.
    if (request.url?.includes("/auth/company-settings")) {
      response.end(JSON.stringify({ data: { company_id: "c", company_name: "Acme" } }));
      return;
    }
    const message = [said, encodeURIComponent(said), Buffer.from(said).toString("base64"), request.url].join(" ");
    const error = { code: `BAD ${said}`, message, details: { said }, request_id: said };
    response.writeHead(request.url?.includes("/po") ? 500 : 422, {
      "content-type": "application/json",
      "x-said": said,
    });
    response.end(JSON.stringify({ error }));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** What lies in the folder, but for the configuration, as bytes; and all tables of the warehouse. */
async function everythingStored(warehouse: Warehouse): Promise<string> {
  const files = (await readdir(warehouse.folder, { recursive: true, withFileTypes: true })).filter(entry =>
    entry.isFile(),
  );
  const contents = files
    .filter(entry => entry.name !== "config.yaml")
    .map(async entry => `${entry.name} ${await readFile(join(entry.parentPath, entry.name), "latin1")}`);
  const tables = await warehouse.state(
    "select table_schema, table_name from information_schema.tables where table_schema in ('procurement', '_tributary')",
  );
  const rows = await warehouse.answers(
    "state",
    tables.map(([schema, table]) => `select * from ${schema}."${table}"`),
  );
  const dump = JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
  return [...(await Promise.all(contents)), dump].join("\n");
}

const trace = ["--log-level", "trace"];

const kinds: readonly (readonly [string, () => Promise<MakeWarehouse>])[] = [
  ["DuckDB", async () => makeDuckdb],
  ["PostgreSQL, with a password in its address", async () => withPassword(inject("postgresUrl"))],
];

describe.each(kinds)("the key is written nowhere: %s", (_name, kind) => {
  it("whether runs succeed, fail or are killed, however much they say", async () => {
    const make = await kind();
    const warehouse = await make(company.url);
    const ends: Ended[] = [];
    const expectCode = async (code: number, args: readonly string[] = []) => {
      const ended = await sync(warehouse, [...trace, ...args]);
      expect(ended.code, ended.stderr).toBe(code);
      ends.push(ended);
    };
    company.faults.latencyMs = 20;
    expect(await killedSync(warehouse, company, { by: "requests", value: 8 })).not.toBe("over");
    expect(found(await everythingStored(warehouse))).toEqual([]);
    company.faults.latencyMs = 0;
    await expectCode(0);
    Object.assign(company.faults, { error500: { next: 2 }, hasMoreWithoutCursor: 1 });
    await expectCode(1, ["items", "--json"]);
    company.faults.hasMoreWithoutCursor = 0;

    const other = await make(echo.url);
    const refused = await sync(other, [...trace, "items", "findings"]);
    expect(refused.code, refused.stderr).toBe(1);
    ends.push(refused, await sync(other, [...trace, "--json", "items"]));
    for (const { stdout, stderr } of ends) {
      expect(found(stdout)).toEqual([]);
      expect(found(stderr)).toEqual([]);
    }
    for (const each of [warehouse, other]) {
      const stored = await everythingStored(each);
      expect(stored.length).toBeGreaterThan(1_000);
      expect(found(stored)).toEqual([]);
      await each.remove();
    }
  });
});

it.each(["a", "procurement"])("the key %s is written nowhere either, where a value stands", async common => {
  const warehouse = await makeDuckdb(echo.url);
  await warehouse.configure({ api: { key: common } });
  const said = `Bearer ${common}`;
  const spelled = [said, encodeURIComponent(said), Buffer.from(said).toString("base64"), `"${common}"`, `=${common}&`];
  for (const args of [
    ["items", "findings"],
    ["--json", "items"],
  ]) {
    const { code, stdout, stderr } = await sync(warehouse, [...trace, ...args]);
    expect(code, stderr).toBe(1);
    const names = new RegExp(`[{,]\\s*"${common}"\\s*:`, "g");
    const shown = `${stdout}${stderr}`.replace(names, "");
    expect(spelled.filter(form => shown.includes(form))).toEqual([]);
    // What is not secret can still be read.
    expect(stderr).toContain('"stream":"items"');
  }
  const stored = await everythingStored(warehouse);
  expect(spelled.slice(0, 3).filter(form => stored.includes(form))).toEqual([]);
  await warehouse.remove();
});

it("a key and a password that are refused are not told either", async () => {
  const stranger = await openCompany({ orders: 1, invoices: 1, items: 1, findings: 1, ingested: 1 });
  onTestFinished(() => stranger.close());
  const wrong = new URL(inject("postgresUrl"));
  wrong.password = encodeURIComponent(password);
  const warehouse = await makeDuckdb(stranger.url);
  await warehouse.configure({ api: { key: `\${CRASH_KEY}x` } });
  const unauthorized = await sync(warehouse, trace);
  expect(unauthorized.code, unauthorized.stderr).toBe(3);
  await warehouse.configure({ destination: { type: "postgres", path: undefined, url: wrong.href } });
  const locked = await sync(warehouse, trace);
  expect(locked.code, locked.stderr).toBe(6);
  const said = [unauthorized, locked].map(({ stdout, stderr }) => stdout + stderr).join("");
  expect(said).not.toBe("");
  expect(found(said)).toEqual([]);
  await warehouse.remove();
});

/** Warehouses that a role with a password of its own works in. */
function withPassword(serverUrl: string): MakeWarehouse {
  return async serviceUrl => {
    const role = `r_${randomBytes(5).toString("hex")}`;
    const warehouse = await makePostgres(serverUrl)(serviceUrl);
    const admin = await connected(serverUrl);
    const [[database]] = (await warehouse.state("select current_database()")) as [[string]];
    await admin.query(`create role ${role} login password '${password}'`);
    await admin.query(`grant create on database ${database} to ${role}`);
    const url = new URL(serverUrl);
    Object.assign(url, { username: role, password: encodeURIComponent(password), pathname: `/${database}` });
    await warehouse.configure({ destination: { url: url.href } });
    return {
      ...warehouse,
      async remove() {
        await warehouse.remove();
        await admin.query(`drop role ${role}`);
        await admin.end();
      },
    };
  };
}
