import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, type MockInstance, test, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { ConfigError, DestinationError } from "../../../src/errors.ts";
import { checkDestination } from "../../../src/operations/check/destination.ts";
import { loaded } from "../../operations/check/loaded.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { connected, createDatabase, type TestDatabase } from "../../support/database.ts";
import { type PostgresServer, startPostgres } from "../../support/server.ts";
import { open } from "./fixture.ts";

// Leads to this machine, and is no loopback address.
const FAR = "0.0.0.0";

let folder: string;
let secure: PostgresServer;
/** The server of all tests has no TLS. */
let plain: TestDatabase;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tributary-tls-"));
  const own = certificateAuthority("tests");
  const [server, carla] = [own.issue("localhost", ["127.0.0.1"]), own.issue("carla")];
  await writeFile(file("ca.crt"), own.cert);
  await writeFile(file("strange.crt"), certificateAuthority("strangers").cert);
  await writeFile(file("carla.crt"), carla.cert);
  await writeFile(file("carla.key"), carla.key, { mode: 0o600 });
  plain = await createDatabase(inject("postgresUrl"));
  secure = await startPostgres(["fsync=off"]);
  const admin = await connected(secure.url);
  // The server writes them itself, as it may be another user than the tests'.
  const write = (name: string, text: string) =>
    admin.query(
      `copy (select unnest(string_to_array('${text.trim()}', E'\\n'))) to program 'umask 077; cat > ${name}'`,
    );
  await write("server.crt", server.cert);
  await write("server.key", server.key);
  await write("root.crt", own.cert);
  const rules = ["hostssl all carla all cert", "hostssl all in_clear all reject", "hostnossl all with_tls all reject"];
  await write("pg_hba.conf", [...rules, "host all all all password"].join("\n"));
  await admin.query("create role carla login");
  for (const role of ["in_clear", "with_tls"]) await admin.query(`create role ${role} login password 'secret-word'`);
  await admin.query("alter system set ssl_ca_file = 'root.crt'");
  await admin.query("alter system set ssl = on");
  await admin.query("select pg_reload_conf()");
  const tells = async () => expect((await admin.query("show ssl")).rows).toEqual([{ ssl: "on" }]);
  await vi.waitFor(tells, { timeout: 60_000 });
  await admin.end();
});

afterAll(async () => {
  await secure?.close();
  await plain?.drop();
  await rm(folder, { recursive: true });
});

let emitted: MockInstance<typeof process.emitWarning>;
beforeEach(() => {
  emitted = vi.spyOn(process, "emitWarning");
});
afterEach(() => {
  expect(emitted.mock.calls, "what the driver warns of").toEqual([]);
  vi.unstubAllEnvs();
});

function address(server: string, host: string, said: Readonly<Record<string, string>>, role?: string): string {
  const url = new URL(server);
  url.hostname = host;
  if (role !== undefined) Object.assign(url, { username: role, password: "secret-word" });
  for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
  return url.href;
}

async function met(url: string) {
  const { protection, warnings, close } = await open(url);
  await close();
  return { protection, warnings };
}

const onSecure = (host: string, said: Readonly<Record<string, string>> = {}, role?: string) =>
  met(address(secure.url, host, said, role));
const refused = (user: string) => ({ code: "postgres.role_refused", fields: { user } });
const onPlain = (host: string, said: Readonly<Record<string, string>> = {}) => met(address(plain.url, host, said));

test("without sslmode a far server is asked for TLS first, and one that offers none is warned of", async () => {
  expect(await onSecure(FAR)).toEqual({ protection: "TLS, certificate not verified", warnings: [] });
  const { port } = new URL(plain.url);
  const warning = { code: "postgres.unencrypted", fields: { host: FAR, port: Number(port) } };
  for (const said of [{}, { sslmode: "prefer" }])
    expect(await onPlain(FAR, said)).toMatchObject({ protection: "not encrypted", warnings: [warning] });
  expect(await onPlain(FAR, { sslmode: "disable" })).toEqual({ protection: "not encrypted", warnings: [] });
});

test("on this machine's own address nothing is encrypted unless it is asked for", async () => {
  const clear = { protection: "not encrypted (loopback)", warnings: [] };
  expect(await onPlain("127.0.0.1")).toEqual(clear);
  expect(await onSecure("127.0.0.1")).toEqual(clear);
  expect((await onSecure("127.0.0.1", { sslmode: "prefer" })).protection).toBe("TLS, certificate not verified");
  vi.stubEnv("PGSSLMODE", "require");
  expect((await onSecure("127.0.0.1")).protection).toBe("TLS, certificate not verified");
});

