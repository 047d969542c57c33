import { DestinationError, TributaryError } from "../../errors.ts";
import { uncoded } from "../../message.ts";
import { quotedName } from "../database.ts";
import { rightsMissing } from "../ddl/rights.ts";
import { isAboutTls } from "./tls.ts";

/** Where a session goes, as messages name it: never the password. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** The schemas the run's role has to own. */
  readonly schemas: readonly string[];
}

const unreachable = new Set([
  "ECONNREFUSED",
  "EAI_FAIL",
  "ETIMEDOUT",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOENT",
]);
/** Ends of a session: by an administrator, a crash, a limit of time that the server has for sessions. */
const lost = new Set(["ECONNABORTED", "ECONNRESET", "EPIPE", "57P01", "57P02", "57P05", "25P03", "25P04", "40003"]);
const lostWords = /connection terminated|not queryable|client was closed|server conn(ection)? crashed/i;
/** The server took a transaction back for the sake of others. */
const takenBack = new Set(["40001", "40P01"]);

/** What is known beside the error itself. */
export interface Circumstances {
  /** No connection had been made yet. */
  readonly connecting?: boolean;
  /** Who kept the statement waiting. */
  readonly holders?: string | undefined;
}

/** The DestinationError that says what to do about a database's or socket's error; what is none of those comes back as it is. */
export function explained(error: unknown, address: Address, { connecting, holders }: Circumstances = {}): unknown {
  if (error instanceof TributaryError || !(error instanceof Error)) return error;
  const { message } = error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const fleeting = passingAdvice(code, message, address);
  const text =
    fleeting ??
    lockFailure(error, code, address, holders) ??
    foreignCode(error, code, address) ??
    advice(code, message, address) ??
    hindrance(error, code, address);
  if (text === undefined) return error;
  const unconnected = connecting !== true ? undefined : code === "ENOTFOUND" ? "unknown_host" : "no_answer";
  return new DestinationError(uncoded(text), error, fleeting !== undefined, unconnected);
}

/** Whether the same work, done again from its start, is likely to get through; as it came or as a DestinationError's cause. */
export function isTakenBack(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && takenBack.has(String(at.code))) return true;
  return false;
}

/** About what may be over in a minute. */
function passingAdvice(code: string, message: string, { host, port }: Address): string | undefined {
  const server = `PostgreSQL at ${host}:${port}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `Expected PostgreSQL at the host ${host}, but ${code === "ENOTFOUND" ? "no host of that name is known" : "its name could not be looked up just now"} (${code}). Correct the host in destination.url, or see to this machine's name resolution.`;
  if (unreachable.has(code) || message === "timeout expired")
    return `Expected ${server}, but nothing answers there (${code || "time-out"}). Check host and port in destination.url, that the server runs, and that no firewall stands between.`;
  if (code === "53300")
    return `${server} has no connection left (${message}). tributary needs two for a moment and one while it works: raise max_connections, or end sessions that are not needed.`;
  if (code === "57P03")
    return `${server} is starting or stopping (${message}). Run the same command again in a moment.`;
  if (code === "25006") return readOnly(server);
  if (takenBack.has(code))
    return `${server} took a transaction back for the sake of another session's, several times (${message}). Nothing of it was stored and the next run goes on from there; look for sessions that lock the tables for long.`;
  if (lost.has(code) || code.startsWith("08") || lostWords.test(message))
    return `The connection to ${server} was lost (${message}). What was committed stays and the next run goes on from there; check the server's log if it happens again.`;
  return undefined;
}

