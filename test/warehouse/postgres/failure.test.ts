import { expect, test } from "vitest";
import { DestinationError } from "../../../src/errors.ts";
import { explained } from "../../../src/warehouse/postgres/failure.ts";

const address = { host: "db", port: 5432, database: "dw", user: "loader", schemas: ["procurement", "_tributary"] };
const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["53100", 'could not extend file "base/1": No space left on device', "postgres.disk_full"],
  ["53200", "out of memory", "postgres.out_of_memory"],
  ["53200", "out of shared memory", "postgres.out_of_locks"],
  ["53400", "temporary file size exceeds temp_file_limit", "postgres.limit_exceeded"],
  ["57P03", "the database system is starting up", "postgres.not_ready"],
  ["57P04", 'database "dw" was dropped', "postgres.no_database"],
  ["XX001", "invalid page in block 3", "postgres.server_failed"],
  ["42501", 'permission denied to create temporary tables in database "dw"', "rights.no_temporary_tables"],
  // A server that speaks German
  ["42501", "keine Berechtigung, um temporäre Tabellen in Datenbank »dw« zu erzeugen", "rights.no_temporary_tables"],
  ["42501", "must be owner of table items", "rights.missing"],
  ["42P01", "Relation »procurement.items« existiert nicht", "postgres.table_lost"],
  ["55P03", "canceling statement due to lock timeout", "postgres.lock_wait_over"],
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432", "postgres.unreachable"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND db", "postgres.unknown_host"],
  ["EAI_AGAIN", "getaddrinfo EAI_AGAIN db", "postgres.unknown_host"],
  ["57P01", "terminating connection due to administrator command", "postgres.connection_lost"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "postgres.no_tls"],
])("%s, %s is explained as %s, with what to do", (code, message, expected) => {
  const cause = failure(code, message);
  const error = explained(cause, address);
  expect(error).toBeInstanceOf(DestinationError);
  expect(error).toMatchObject({ exitCode: 6, cause, code: expected });
});

test.each(["ProcessInterrupts", "ProcessRecoveryConflictInterrupt"])(
  "a standby's conflict, raised in %s, is called that",
  routine => {
    const cause = Object.assign(failure("40001", "Anfrage wird abgebrochen"), { routine });
    expect(explained(cause, address)).toMatchObject({ code: "postgres.standby_conflict", passing: true });
  },
);

test.each([
  ["57P01", true],
  ["57P03", true],
  ["53300", true],
  ["25006", true],
  ["25P03", true],
  ["40P01", true],
  ["08006", true],
  ["EAI_AGAIN", true],
  ["ENOTFOUND", true],
  ["EAI_FAIL", true],
  ["EHOSTDOWN", true],
  ["ENETDOWN", true],
  ["ECONNABORTED", true],
  ["53100", false],
  ["53200", false],
  ["57014", false],
  ["28P01", false],
  ["3D000", false],
])("whether waiting may help against %s: %s", (code, passing) => {
  expect(explained(failure(code, "as the test wishes"), address)).toMatchObject({ passing });
});

const items = { schema: "procurement", table: "items" };
const remarks = { schema: "public", table: "remarks", constraint: "remarks_fk" };
const remarked = { table: "public.remarks", constraint: "remarks_fk" };
test.each([
  ["23503", remarks, "foreign_constraint", remarked],
  ["23001", remarks, "foreign_constraint", remarked],
  ["23505", { ...items, constraint: "one_name" }, "foreign_constraint", { constraint: "one_name" }],
  ["23514", { ...items, constraint: "cheap" }, "foreign_constraint", { table: "procurement.items" }],
  ["23502", { ...items, column: "price" }, "foreign_constraint", { constraint: "", column: "price" }],
  ["42P01", {}, "table_lost", { reason: 'about "procurement.items"' }],
  ["55000", { hint: "Set REPLICA IDENTITY." }, "writes_refused", { detail: "Set REPLICA IDENTITY." }],
])("%s, which others caused (%o), is explained as %s", (code, facts, expected, fields) => {
  const cause = Object.assign(failure(code, 'about "procurement.items"'), facts);
  expect(explained(cause, address)).toMatchObject({
    ...{ exitCode: 6, passing: false, code: `postgres.${expected}`, fields },
  });
});

test.each([
  ["23505", { schema: "procurement", table: "items", constraint: "items_pkey" }],
  ["23505", { schema: "_tributary", table: "details", constraint: "details_by_text" }],
  ["23502", { schema: "_tributary", table: "runs", column: "run_id" }],
  ["42P01", {}],
])("%s, which nobody else caused, stays what it is", (code, facts) => {
  const bug = Object.assign(failure(code, 'relation "changed_1f" does not exist'), facts);
  expect(explained(bug, address)).toBe(bug);
});

test("what is no failure of the destination stays what it is", () => {
  const bug = failure("42601", "syntax error");
  expect(explained(bug, address)).toBe(bug);
});

test.each([
  ["ENOTFOUND", true, "unknown_host"],
  ["EAI_AGAIN", true, "no_answer"],
  ["57P03", true, "no_answer"],
  ["ENOTFOUND", false, undefined],
])("whether %s, while a connection is made (%s), was met before there was one: %s", (code, connecting, unconnected) => {
  expect(explained(failure(code, "as the test wishes"), address, { connecting })).toMatchObject({ unconnected });
});