test("sslmode means what it means to libpq", async () => {
  const disagrees = async (attempt: Promise<unknown>, about: string) => {
    const error: unknown = await attempt.catch(failure => failure);
    expect(error).toBeInstanceOf(DestinationError);
    expect(error).toMatchObject({ code: "postgres.no_tls", fields: { reason: expect.stringContaining(about) } });
  };
  const [ca, strange] = [file("ca.crt"), file("strange.crt")];
  expect((await onSecure(FAR, { sslmode: "require" })).protection).toBe("TLS, certificate not verified");
  await disagrees(onSecure(FAR, { ssl: "true" }), "certificate");
  await disagrees(onPlain(FAR, { sslmode: "require" }), "does not support SSL");
  const anyName = "TLS, certificate verified, host name not";
  expect((await onSecure(FAR, { sslmode: "require", sslrootcert: ca })).protection).toBe(anyName);
  expect((await onSecure(FAR, { sslmode: "verify-ca", sslrootcert: ca })).protection).toBe(anyName);
  await disagrees(onSecure(FAR, { sslmode: "verify-ca", sslrootcert: strange }), "certificate");
  await disagrees(onSecure(FAR, { sslmode: "require", sslrootcert: strange }), "certificate");
  for (const host of ["localhost", "127.0.0.1"])
    expect((await onSecure(host, { sslmode: "verify-full", sslrootcert: ca })).protection).toBe(
      `TLS, certificate verified for ${host}`,
    );
  await disagrees(onSecure(FAR, { sslmode: "verify-full", sslrootcert: ca }), "0.0.0.0");
  await disagrees(onSecure("127.0.0.1", { sslmode: "verify-full" }), "certificate");
  vi.stubEnv("PGSSLROOTCERT", ca);
  expect((await onSecure("127.0.0.1", { sslmode: "verify-full" })).protection).toMatch(/verified for 127/);
});

test("a server that wants one or the other gets it from prefer", async () => {
  expect((await onSecure(FAR, { sslmode: "prefer" }, "in_clear")).protection).toBe("not encrypted");
  expect((await onSecure(FAR, { sslmode: "prefer" }, "with_tls")).protection).toBe("TLS, certificate not verified");
  await expect(onSecure(FAR, { sslmode: "disable" }, "with_tls")).rejects.toMatchObject(refused("with_tls"));
});

test("a client's certificate stands for a password", async () => {
  const certificate = { sslcert: file("carla.crt"), sslkey: file("carla.key") };
  const verified = { sslmode: "verify-ca", sslrootcert: file("ca.crt") };
  expect((await onSecure(FAR, { ...verified, ...certificate }, "carla")).protection).toMatch(/certificate verified/);
  await expect(onSecure(FAR, verified, "carla")).rejects.toMatchObject(refused("carla"));
});

test.each([
  [{ sslmode: "verify_full" }, "unknown_sslmode", { sslmode: "verify_full" }],
  [{ sslmode: "verify-ca" }, "no_authority", {}],
  [
    { sslmode: "verify-full", sslrootcert: "/nowhere/ca.crt" },
    "unreadable_certificate",
    { parameter: "sslrootcert", path: "/nowhere/ca.crt", error_code: "ENOENT" },
  ],
  [{ sslmode: "allow" }, "unknown_sslmode", { sslmode: "allow" }],
])("%o is refused as the configuration's fault: %s", async (said, code, fields) => {
  const error = await onPlain("db.invalid", said).catch(failure => failure);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ code: `postgres.${code}`, fields });
});

test("check says how the connection is protected", async () => {
  const lineOf = async (url: string) => {
    const api = { base_url: "https://procurement.example.com", key: "key-of-the-test" };
    const { destination } = (await loaded({ api, destination: { type: "postgres", url } })).config;
    const wanted = { streams: [], versioned: new Set<string>(), views: false, workers: false, catalogue: [] };
    const fitness = { version: "0", companies: [], ...wanted };
    const lines = await Array.fromAsync(checkDestination(destination, fitness, systemClock));
    return lines.find(({ name }) => name === "connection");
  };
  const verified = { sslmode: "verify-full", sslrootcert: file("ca.crt") };
  expect(await lineOf(address(secure.url, "localhost", verified))).toMatchObject({
    level: "ok",
    message: "TLS, certificate verified for localhost",
  });
  expect(await lineOf(plain.url)).toMatchObject({ level: "ok", message: "not encrypted (loopback)" });
  expect(await lineOf(address(plain.url, FAR, {}))).toMatchObject({
    level: "warn",
    message: expect.stringContaining("got one in clear"),
    advice: expect.stringContaining("?sslmode=verify-full"),
  });
});
