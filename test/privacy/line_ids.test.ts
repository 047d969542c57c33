import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { id, lineId, record, table, text } from "../../schemas/fields.ts";
import { defineStream, scan } from "../../src/catalog/stream.ts";
import { configured } from "../../src/privacy/configured_catalog.ts";
import { compareWarehouses } from "../support/truth.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { page, told } from "../sync/answers.ts";

const KEY = "a key of the tests' own";
const hashOf = (value: string) => createHmac("sha256", KEY).update(value).digest("hex");
const HOUR = 3_600_000;

const orders = defineStream({
  name: "orders",
  path: "/orders",
  mode: scan({ rows: "orders" }),
  row: record("Orders.", {
    number: id().describe("Which."),
    lines: table("order_lines", "Lines.", {
      line_no: lineId(id()).nullable().describe("Which line."),
      who: text().nullable().describe("Who ordered it."),
      word: text().nullable().describe("What it says."),
    }),
    notes: table("order_notes", "Notes.", { who: text().nullable().describe("Who.") }),
    others: table("order_others", "Others.", { word: text().nullable().describe("What.") }),
  }),
  key: ["number"],
  preset: "core",
});
const other = defineStream({
  name: "other",
  path: "/other",
  mode: scan({ rows: "other" }),
  row: record("Others.", { other: id().describe("Which.") }),
  key: ["other"],
  preset: "core",
});

const lines = [
  { line_no: "10", who: "Ada", word: "a" },
  { line_no: "20", who: "Ada", word: "a" },
  { line_no: null, who: "Ada", word: "b" },
  { line_no: null, who: "Bob", word: "b" },
];
const says = {
  "/orders": () => page({ orders: [{ number: "A", lines, notes: lines, others: lines }] }, null),
  "/other": () => page({ other: [] }, null),
};

type Privacy = Readonly<Record<string, unknown>>;
const configOf = (privacy: Privacy) => ({ streams: { defaults: { history: true } }, privacy });
const placeOf = async (make: Parameters<typeof told>[0], privacy: Privacy) => {
  const place = await told(make, [orders, other], says, configOf(privacy));
  const night = async (names: readonly string[] = []) => {
    place.clock.advance(HOUR);
    expect((await place.run({ names })).errors).toEqual([]);
  };
  const idsIn = async (name: string) =>
    (
      await place.warehouse.query<{ _line_id: string | null }>(
        `select _line_id from procurement.${name} where _deleted_at is null order by _index`,
      )
    ).map(row => row._line_id);
  return { ...place, night, idsIn };
};

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test.each([
    { what: "excluded", privacy: { exclude_columns: ["order_lines.who", "order_notes.who"] } },
    { what: "hashed", privacy: { key: KEY, hash_columns: ["order_lines.who", "order_notes.who"] } },
    { what: "masked", privacy: { mask_columns: ["order_lines.who", "order_notes.who"] } },
    {
      what: "excluded with the number",
      privacy: { exclude_columns: ["order_lines.who", "order_lines.line_no", "order_notes.who"] },
    },
    {
      what: "hashed with the number",
      privacy: { key: KEY, hash_columns: ["order_lines.who", "order_lines.line_no", "order_notes.who"] },
    },
  ])("ids follow from what is stored, not from what was: $what", async ({ what, privacy }) => {
    const isNumberKept = !what.includes("number");
    const place = await placeOf(make, {});
    const { night, idsIn, count, warehouse } = place;
    await night();
    const plain = {
      lines: await idsIn("order_lines"),
      notes: await idsIn("order_notes"),
      others: await idsIn("order_others"),
    };
    expect(plain.lines.slice(0, 2)).toEqual(["10", "20"]);

    // The rows are rewritten, and read by no run yet.
    place.configure(configOf(privacy));
    await night(["other"]);
    expect(await idsIn("order_lines")).toEqual(isNumberKept ? ["10", "20", null, null] : [null, null, null, null]);
    expect(await idsIn("order_notes")).toEqual([null, null, null, null]);
    expect(await idsIn("order_others")).toEqual(plain.others);
    expect(await count("order_lines_versions", "_line_id like '~%'")).toBe(0);
    expect(await count("order_notes_versions", "_line_id like '~%'")).toBe(0);

    await night();
    const [first, second, third, fourth] = await idsIn("order_lines");
    if (isNumberKept) expect([first, second]).toEqual(["10", "20"]);
    else if (what.startsWith("hashed")) expect([first, second]).toEqual([hashOf("10"), hashOf("20")]);
    else expect([first, second]).toEqual([expect.stringMatching(/^~/), `${first}#2`]);
    for (const own of [third, fourth, ...(await idsIn("order_notes"))]) {
      expect(own).toMatch(/^~/);
      expect([...plain.lines, ...plain.notes]).not.toContain(own);
    }

    // A warehouse that never held anything else has the same.
    const clean = await placeOf(make, privacy);
    await clean.night();
    const {
      hash_columns: hash = [],
      mask_columns: mask = [],
      exclude_columns: exclude = [],
      key,
    } = privacy as {
      readonly [name in `${"hash" | "mask" | "exclude"}_columns`]?: readonly string[];
    } & { readonly key?: string };
    const policy = { pii: "keep" as const, key, exclude, hash, mask };
    const treated = configured([orders], { streams: { settings: {} }, privacy: policy });
    const compared = await compareWarehouses(warehouse, clean.warehouse, treated);
    expect(compared.differences).toEqual([]);
    expect(compared.rows).toBe(13);
  });

  test("an id cannot be treated itself", async () => {
    const place = await placeOf(make, { exclude_columns: ["order_lines._line_id"] });
    await expect(place.night()).rejects.toThrow(/order_lines\._line_id cannot be treated: it is part of the key/);
    place.configure(configOf({ mask_columns: ["order_lines.w*"] }));
    await place.night();
    expect((await place.idsIn("order_lines")).slice(0, 2)).toEqual(["10", "20"]);
  });
});
