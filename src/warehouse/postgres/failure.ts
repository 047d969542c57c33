import { DestinationError, TributaryError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { rightsMessages } from "../ddl/messages.ts";
import { type Blocker, postgresMessages } from "./messages.ts";
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

export interface Circumstances {
  /** No connection had been made yet. */
  readonly connecting?: boolean;
  readonly blockers?: readonly Blocker[];
}

/** The DestinationError that says what to do about a database's or socket's error; what is none of those comes back as it is. */
export function explained(error: unknown, address: Address, { connecting, blockers }: Circumstances = {}): unknown {
  if (error instanceof TributaryError || !(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const fleeting = passing(code, error.message, address, toldBy(error, "routine"));
  const found =
    fleeting ??
    lockFailure(error, code, address, blockers) ??
    foreignCode(error, code, address) ??
    lasting(code, error.message, address) ??
    hindrance(error, code, address);
  if (found === undefined) return error;
  const unconnected = connecting !== true ? undefined : code === "ENOTFOUND" ? "unknown_host" : "no_answer";
  return new DestinationError(found, error, fleeting !== undefined, unconnected);
}

/** Whether the same work, done again from its start, is likely to get through; as it came or as a DestinationError's cause. */
export function isTakenBack(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && takenBack.has(String(at.code))) return true;
  return false;
}

/** About what may be over in a minute. */
function passing(code: string, reason: string, { host, port }: Address, routine: string): Message | undefined {
  const failure = { host, port, reason };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return postgresMessages.unknown_host({ host, error_code: code });
  if (unreachable.has(code) || reason === "timeout expired")
    return postgresMessages.unreachable({ host, port, error_code: code });
  if (code === "53300") return postgresMessages.no_connection_left(failure);
  if (code === "57P03") return postgresMessages.not_ready(failure);
  if (code === "25006") return postgresMessages.read_only({ host, port });
  // By the server's function, as its words may be in any language.
  if (takenBack.has(code) && /Interrupt/.test(routine)) return postgresMessages.standby_conflict(failure);
  if (takenBack.has(code)) return postgresMessages.taken_back(failure);
  if (lost.has(code) || code.startsWith("08") || lostWords.test(reason))
    return postgresMessages.connection_lost(failure);
  return undefined;
}

function lasting(code: string, reason: string, address: Address): Message | undefined {
  const { host, port, database, user, schemas } = address;
  const failure = { host, port, reason };
  if (code === "EACCES") return postgresMessages.socket_denied({ host, reason });
  if (code === "28P01" || code === "28000" || reason.startsWith("SASL"))
    return postgresMessages.role_refused({ ...failure, user });
  if (code === "3D000" || code === "57P04") return postgresMessages.no_database({ host, port, database, user });
  // The server's messages may be in any language.
  if (code === "42501" && /tempor/i.test(reason)) return rightsMessages.no_temporary_tables({ user, database });
  if (code === "42501") return rightsMessages.missing({ user, database, schemas, reason });
  if (code === "53100" || code === "58030" || /no space left on device/i.test(reason))
    return postgresMessages.disk_full(failure);
  if (code === "53200" && reason.includes("shared memory")) return postgresMessages.out_of_locks(failure);
  if (code === "53200") return postgresMessages.out_of_memory(failure);
  if (code === "53400") return postgresMessages.limit_exceeded({ ...failure, user });
  if (code === "57014") return postgresMessages.statement_ended(failure);
  if (code.startsWith("XX") || code.startsWith("58")) return postgresMessages.server_failed(failure);
  return isAboutTls(code, reason) ? postgresMessages.no_tls(failure) : undefined;
}

/** About a lock that another session kept for longer than ours was to wait. */
function lockFailure(
  error: Error,
  code: string,
  { host, port }: Address,
  blockers: readonly Blocker[] = [],
): Message | undefined {
  if (code !== "55P03") return undefined;
  const place = toldBy(error, "where").split("\n", 1).join();
  return postgresMessages.lock_wait_over({ host, port, blockers, reason: error.message, place });
}

/** About a function of others, a trigger's say: the program's own are all SQL. */
function foreignCode(error: Error, code: string, { host, port }: Address): Message | undefined {
  if (/^(53|57|58|XX)/.test(code)) return undefined;
  const place = toldBy(error, "where")
    .split("\n")
    .find(line => /\bPL\/\w/.test(line));
  return place === undefined
    ? undefined
    : postgresMessages.foreign_function({ host, port, reason: error.message, place });
}

const toldBy = (error: Error, field: string): string =>
  field in error ? String(error[field as keyof Error] ?? "") : "";

/**
 * About what others made in the database, or took away: rules on our tables, and tables that are gone. What stands in our
 * own way (a primary key, whatever is in the state schema) is a fault of ours, and has no advice.
 */
function hindrance(error: Error, code: string, { host, port, schemas }: Address): Message | undefined {
  const failure = { host, port, reason: error.message };
  const told = (field: string) => toldBy(error, field);
  const constraint = told("constraint");
  // 54000: a value is too long for an index.
  const broken = code.startsWith("23") || (code === "54000" && constraint !== "");
  if (broken && told("schema") !== schemas[1] && !constraint.endsWith("_pkey")) {
    const table = `${told("schema")}.${told("table")}`;
    return postgresMessages.foreign_constraint({ ...failure, table, constraint, column: told("column") });
  }
  if (code === "42P01" && schemas.some(schema => error.message.includes(`${schema}.`)))
    return postgresMessages.table_lost(failure);
  // 42P10 has details only where it is about a publication's columns.
  if (code === "55000" || (code === "42P10" && told("detail") !== ""))
    return postgresMessages.writes_refused({ ...failure, detail: `${told("detail")}${told("hint")}` });
  return undefined;
}
