import { expect, test } from "vitest";
import { DestinationError } from "../../../src/errors.ts";
import { explained } from "../../../src/warehouse/postgres/failure.ts";

const address = { host: "db", port: 5432, database: "dw", user: "loader", schemas: ["procurement", "_tributary"] };
const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["53100", 'could not extend file "base/1": No space left on device', /cannot write to its disk .* Make room/],
  ["53200", "out of memory", /ran out of memory/],
  ["53200", "out of shared memory", /no room for further locks .*max_locks_per_transaction/],
  ["53400", "temporary file size exceeds temp_file_limit", /limit that this run goes beyond .*temp_file_limit/],
  ["57P03", "the database system is starting up", /starting or stopping/],
  ["57P04", 'database "dw" was dropped', /has no database dw/],
  ["XX001", "invalid page in block 3", /failed by itself .*server's log/],
  [
    "42501",
    'permission denied to create temporary tables in database "dw"',
    /GRANT TEMPORARY ON DATABASE "dw" TO "loader"/,
  ],
  ["42501", "must be owner of table items", /has to own the schemas procurement and _tributary, and the tables/],
  [
    "55P03",
    "canceling statement due to lock timeout",
    /free within destination\.lock_wait, but another session kept it/,
  ],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND db", /at the host db, but no host of that name is known .*destination\.url/],
  ["EAI_AGAIN", "getaddrinfo EAI_AGAIN db", /the host db, but its name could not be looked up just now/],
  ["57P01", "terminating connection due to administrator command", /was lost/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", /don't agree about TLS/],
])("%s is explained in a paragraph that says what to do", (code, message, expected) => {
  const cause = failure(code, message);
  const error = explained(cause, address);
  expect(error).toBeInstanceOf(DestinationError);
  expect(error).toMatchObject({ exitCode: 6, cause, message: expect.stringMatching(expected) });
});

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

test.each([
  [
    "23503",
    { schema: "public", table: "remarks", constraint: "remarks_fk" },
    /constraint remarks_fk on public\.remarks/,
  ],
  [
    "23001",
    { schema: "public", table: "remarks", constraint: "remarks_fk" },
    /constraint remarks_fk on public\.remarks/,
  ],
  [
    "23505",
    { schema: "procurement", table: "items", constraint: "one_name" },
    /constraint one_name on procurement\.items/,
  ],
  ["23514", { schema: "procurement", table: "items", constraint: "cheap" }, /constraint cheap on procurement\.items/],
  ["23502", { schema: "procurement", table: "items", column: "price" }, /NOT NULL of its column price .*DROP NOT NULL/],
  ["42P01", {}, /lost a table .*reads from the start/],
  ["55000", { hint: "Set REPLICA IDENTITY." }, /made in the database.*Set REPLICA IDENTITY/],
])("%s, which others caused, says what it is and what to do", (code, facts, expected) => {
  const cause = Object.assign(failure(code, 'about "procurement.items"'), facts);
  expect(explained(cause, address)).toMatchObject({
    exitCode: 6,
    passing: false,
    message: expect.stringMatching(expected),
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

test("a server that speaks German is understood", () => {
  const temporary = failure("42501", "keine Berechtigung, um temporäre Tabellen in Datenbank »dw« zu erzeugen");
  expect(explained(temporary, address)).toMatchObject({ message: expect.stringMatching(/GRANT TEMPORARY/) });
  const gone = failure("42P01", "Relation »procurement.items« existiert nicht");
  expect(explained(gone, address)).toMatchObject({ exitCode: 6, message: expect.stringMatching(/lost a table/) });
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
