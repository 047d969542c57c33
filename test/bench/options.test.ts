import { expect, test } from "vitest";
import { readOptions } from "../../bench/options.ts";

const parts = ["cpu", "growth", "replay"];
const read = (...argv: string[]) => {
  const options = readOptions(argv, parts);
  if (typeof options === "string") throw new Error(`expected options, got ${options}`);
  return options;
};

test("without a word everything is measured at its own size, as the command starts Node", () => {
  const { nodeFlags, ...options } = read();
  expect(options).toEqual({
    ...{ parts, scale: 1, runs: 3, quick: false, warehouses: ["duckdb", "postgres"] },
    ...{ profiles: undefined, postgres: undefined, json: false },
  });
  expect(nodeFlags.length).toBeGreaterThan(0);
  expect(nodeFlags.filter(flag => !/^--[a-z0-9-]+(=\S+)?$/.test(flag))).toEqual([]);
});

test("parts come in the bench's order, whatever the order they are asked for in", () => {
  expect(read("--part", "replay,cpu").parts).toEqual(["cpu", "replay"]);
});

test("quick is few rows once; a scale and a number of runs beside it win", () => {
  expect(read("--quick")).toMatchObject({ quick: true, scale: 0.001, runs: 1 });
  expect(read("--quick", "--scale", "0.5", "--runs", "2")).toMatchObject({ scale: 0.5, runs: 2 });
});

test("flags of one's own replace the command's", () => {
  expect(read("--node=--max-semi-space-size=16", "--node=--no-opt").nodeFlags).toEqual([
    ...["--max-semi-space-size=16", "--no-opt"],
  ]);
});

test.each([
  [["--part", "cpu,speed"], "--part: expected some of cpu, growth, replay, got speed"],
  [["--only", "mysql"], "--only: expected one of duckdb, postgres, got mysql"],
  [["--scale", "0"], "--scale: expected a number above 0, got 0"],
  [["--runs", "often"], "--runs: expected a number above 0, got often"],
  [["--fast"], "Unknown option '--fast'"],
])("%j is an error that says what is expected", (argv, message) => {
  expect(() => readOptions(argv, parts)).toThrow(message);
});

test("help names every part and every option", () => {
  const help = readOptions(["--help"], parts) as string;
  for (const word of [
    ...parts,
    "--part",
    "--only",
    "--scale",
    "--runs",
    "--quick",
    "--node",
    "--cpu-prof",
    "--postgres",
  ])
    expect(help).toContain(word);
});
