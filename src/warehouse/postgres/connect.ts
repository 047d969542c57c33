import pg, { type Client, type CustomTypesConfig } from "pg";
import type { Clock } from "../../clock.ts";
import { ConfigError, DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Schemas } from "../database.ts";
import { type Address, explained } from "./failure.ts";
import type { LockPatience, Watched } from "./lock_watch.ts";
import { postgresMessages } from "./messages.ts";
import { refusePooler } from "./pooler.ts";
import { type Ssl, tlsOf, triesOn, withoutTls } from "./tls.ts";

const CONNECT_MS = 15_000;

export interface Place extends Schemas, LockPatience {
  readonly url: string;
  /** Bounds each connection being made; absent: 15 s. */
  readonly connectWaitMs?: number;
  /** Ends the names of sessions, so that those of one process can be told from others. */
  readonly mark?: string;
}

/** Unknown names are left out: they came with later versions of PostgreSQL. */
const sessionSettings = {
  timezone: "UTC",
  datestyle: "ISO, YMD",
  // With fewer, a double's text is another number: exports and verifications read text.
  extra_float_digits: "3",
  standard_conforming_strings: "on",
  // With it the names of types come in quotes, too.
  quote_all_identifiers: "off",
  client_min_messages: "warning",
  search_path: "pg_catalog",
  // With a stricter one, whatever another session commits meanwhile could take a publish back.
  default_transaction_isolation: "read committed",
  statement_timeout: "0",
  transaction_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
  // Before 18 a plan without nested loops costs so much that all of it would be compiled: 147 s in place of 3.
  jit: "off",
  // A machine that vanished gives its locks back within a minute.
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/** A client, where it went, and what watches it there. */
export interface Connected extends Watched {
  readonly client: Client;
  readonly protection: string;
  readonly warnings: readonly Message[];
}

/** Connects with the session's settings made. @throws DestinationError, or ConfigError for an address that is none. */
export async function connect(place: Place, access: "read" | "write", clock: Clock): Promise<Connected> {
  const { bare, said } = withoutTls(place.url);
  const { host, port, database, user } = newClient(bare, false);
  const schemas = [place.schema, place.stateSchema];
  const address = { host, port, database: database ?? "", user: user ?? "", schemas };
  const tls = tlsOf(said, address);
  const make = (ssl: Ssl) => newClient(bare, ssl, tls.direct, place.connectWaitMs);
  const { client, ssl } = await connectedBy(tls.ways, make).catch(error => {
    throw explained(error, address, { connecting: true });
  });
  const beside = () => make(ssl);
  try {
    // First: what is set for a session stays in the backend, which a transaction pooler gives to other programs.
    await refusePooler(client, beside(), address, clock);
    const backend = await prepare(client, address, access, place);
    const warning = tls.warning(ssl);
    const warnings = warning === undefined ? [] : [warning];
    return { ...place, client, address, backend, beside, protection: tls.protection(ssl), warnings };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw explained(error, address, { connecting: true });
  }
}

/** The first of the ways that leads to a session. */
async function connectedBy(
  [ssl, ...others]: readonly [Ssl, ...Ssl[]],
  make: (ssl: Ssl) => Client,
): Promise<{ readonly client: Client; readonly ssl: Ssl }> {
  const client = make(ssl);
  client.on("error", () => undefined);
  try {
    await client.connect();
    return { client, ssl };
  } catch (error) {
    await client.end().catch(() => undefined);
    const [next, ...further] = others;
    if (next === undefined || !triesOn(error)) throw error;
    return connectedBy([next, ...further], make);
  }
}

/** Database and role of an address, with what the environment or PostgreSQL's defaults add. @throws ConfigError */
export function addressOf(url: string): Pick<Address, "database" | "user"> & { readonly host: string } {
  const { host, port, database, user } = newClient(withoutTls(url).bare, false);
  return { host: `${host}:${port}`, database: database ?? "", user: user ?? "" };
}

/** An address in libpq's words: what is secret of it, or may be, and the rest as a connection string. @throws ConfigError */
export function libpqOf(
  url: string,
  mark?: string,
): {
  readonly given: Readonly<Record<string, string>>;
  readonly options: string;
} {
  const { bare, said } = withoutTls(url);
  const { host, port, database, user, password } = newClient(bare, false);
  const given = { host, port: String(port), database, user, password };
  const ssl = said.get("ssl") === "true" ? "verify-full" : undefined;
  const options: Record<string, string> = {
    sslmode: said.get("sslmode") ?? ssl ?? "prefer",
    application_name: markedName("tributary", mark),
    keepalives_idle: "30",
  };
  for (const name of ["sslrootcert", "sslcert", "sslkey", "sslpassword", "sslnegotiation"])
    if (said.has(name)) options[name] = said.get(name)!;
  const words = Object.entries(options).map(([name, value]) => `${name}='${value.replace(/[\\']/g, "\\$&")}'`);
  return {
    given: Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : []))),
    options: words.join(" "),
  };
}

