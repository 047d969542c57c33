import { expect, test } from "vitest";
import { explained } from "../../../src/destinations/postgres/failure.ts";
import { DestinationError } from "../../../src/errors.ts";

const address = { host: "db", port: 5432, database: "dw", user: "loader", schemas: ["procurement", "_tributary"] };
const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["53100", 'could not extend file "base/1": No space left on device', /cannot write to its disk .* Make room/],
  ["53200", "out of memory", /ran out of memory/],
  ["57P03", "the database system is starting up", /starting or stopping/],
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

test("what is no failure of the destination stays what it is", () => {
  const bug = failure("42601", "syntax error");
  expect(explained(bug, address)).toBe(bug);
});
