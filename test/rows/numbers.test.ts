import { describe, expect, test } from "vitest";
import { fields, row, value } from "./reading.ts";
import { encode } from "./store.ts";

describe("a decimal is the same number however it is written", () => {
  test.each([
    ['"0.10"', "0.1"],
    ["0.1", "0.1"],
    ["0.10", "0.1"],
    ["12345678901234567.123456789", "12345678901234567.123456789"],
    ['"12345678901234567.123456789"', "12345678901234567.123456789"],
    ["1e-7", "0.0000001"],
    ['"1E-7"', "0.0000001"],
    ["-0", "0"],
    ["-0.0", "0"],
    ['"-0.00"', "0"],
    ["20000.00", "20000"],
    ['"+7"', "7"],
    ['"007.50"', "7.5"],
    ['".5"', "0.5"],
    ["1e20", "100000000000000000000"],
    ["99999999999999999999999999999.999999999", "99999999999999999999999999999.999999999"],
    ["-99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999"],
  ])("%s is %s", async (json, text) => {
    expect(await value("money", `"money":${json}`)).toEqual({ value: text, problem: undefined });
    const { rounded } = await encode([row(`{"id":"k","money":${json}}`)]);
    expect(rounded).toBe(0);
  });

  test.each([
    ["0.0000000005", "0.000000001"],
    ["-0.0000000005", "-0.000000001"],
    ["0.00000000049999", "0"],
    ["-0.0000000004", "0"],
    ["1.9999999995", "2"],
    ["9.9999999994", "9.999999999"],
    ["1e-400", "0"],
  ])("%s is rounded to %s, and that is counted", async (json, text) => {
    expect((await value("money", `"money":"${json}"`)).value).toBe(text);
    const { rounded, problems } = await encode([row(`{"id":"k","money":"${json}"}`)]);
    expect({ rounded, problems }).toEqual({ rounded: 1, problems: [] });
  });

  test.each([
    '"1,234.56"',
    '" 1"',
    '"1 "',
    '"NaN"',
    '"Infinity"',
    '"0x10"',
    '"1.2.3"',
    '"€5"',
    "true",
    "[1]",
    "{}",
    '"1e5x"',
    "100000000000000000000000000000",
    '"99999999999999999999999999999.9999999999"',
    "1e999999999",
  ])("%s is none: NULL, and what came is kept", async json => {
    const found = await value("money", `"money":${json}`);
    expect(found.value).toBe("NULL");
    const raw = JSON.parse(json);
    expect(Object.keys(found.problem)).toEqual(["money"]);
    if (Number.isFinite(raw) || typeof raw !== "number") expect(found.problem.money.value).toEqual(raw);
    expect(found.problem.money.reason).toMatch(/^expected /);
  });
});

test.each([
  ["12", "12"],
  ['"12"', "12"],
  ["12.0", "12"],
  ['"12.000"', "12"],
  ["9223372036854775807", "9223372036854775807"],
  ['"-9223372036854775807"', "-9223372036854775807"],
  ["1e3", "1000"],
  ["12.5", "NULL"],
  ['"twelve"', "NULL"],
  ['"-"', "NULL"],
  ["9223372036854775808", "NULL"],
])("the count %s is %s", async (json, text) => {
  const found = await value("count", `"count":${json}`);
  expect(found.value).toBe(text);
  expect(found.problem === undefined).toBe(text !== "NULL");
});

test.each([
  ["0.1", "0.1"],
  ['"0.10"', "0.1"],
  ["1e-320", "1e-320"],
  ["-0", "0"],
  ['"1e400"', "NULL"],
  ['"high"', "NULL"],
  ['""', "NULL"],
])("the score %s is %s", async (json, text) => {
  expect((await value("score", `"score":${json}`)).value).toBe(text);
});

test.each([
  ["1", "1"],
  ["1.0", "1"],
  ['"1"', "1"],
  ['"1.0"', "1.0"],
  ["1e2", "100"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["0.5", "0.5"],
  ['"0001"', "0001"],
  ['""', ""],
])("the id %s is %s, as a key and as a line's number", async (json, text) => {
  const { batch } = await encode([row(`{"id":${json},"lines":[{"line_no":${json}}]}`)]);
  expect(fields(batch.keys.bytes.toString())[1]).toBe(text);
  expect(fields(batch.main.bytes.toString())[1]).toBe(text);
  expect(fields(batch.children[0]!.bytes.toString())[2]).toBe(text);
});
