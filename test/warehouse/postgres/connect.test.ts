import { createServer, connect as tcp } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { ConfigError, DestinationError } from "../../../src/errors.ts";
import { hasState } from "../../../src/warehouse/ddl/present_tables.ts";
import { openPostgresForReading } from "../../../src/warehouse/postgres/open.ts";
import { dropTables } from "../../../src/warehouse/schema/removal.ts";
import { checkTables, ensureTables } from "../../../src/warehouse/schema/tables.ts";
import { DATA_VERSION, ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { open, openReady, orders } from "./fixture.ts";

let database: TestDatabase;
const role = `plain_${process.pid}_${process.hrtime.bigint() % 100_000n}`;
beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
  await database.admin.query(`create role ${role} login password 'secret-word'`);
});
afterAll(async () => {
  const { admin } = database;
  await admin.query(`drop owned by ${role}; drop role ${role}`);
  await database.drop();
});

async function failureOf(url: string): Promise<DestinationError> {
  const error = await open(url).then(
    () => undefined,
    failure => failure,
  );
  expect(error).toBeInstanceOf(DestinationError);
  expect(error.exitCode).toBe(6);
  expect(error.message).not.toMatch(/secret-word/);
  return error;
}

test("nobody answers at the address", async () => {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  const error = await failureOf(`postgres://u:secret-word@127.0.0.1:${port}/x`);
  expect(error.message).toMatch(/nothing answers there \(ECONNREFUSED\)/);
});

