import { expect, test } from "vitest";
import { explained } from "../../../src/destinations/postgres/failure.ts";
import { DestinationError } from "../../../src/errors.ts";

const address = { host: "db", port: 5432, database: "dw", user: "loader", schemas: ["procurement", "_tributary"] };
const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["53100", 'could not extend file "base/1": No space left on device', /cannot write to its disk .* Make room/],
  ["53200", "out of memory", /ran out of memory/],
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
  ["55P03", "canceling statement due to lock timeout", /kept a table locked/],
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
  ["53100", false],
  ["53200", false],
  ["57014", false],
  ["28P01", false],
  ["3D000", false],
])("whether waiting may help against %s: %s", (code, passing) => {
  expect(explained(failure(code, "as the test wishes"), address)).toMatchObject({ passing });
});

test("what is no failure of the destination stays what it is", () => {
  const bug = failure("42601", "syntax error");
  expect(explained(bug, address)).toBe(bug);
});