function advice(code: string, message: string, address: Address): string | undefined {
  const { host, port, database, user } = address;
  const server = `PostgreSQL at ${host}:${port}`;
  if (code === "EACCES")
    return `This user may not use the socket ${host} of PostgreSQL (${message}). Correct destination.url, or the socket's rights.`;
  if (code === "28P01" || code === "28000" || message.startsWith("SASL"))
    return `${server} refused the role ${user} (${message}). Check user and password in destination.url, and the server's pg_hba.conf for this host.`;
  if (code === "3D000" || code === "57P04")
    return `${server} has no database ${database}. Create it (CREATE DATABASE ${quotedName(database)} OWNER ${quotedName(user)};) or correct destination.url.`;
  // The server's messages may be in any language.
  if (code === "42501" && /tempor/i.test(message))
    return `The role ${user} may not make temporary tables in database ${database}, which every publish needs. As an administrator run: GRANT TEMPORARY ON DATABASE ${quotedName(database)} TO ${quotedName(user)};`;
  if (code === "42501") return `${rightsMissing(address)} (PostgreSQL says: ${message}.)`;
  if (code === "53100" || code === "58030" || /no space left on device/i.test(message))
    return `${server} cannot write to its disk (${message}). What was committed stays. Make room on the server, then run the same command again.`;
  if (code === "53200" && message.includes("shared memory"))
    return `${server} has no room for further locks (${message}). What was committed stays. Raise its max_locks_per_transaction (256, for instance), restart it, then run the same command again.`;
  if (code === "53200") return `${server} ran out of memory (${message}). Lower its work_mem, or give it more memory.`;
  if (code === "53400")
    return `${server} has a limit that this run goes beyond (${message}). What was committed stays. Raise it for the role ${user} (temp_file_limit, for instance), then run the same command again.`;
  if (code === "57014")
    return `Somebody, or a limit of time of ${server}, ended a statement of this run (${message}). What was committed stays; run the same command again.`;
  if (code.startsWith("XX") || code.startsWith("58"))
    return `${server} failed by itself (${message}). What was committed stays; see the server's log, and whether its disk is well, before the next run.`;
  if (isAboutTls(code, message))
    return `${server} and destination.url don't agree about TLS (${message}). Write sslmode=verify-full there with sslrootcert, the file of a private certificate authority, or a weaker sslmode (disable, prefer, require, verify-ca).`;
  return undefined;
}

/** About a lock that another session kept for longer than ours was to wait. */
function lockFailure(
  error: Error,
  code: string,
  { host, port }: Address,
  holders = "another session",
): string | undefined {
  if (code !== "55P03") return undefined;
  const place = toldBy(error, "where").split("\n", 1).join();
  return `Expected a lock at PostgreSQL at ${host}:${port} to be free within destination.lock_wait, but ${holders} kept it (${[error.message, place].filter(text => text !== "").join(", ")}). What was committed stays and the next run goes on from there; end that session (SELECT pg_terminate_backend(its number)), or wait until it has ended.`;
}

/** About a function of others, a trigger's say: the program's own are all SQL. */
function foreignCode(error: Error, code: string, { host, port }: Address): string | undefined {
  if (/^(53|57|58|XX)/.test(code)) return undefined;
  const place = toldBy(error, "where")
    .split("\n")
    .find(line => /\bPL\/\w/.test(line));
  if (place === undefined) return undefined;
  return `PostgreSQL at ${host}:${port} did not do what this run asked because of a function that isn't tributary's, of a trigger perhaps (${error.message}; ${place}). What was committed stays. Mend the function, or remove what calls it, then run the same command again.`;
}

const toldBy = (error: Error, field: string): string =>
  field in error ? String(error[field as keyof Error] ?? "") : "";

/**
 * About what others made in the database, or took away: rules on our tables, and tables that are gone. What stands in our
 * own way (a primary key, whatever is in the state schema) is a fault of ours, and has no advice.
 */
function hindrance(error: Error, code: string, { host, port, schemas }: Address): string | undefined {
  const server = `PostgreSQL at ${host}:${port}`;
  const told = (field: string) => toldBy(error, field);
  const [constraint, table, column] = ["constraint", "table", "column"].map(told);
  // 54000: a value is too long for an index.
  const broken = code.startsWith("23") || (code === "54000" && constraint !== "");
  if (broken && told("schema") !== schemas[1] && !constraint?.endsWith("_pkey")) {
    const rule = constraint === "" ? `NOT NULL of its column ${column}` : `the constraint ${constraint}`;
    return `${server} did not store rows because of ${rule} on ${told("schema")}.${table}, which isn't tributary's (${error.message}). What was committed stays. Remove it (ALTER TABLE … DROP CONSTRAINT, DROP INDEX, or ALTER COLUMN … DROP NOT NULL), then run the same command again.`;
  }
  if (code === "42P01" && schemas.some(schema => error.message.includes(`${schema}.`)))
    return `${server} lost a table under this run (${error.message}): somebody dropped or renamed it. What was committed stays; run the same command again: it makes the table and reads from the start what was in it.`;
  // 42P10 has details only where it is about a publication's columns.
  if (code === "55000" || (code === "42P10" && told("detail") !== ""))
    return `${server} refused what this run writes because of something that was made in the database, such as a publication of tables without a replica identity (${error.message}. ${told("detail")}${told("hint")}). What was committed stays. Remove it or change it, then run the same command again.`;
  return undefined;
}

/** The sentence for a standby, or a database that was made read-only. */
export function readOnly(server: string): string {
  return `Expected to write to ${server}, but it is read-only: a standby, or default_transaction_read_only is on. Put the primary's address into destination.url.`;
}