function newClient(url: string, ssl: Ssl, direct = false, connectWaitMs = CONNECT_MS): Client {
  if (!/^(postgres|postgresql|socket):/.test(url)) throw new ConfigError(postgresMessages.other_form());
  try {
    return new pg.Client({
      connectionString: url,
      ssl,
      sslnegotiation: direct && ssl !== false ? "direct" : "postgres",
      fallback_application_name: "tributary",
      client_encoding: "UTF8",
      connectionTimeoutMillis: Math.min(CONNECT_MS, connectWaitMs),
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      types: valueTypes,
    });
  } catch {
    // The cause would hold the address, and with it the password.
    throw new ConfigError(postgresMessages.unreadable_address());
  }
}

/** A session's name; PostgreSQL cuts it after 63 bytes. */
const markedName = (name: string, mark: string | undefined): string =>
  mark === undefined ? name : `${Buffer.from(name).subarray(0, 54).toString("latin1")} ${mark}`;

/** Answers the session's process on the server. */
async function prepare(
  client: Client,
  address: Address,
  access: "read" | "write",
  { lockWaitMs = 0, mark }: Pick<Place, "lockWaitMs" | "mark">,
): Promise<number> {
  const { host, port, database } = address;
  const { rows } = await client.query<{
    backend: number;
    encoding: string;
    standby: boolean;
    frozen: string;
    name: string;
  }>(
    `select pg_backend_pid() as backend, current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
            current_setting('default_transaction_read_only') as frozen, current_setting('application_name') as name`,
  );
  const found = rows[0]!;
  if (found.encoding !== "UTF8")
    throw new DestinationError(postgresMessages.not_utf8({ host, port, database, encoding: found.encoding }));
  if (access === "write" && (found.standby || found.frozen === "on"))
    throw new DestinationError(postgresMessages.read_only({ host, port }), undefined, true, "no_answer");
  // Only where the platform can watch a socket; it frees a killed run's locks within a second. A loss is met by what follows.
  await client.query("set client_connection_check_interval = '1s'").catch(() => undefined);
  const frozen: Record<string, string> = access === "read" ? { default_transaction_read_only: "on" } : {};
  const settings = {
    ...{ ...sessionSettings, ...frozen, lock_timeout: String(lockWaitMs) },
    application_name: markedName(found.name, mark),
  };
  await client.query(
    `select set_config(known.name, wanted.value, false)
       from unnest($1::text[], $2::text[]) as wanted(name, value)
       join pg_settings as known on lower(known.name) = wanted.name`,
    [Object.keys(settings), Object.values(settings)],
  );
  return found.backend;
}

const INT8 = 20;
const DATE = 1082;
const TIMESTAMP = 1114;

/** int8 as number (RangeError when a double cannot hold it: select it as text), dates as text, the rest as pg reads it. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (format === "binary") return pg.types.getTypeParser(oid, "binary");
    if (oid === INT8) return safeInteger;
    if (oid === DATE || oid === TIMESTAMP) return (text: string) => text;
    return pg.types.getTypeParser(oid, "text");
  },
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`expected a count that a double holds, got ${text}`);
  return value;
}
