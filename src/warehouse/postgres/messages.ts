import { catalog, template } from "../../message.ts";
import { quotedName } from "../database.ts";

export interface Blocker {
  /** 0: a prepared transaction. */
  readonly pid: number;
  readonly user: string | null;
  readonly application: string | null;
  readonly since: string | null;
}

function blockerInWords({ pid, user, application, since }: Blocker): string {
  if (pid === 0) return "a prepared transaction (pg_prepared_xacts)";
  const facts = [user === null ? [] : `of ${user}`, application ?? [], since === null ? [] : `since ${since}`];
  return `session ${pid} (${facts.flat().join(", ")})`;
}

const inWords = (blockers: readonly Blocker[]): string =>
  blockers.length === 0 ? "another session" : blockers.map(blockerInWords).join(", and ");

const server = { host: "db.example.com", port: 5432 };
const blocker = { pid: 812, user: "anna", application: "psql", since: "2026-03-31T02:00:05.000Z" };
const blockers: readonly Blocker[] = [blocker];
const form = "postgres://user:password@host:5432/database";

const at = ({ host, port }: typeof server): string => `PostgreSQL at ${host}:${port}`;

/** Where nothing but the server and its own words matter. */
const failed = (reason: string, render: (server: string, reason: string) => string) =>
  template({ ...server, reason }, fields => render(at(fields), fields.reason));

