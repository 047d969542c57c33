import { expect, test } from "vitest";
import type { Figure } from "../../bench/figure.ts";
import { reportTable } from "../../bench/report.ts";

const load = { rows: 400_000, requests: 4_002, bytes: 583e6, cpuMs: 11_540, wallMs: 12_360, peakBytes: 165.4e6 };
const plain: Figure = { part: "cpu", figure: "first load", warehouse: "duckdb", unit: "ms", measured: 0.031 };

/** The cells of the first figure's line; those that are empty are left out. */
const cells = (figure: Figure) => reportTable([figure]).split("\n")[1]!.trim().split(/ {2,}/);

test("a figure stands beside its floor, its ratio, its target, and what the run used", () => {
  const figure = { ...plain, against: { what: "fetch and parse", value: 0.0124 }, load };
  const [titles, line] = reportTable([{ ...figure, target: { of: "ratio", most: 2.2 } }]).split("\n");
  const told: readonly (readonly [string, string])[] = [
    ["part", "cpu"],
    ["figure", "first load"],
    ["database", "duckdb"],
    ["measured", "31.00 µs"],
    ["against", "fetch and parse 12.40 µs"],
    ["ratio", "2.500"],
    ["target", "≤ 2.2"],
    ["met", "NO"],
    ["rows", "400,000"],
    ["requests", "4,002"],
    ["read", "583 MB"],
    ["CPU", "11.54 s"],
    ["wall", "12.36 s"],
    ["peak", "165 MB"],
  ];
  expect(titles!.split(/ +/)).toEqual(told.map(([title]) => title));
  expect(line!.split(/ {2,}/)).toEqual(told.map(([, cell]) => cell));
});

test("a target of the figure itself is told in the figure's unit", () => {
  const of = "measured";
  expect(cells({ ...plain, unit: "bytes", measured: 291e6, target: { of, most: 400e6 } })).toEqual([
    ...["cpu", "first load", "duckdb", "291 MB", "≤ 400 MB", "yes"],
  ]);
  expect(cells({ ...plain, measured: 2_100, target: { of, most: 2_000 } })).toEqual([
    ...["cpu", "first load", "duckdb", "2.10 s", "≤ 2.00 s", "NO"],
  ]);
});

test.each([
  ["ms", 0, "0 s"],
  ["ms", 0.0312, "31.20 µs"],
  ["ms", 6.5, "6.50 ms"],
  ["ms", 250, "0.25 s"],
  ["bytes", 289, "289 B"],
  ["bytes", 0, "0 B"],
  ["bytes", 990_000, "0.99 MB"],
  ["bytes", 291.4e6, "291 MB"],
  ["rows", 10_000, "10,000"],
  ["requests", 20_400, "20,400"],
  ["rows/s", 32_359.6, "32,360/s"],
] as const)("%s: %d is told as %s", (unit, measured, told) => {
  expect(cells({ ...plain, unit, measured })[3]).toBe(told);
});

test("columns are aligned, and what a figure doesn't have is left empty", () => {
  const { warehouse: _, ...without } = plain;
  const long = {
    ...plain,
    figure: "a figure with a longer name",
    measured: 12_345_678,
    target: { of: "measured", most: 1 },
  };
  const [titles, ...lines] = reportTable([{ ...without, load }, long as Figure]).split("\n");
  const [first, second] = lines as [string, string];
  const met = titles!.indexOf("met");
  expect(second.slice(met)).toBe("NO");
  expect(first.slice(titles!.indexOf("database"), met).trim()).toBe("31.00 µs");
  const end = titles!.indexOf("measured") + "measured".length;
  expect([first, second].map(line => line.slice(0, end).at(-1))).toEqual(["s", "s"]);
});
