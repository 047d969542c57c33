import { expect, test } from "vitest";
import { createLogger, prettyFormat } from "../src/logging.ts";
import { createRedactor } from "../src/secrets.ts";

const redact = createRedactor(['se"cret', "12345"]);

function collected(): { lines: string[]; write(line: string): void } {
  const lines: string[] = [];
  return { lines, write: line => void lines.push(line) };
}

test("every line is JSON with its level by name, and holds no secret", () => {
  const sink = collected();
  const log = createLogger("info", sink, redact);
  log.info({ rows: 12345, url: 'a se"cret' }, 'loaded with se"cret');
  log.debug("not shown");
  const line: unknown = JSON.parse(sink.lines.join(""));
  expect(line).toMatchObject({ level: "info", rows: "•••", url: "a •••", msg: "loaded with •••" });
  expect(line).not.toHaveProperty("pid");
});

test("an error has its stack at debug only", () => {
  const [plain, debug] = [collected(), collected()];
  const error = new TypeError('failed for se"cret');
  createLogger("info", plain, redact).error({ err: error }, "failed");
  createLogger("debug", debug, redact).error({ err: error }, "failed");
  expect(JSON.parse(plain.lines.join(""))).toMatchObject({ err: { type: "TypeError", message: "failed for •••" } });
  expect(plain.lines.join("")).not.toContain("logging.test.ts");
  expect(debug.lines.join("")).toContain("logging.test.ts");
  expect(debug.lines.join("")).not.toContain('cret"');
});

test("on a terminal a line is for reading", async () => {
  const sink = collected();
  createLogger("info", sink, redact, await prettyFormat(false)).warn({ stream: "items" }, "slow");
  expect(sink.lines.join("")).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: slow stream=items\n$/);
});