test.each(["server_encoding", "pg_settings", "client_connection_check_interval", "tributary.session", "rollback"])(
  "a session that ends at its statement with %s is a lost connection",
  async word => {
    const { hostname, port } = new URL(database.url);
    const server = createServer(client => {
      const behind = tcp(Number(port), hostname);
      const end = () => {
        client.destroy();
        behind.destroy();
      };
      for (const socket of [client, behind]) socket.on("error", end).on("close", end);
      client.on("data", data => (data.includes(word) ? end() : behind.write(data)));
      behind.on("data", data => client.write(data));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(database.url);
    url.port = String((server.address() as { port: number }).port);
    const error = await failureOf(url.href);
    expect(error.message).toMatch(/^The connection to PostgreSQL at .* was lost/);
    expect(error.passing).toBe(true);
  },
);

test("a wrong password, and a database there is none of", async () => {
  expect((await failureOf(database.as(role, "secret-wordx"))).message).toMatch(`refused the role ${role}`);
  const url = new URL(database.as(role, "secret-word"));
  url.pathname = "/nowhere";
  expect((await failureOf(url.href)).message).toMatch(
    /has no database nowhere\. Create it \(CREATE DATABASE "nowhere"/,
  );
});

test("an address that is none is the configuration's fault, and is not repeated", async () => {
  await expect(open("mysql://u:secret-word@h/d")).rejects.toThrow(ConfigError);
  const error = await open("postgres://u:secret-word@h:port/d").catch(failure => failure);
  expect(error).toBeInstanceOf(ConfigError);
  expect(JSON.stringify([error.message, error.cause])).not.toMatch(/secret-word/);
});

test("a role without CREATE is given the statements to run, and nothing is left behind", async () => {
  const destination = await open(database.as(role, "secret-word"));
  const making = ensureState(destination.db, destination.dialect, destination.stateSchema);
  await expect(making).rejects.toThrow(
    `CREATE SCHEMA IF NOT EXISTS "procurement" AUTHORIZATION "${role}"; ALTER SCHEMA "procurement" OWNER TO "${role}";`,
  );
  await expect(making).rejects.toThrow(DestinationError);
  // The look ahead sees it too where only one of the schemas is there.
  await database.admin.query(`create schema _tributary authorization ${role}`);
  const order = { schema: "procurement", stateSchema: "_tributary", streams: [], comment: () => "", grantSelectTo: [] };
  await expect(checkTables(destination.db, destination.dialect, order)).rejects.toThrow(/lacks rights in database/);
  await database.admin.query("drop schema _tributary");
  await destination.close();
  expect((await database.admin.query("select from pg_namespace where nspname = '_tributary'")).rowCount).toBe(0);
});

test.each([
  ["each object is handed over", /DO \$\$.*END \$\$;/],
  ["all of its owner's are", /REASSIGN OWNED BY "\w+" TO "\w+";/],
  ["its role becomes the owner's", /GRANT .*/],
])("tables of another owner are refused with their names, until %s", async (_how, remedy) => {
  const own = await createDatabase(inject("postgresUrl"));
  const [before, now] = ["before", "now"].map(name => `${name}_${process.hrtime.bigint()}`);
  for (const name of [before, now]) await own.admin.query(`create role ${name} login password 'secret-word'`);
  await own.admin.query(`grant create on database ${new URL(own.url).pathname.slice(1)} to ${before}`);
  const order = {
    ...{ schema: "procurement", stateSchema: "_tributary", streams: [orders], versioned: new Set(["orders"]) },
    ...{ comment: () => "", grantSelectTo: [] },
  };
  const made = await openReady(own.as(before!, "secret-word"));
  await ensureTables(made.db, made.dialect, order);
  await made.close();
  const refused = await open(own.as(now!, "secret-word"));
  expect(await hasState(refused)).toBe(true);
  const refusal = await checkTables(refused.db, refused.dialect, order).catch(error => error);
  expect(refusal).toMatchObject({ exitCode: 6, code: "rights.other_owner", fields: { user: now, owners: [before] } });
  expect(refusal.fields.tables).toContain("procurement.orders");
  await own.admin.query(remedy.exec(refusal.message)![0]);
  await refused.close();
  const accepted = await openReady(own.as(now!, "secret-word"));
  await checkTables(accepted.db, accepted.dialect, order);
  await dropTables(accepted.db, accepted.dialect, { ...order, company: "acme", tables: orders });
  await ensureTables(accepted.db, accepted.dialect, order);
  await accepted.close();
  await own.drop();
  await database.admin.query(`drop role ${before}; drop role ${now}`);
});

test("the schemas may be made beforehand; then the role needs no CREATE on the database", async () => {
  const own = await createDatabase(inject("postgresUrl"));
  await own.admin.query(
    `create schema procurement authorization ${role}; create schema _tributary authorization ${role}`,
  );
  const destination = await openReady(own.as(role, "secret-word"));
  expect(await destination.db.selectFrom("warehouse").select("value").execute()).toEqual([{ value: DATA_VERSION }]);
  await destination.close();
  await own.admin.query(`drop owned by ${role} cascade`);
  await own.drop();
});

test("a database that isn't UTF8, or is read-only, is refused", async () => {
  const { admin } = database;
  await admin.query("create database latin encoding 'LATIN1' locale 'C' template template0").catch(error => {
    if (error.code !== "42P04") throw error;
  });
  const url = new URL(database.url);
  url.pathname = "/latin";
  expect((await failureOf(url.href)).message).toMatch(/Expected a database in UTF8/);
  await admin.query("drop database latin");
  await admin.query(`alter role ${role} set default_transaction_read_only = on`);
  expect((await failureOf(database.as(role, "secret-word"))).message).toMatch(/read-only: a standby/);
  await admin.query(`alter role ${role} reset default_transaction_read_only`);
});

test("too many connections", async () => {
  // A role of its own: sessions of the tests before, ended here, may still count on the server.
  const busy = `${role}_busy`;
  await database.admin.query(`create role ${busy} login password 'secret-word' connection limit 1`);
  const only = await connected(database.as(busy, "secret-word"));
  expect((await failureOf(database.as(busy, "secret-word"))).message).toMatch(/has no connection left/);
  await only.end();
  await database.admin.query(`drop role ${busy}`);
});

test("a session for readers sees the state and cannot write", async () => {
  const writer = await openReady(database.url);
  const { url } = database;
  const reader = await openPostgresForReading({
    url,
    schema: "procurement",
    stateSchema: "_tributary",
    clock: systemClock,
  });
  expect(await reader.db.selectFrom("warehouse").select("key").execute()).toEqual([{ key: "version" }]);
  await expect(reader.db.insertInto("warehouse").values({ key: "a", value: "1" }).execute()).rejects.toThrow(
    /read-only/,
  );
  await reader.close();
  await writer.close();
});

test("numbers lose no digit, however few the role is to be shown", async () => {
  await database.admin.query(`alter role ${role} set extra_float_digits = 0`);
  const url = database.as(role, "secret-word");
  const schemas = { schema: "procurement", stateSchema: "_tributary" };
  for (const opening of [open(url), openPostgresForReading({ url, ...schemas, clock: systemClock })]) {
    const { db, close } = await opening;
    const { rows } = await sql`select cast(cast('0.1234567890123456' as double precision) as text) as score`.execute(
      db,
    );
    expect(rows).toEqual([{ score: "0.1234567890123456" }]);
    await close();
  }
  await database.admin.query(`alter role ${role} reset extra_float_digits`);
});

test("no session has its questions compiled", async () => {
  await database.admin.query(`alter role ${role} set jit = on`);
  const url = database.as(role, "secret-word");
  const schemas = { schema: "procurement", stateSchema: "_tributary" };
  for (const opening of [open(url), openPostgresForReading({ url, ...schemas, clock: systemClock })]) {
    await using opened = await opening;
    const { rows } = await sql`select current_setting('jit') as jit`.execute(opened.db);
    expect(rows).toEqual([{ jit: "off" }]);
  }
  await database.admin.query(`alter role ${role} reset jit`);
});

test("a first connection to a standby waits as long as one that nobody answers", async () => {
  await database.admin.query(`alter role ${role} set default_transaction_read_only = on`);
  expect(await failureOf(database.as(role, "secret-word"))).toMatchObject({
    ...{ code: "postgres.read_only", passing: true, unconnected: "no_answer" },
  });
  await database.admin.query(`alter role ${role} reset default_transaction_read_only`);
});

test("the session watches its socket", async () => {
  const destination = await open(database.url);
  const { rows } = await sql<{ interval: string; name: string }>`
    select current_setting('client_connection_check_interval') as interval, current_setting('application_name') as name`.execute(
    destination.db,
  );
  expect(rows).toEqual([{ interval: "1s", name: expect.stringMatching(/^tributary [0-9a-f]{8}$/) }]);
  await destination.close();
});
