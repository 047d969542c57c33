import { expect, test } from "vitest";
import { createLogger, prettyFormat } from "../src/logging.ts";
import { catalog, template } from "../src/message.ts";
import { createRedactor } from "../src/secrets.ts";
import { sentence } from "./support/log.ts";

const redact = createRedactor(['se"cret', "12345"]);
const { loaded } = catalog("test", {
  loaded: template({ from: "a file", rows: 1 }, ({ from, rows }) => `loaded ${rows} rows from ${from}`),
});

function collected(): { lines: string[]; write(line: string): void } {
  const lines: string[] = [];
  return { lines, write: line => void lines.push(line) };
}

test("every line is JSON with its level by name, code and fields, and holds no secret", () => {
  const sink = collected();
  const log = createLogger("info", sink, redact);
  log.info(loaded({ from: 'se"cret', rows: 12345 }), { rows: 12345, url: 'a se"cret' });
  log.debug("not shown");
  const line: unknown = JSON.parse(sink.lines.join(""));
  expect(line).toEqual({
    ...{ level: "info", time: expect.any(String), code: "test.loaded", fields: { from: "•••", rows: "•••" } },
    ...{ rows: "•••", url: "a •••", msg: "loaded ••• rows from •••" },
  });
});

test("a code stays, although a word in it is a password", () => {
  const sink = collected();
  createLogger("info", sink, createRedactor(["loaded"])).info(loaded({ from: "loaded", rows: 1 }));
  const line: unknown = JSON.parse(sink.lines.join(""));
  expect(line).toMatchObject({ code: "test.loaded", fields: { from: "•••" }, msg: "••• 1 rows from •••" });
});

test("an error has its stack at debug only", () => {
  const [plain, debug] = [collected(), collected()];
  const error = new TypeError('failed for se"cret');
  createLogger("info", plain, redact).error(sentence("failed"), { err: error });
  createLogger("debug", debug, redact).error(sentence("failed"), { err: error });
  expect(JSON.parse(plain.lines.join(""))).toMatchObject({ err: { type: "TypeError", message: "failed for •••" } });
  expect(plain.lines.join("")).not.toContain("logging.test.ts");
  expect(debug.lines.join("")).toContain("logging.test.ts");
  expect(debug.lines.join("")).not.toContain('cret"');
});

test("on a terminal a line is for reading: its sentence and facts, without code and fields", async () => {
  const sink = collected();
  const log = createLogger("info", sink, redact, await prettyFormat(false));
  log.warn(loaded({ from: "items", rows: 7 }), { stream: "items", retries: 0 });
  expect(sink.lines.join("")).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: loaded 7 rows from items stream=items\n$/);
});