export const postgresMessages = catalog("postgres", {
  other_form: `destination.url: expected ${form}, got an address of another form.`,
  unreadable_address: `destination.url: expected ${form}, got an address that cannot be read; characters such as @ / : # in a password are written %40 %2F %3A %23.`,
  no_authority:
    "destination.url: sslmode=verify-ca expects sslrootcert, the file of your certificate authority, got none: a certificate that anybody can buy would do. Add it, or write sslmode=verify-full.",
  unknown_sslmode: template(
    { sslmode: "on", known: ["disable", "require", "verify-full"] as readonly string[] },
    ({ sslmode, known }) =>
      `destination.url: expected sslmode (or PGSSLMODE) to be ${known.slice(0, -1).join(", ")} or ${known.at(-1)}, got ${sslmode}. Write sslmode=verify-full, or require for a certificate that nobody verifies.`,
  ),
  unreadable_certificate:
    "destination.url: expected a readable file in {parameter=sslrootcert}, got {path=/etc/ssl/dw.crt} ({error_code?=ENOENT}). Correct the path or its rights.",

  unknown_host: template(
    { host: "db.example.com", error_code: "ENOTFOUND" },
    ({ host, error_code }) =>
      `Expected PostgreSQL at the host ${host}, but ${error_code === "ENOTFOUND" ? "no host of that name is known" : "its name could not be looked up just now"} (${error_code}). Correct the host in destination.url, or see to this machine's name resolution.`,
  ),
  unreachable: template(
    { ...server, error_code: "ECONNREFUSED" },
    fields =>
      `Expected ${at(fields)}, but nothing answers there (${fields.error_code || "time-out"}). Check host and port in destination.url, that the server runs, and that no firewall stands between.`,
  ),
  socket_denied:
    "This user may not use the socket {host=/run/postgresql} of PostgreSQL ({reason=connect EACCES /run/postgresql/.s.PGSQL.5432}). Correct destination.url, or the socket's rights.",
  role_refused: template(
    { ...server, user: "loader", reason: 'password authentication failed for user "loader"' },
    ({ user, reason, ...server }) =>
      `${at(server)} refused the role ${user} (${reason}). Check user and password in destination.url, and the server's pg_hba.conf for this host.`,
  ),
  no_database: template(
    { ...server, database: "warehouse", user: "loader" },
    ({ database, user, ...server }) =>
      `${at(server)} has no database ${database}. Create it (CREATE DATABASE ${quotedName(database)} OWNER ${quotedName(user)};) or correct destination.url.`,
  ),
  no_tls: failed(
    "The server does not support SSL connections",
    (server, reason) =>
      `${server} and destination.url don't agree about TLS (${reason}). Write sslmode=verify-full there with sslrootcert, the file of a private certificate authority, or a weaker sslmode (disable, prefer, require, verify-ca).`,
  ),
  unencrypted: template(
    server,
    server =>
      `Expected an encrypted connection to ${at(server)}, got one in clear: who is on the way can read the rows, and get the password. Turn on ssl at the server and write ?sslmode=verify-full at the end of destination.url; on a network that you trust write ?sslmode=disable.`,
  ),
  transaction_pooler: template(
    server,
    ({ host, port }) =>
      `Expected a session of its own at ${host}:${port}, but statements of one connection land in different backends: a transaction pooler (PgBouncer, Supavisor, …) stands between. Locks and settings need a session: put the database's direct address, or the pooler's address in session mode, into destination.url (often another port).`,
  ),
  not_utf8: template(
    { ...server, database: "warehouse", encoding: "LATIN1" },
    ({ host, port, database, encoding }) =>
      `Expected a database in UTF8, but ${database} at ${host}:${port} is in ${encoding}, which cannot hold every text the service sends. Create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  ),
  read_only: template(
    server,
    server =>
      `Expected to write to ${at(server)}, but it is read-only: a standby, or default_transaction_read_only is on. Put the primary's address into destination.url.`,
  ),

  no_connection_left: failed(
    "sorry, too many clients already",
    (server, reason) =>
      `${server} has no connection left (${reason}). tributary needs two for a moment and one while it works: raise max_connections, or end sessions that are not needed.`,
  ),
  not_ready: failed(
    "the database system is starting up",
    (server, reason) => `${server} is starting or stopping (${reason}). Run the same command again in a moment.`,
  ),
  taken_back: failed(
    "deadlock detected",
    (server, reason) =>
      `${server} took a transaction back for the sake of another session's, several times (${reason}). Nothing of it was stored and the next run goes on from there; look for sessions that lock the tables for long.`,
  ),
  standby_conflict: failed(
    "canceling statement due to conflict with recovery",
    (server, reason) =>
      `${server} is a standby and ended a question that kept it from following its primary (${reason}). Run the same command again, or set hot_standby_feedback = on there, or a longer max_standby_streaming_delay.`,
  ),
  connection_lost: failed(
    "terminating connection due to administrator command",
    (server, reason) =>
      `The connection to ${server} was lost (${reason}). What was committed stays and the next run goes on from there; check the server's log if it happens again.`,
  ),
  shared_state_silent: template(
    { ...server, wait_ms: 5_000 },
    ({ wait_ms, ...server }) =>
      `Expected ${at(server)} to answer about the state of the workers within ${wait_ms / 1_000} s, got no answer. tributary asks again over another connection. Check the network, and sessions that lock the table workers.`,
  ),
  shared_state_closed: "The connection to what the workers share was closed.",

  disk_full: failed(
    'could not extend file "base/16384/16402": No space left on device',
    (server, reason) =>
      `${server} cannot write to its disk (${reason}). What was committed stays. Make room on the server, then run the same command again.`,
  ),
  out_of_locks: failed(
    "out of shared memory",
    (server, reason) =>
      `${server} has no room for further locks (${reason}). What was committed stays. Raise its max_locks_per_transaction (256, for instance), restart it, then run the same command again.`,
  ),
  out_of_memory: failed(
    "out of memory",
    (server, reason) => `${server} ran out of memory (${reason}). Lower its work_mem, or give it more memory.`,
  ),
  limit_exceeded: template(
    { ...server, user: "loader", reason: "temporary file size exceeds temp_file_limit (1048576kB)" },
    ({ user, reason, ...server }) =>
      `${at(server)} has a limit that this run goes beyond (${reason}). What was committed stays. Raise it for the role ${user} (temp_file_limit, for instance), then run the same command again.`,
  ),
  server_failed: failed(
    "invalid page in block 3 of relation base/16384/16402",
    (server, reason) =>
      `${server} failed by itself (${reason}). What was committed stays; see the server's log, and whether its disk is well, before the next run.`,
  ),

  statement_ended: failed(
    "canceling statement due to user request",
    (server, reason) =>
      `Somebody, or a limit of time of ${server}, ended a statement of this run (${reason}). What was committed stays; run the same command again.`,
  ),
  lock_wait_over: template(
    { ...server, blockers, reason: "canceling statement due to lock timeout", place: "while locking tuple (0,1)" },
    ({ blockers, reason, place, ...server }) =>
      `Expected a lock at ${at(server)} to be free within destination.lock_wait, but ${inWords(blockers)} kept it (${[reason, place].filter(text => text !== "").join(", ")}). What was committed stays and the next run goes on from there; end that session (SELECT pg_terminate_backend(its number)), or wait until it has ended.`,
  ),
  stopped_waiting: template(
    { ...server, blockers },
    ({ blockers, ...server }) =>
      `This run was to end while ${at(server)} had it wait for a lock of ${inWords(blockers)}: that wait was ended. What was committed stays and the next run goes on from there; see that the other session ends.`,
  ),
  foreign_function: template(
    { ...server, reason: "no changes on Sundays", place: "PL/pgSQL function keep_out() line 3 at RAISE" },
    ({ reason, place, ...server }) =>
      `${at(server)} did not do what this run asked because of a function that isn't tributary's, of a trigger perhaps (${reason}; ${place}). What was committed stays. Mend the function, or remove what calls it, then run the same command again.`,
  ),
  foreign_constraint: template(
    {
      ...{ ...server, table: "dw.items", constraint: "one_name", column: "" },
      reason: 'duplicate key value violates unique constraint "one_name"',
    },
    ({ table, constraint, column, reason, ...server }) => {
      const rule = constraint === "" ? `NOT NULL of its column ${column}` : `the constraint ${constraint}`;
      return `${at(server)} did not store rows because of ${rule} on ${table}, which isn't tributary's (${reason}). What was committed stays. Remove it (ALTER TABLE … DROP CONSTRAINT, DROP INDEX, or ALTER COLUMN … DROP NOT NULL), then run the same command again.`;
    },
  ),
  table_lost: failed(
    'relation "dw.items" does not exist',
    (server, reason) =>
      `${server} lost a table under this run (${reason}): somebody dropped or renamed it. What was committed stays; run the same command again: it makes the table and reads from the start what was in it.`,
  ),
  writes_refused: template(
    {
      ...server,
      reason: 'cannot delete from table "items" because it does not have a replica identity',
      detail: "Set REPLICA IDENTITY using ALTER TABLE.",
    },
    ({ reason, detail, ...server }) =>
      `${at(server)} refused what this run writes because of something that was made in the database, such as a publication of tables without a replica identity (${reason}. ${detail}). What was committed stays. Remove it or change it, then run the same command again.`,
  ),
  stage_lost:
    "Expected the stage of {table=items} ({company=acme}) to hold a record, but it is gone: the server crashed or somebody emptied {state_schema=_tributary}.stages. Nothing was stored; the next run reads the list from its start.",
});
