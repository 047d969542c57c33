import { describe, expect, test } from "vitest";
import { id, lineId, quantity, table, text, volatile } from "../../../schemas/fields.ts";
import { scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";

const HOUR = 3_600_000;

const orders = streamOf(
  "orders",
  {
    number: id(),
    lines: table("order_lines", "Lines.", {
      line_no: lineId(id()).nullable(),
      word: text().nullable(),
      days: volatile(quantity()).nullable(),
    }),
    notes: table("order_notes", "Notes.", { word: text().nullable() }),
  },
  { mode: scan({ rows: "orders" }) },
);

interface Line {
  readonly line_no?: string | null;
  readonly word: string;
  readonly days?: number;
}

/** One order whose lines, which are its notes too, a test changes between runs. */
async function ordered(make: Parameters<typeof told>[0]) {
  let lines: readonly Line[] = [];
  const says = {
    "/orders": () => page({ orders: [{ number: "A", lines, notes: lines }] }, null),
  };
  const config = { views: true, streams: { defaults: { history: true } } };
  const place = await told(make, [orders], says, config);
  const { warehouse, clock } = place;
  const idsIn = async (table: string, where = "_deleted_at is null") =>
    (
      await warehouse.query<{ word: string; _line_id: string | null }>(
        `select word, _line_id from procurement.${table} where ${where} order by _index`,
      )
    ).map(row => [row.word, row._line_id] as const);
  /** What the order has after a run in which it has these lines. */
  const shows = async (...next: readonly Line[]) => {
    lines = next;
    clock.advance(HOUR);
    const report = await place.run({ catalogue: [orders] });
    expect(report.errors).toEqual([]);
    const now = clock.date().toISOString();
    return { lines: await idsIn("order_lines"), notes: new Map(await idsIn("order_notes")), report, now };
  };
  return {
    ...place,
    idsIn,
    shows,
    async expectOneVersionEach() {
      for (const table of ["order_lines", "order_notes"]) {
        const current = await idsIn(`${table}_versions`, "_is_current");
        expect(current).toEqual(await idsIn(table));
        expect(new Set(current.map(([, own]) => own)).size).toBe(current.length);
      }
    },
  };
}

const [a, b, c]: Line[] = [
  { line_no: "10", word: "a" },
  { line_no: "20", word: "b" },
  { line_no: "30", word: "c" },
];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("lines keep their ids when they are listed in another order, and when one comes before them", async () => {
    const { shows, expectOneVersionEach, warehouse, verify } = await ordered(make);
    const first = await shows(a!, b!, c!);
    expect(first.lines).toEqual([
      ["a", "10"],
      ["b", "20"],
      ["c", "30"],
    ]);
    expect(new Set(first.notes.values()).size).toBe(3);
    await expectOneVersionEach();

    const reordered = await shows(c!, a!, b!);
    expect(new Map(reordered.lines)).toEqual(new Map(first.lines));
    expect(reordered.notes).toEqual(first.notes);
    const inserted = await shows({ line_no: "5", word: "new" }, a!, b!, c!);
    expect(new Map(inserted.lines.slice(1))).toEqual(new Map(first.lines));
    expect(new Map([...inserted.notes].slice(1))).toEqual(first.notes);
    await expectOneVersionEach();

    // Then a line is left out: those behind it move up, and what is soft-deleted is the last place, not the line.
    const fewer = await shows(a!, c!);
    expect(fewer.lines).toEqual([
      ["a", "10"],
      ["c", "30"],
    ]);
    expect(fewer.notes).toEqual(new Map([...first.notes].filter(([word]) => word !== "b")));
    await expectOneVersionEach();
    expect(await warehouse.query("select word from procurement_analytics.order_lines where _line_id = '30'")).toEqual([
      { word: "c" },
    ]);
    expect(await verify({ catalogue: [orders] })).toMatchObject({ exit_code: 0 });

    // A line's own story, though it stood in four places.
    const story = await warehouse.query<{ word: string; _index: unknown }>(
      "select word, _index from procurement.order_lines_versions where _line_id = '30' order by _valid_from",
    );
    expect(story.map(row => [row.word, Number(row._index)])).toEqual([
      ["c", 2],
      ["c", 0],
      ["c", 3],
      ["c", 1],
    ]);
    const then = await warehouse.look(({ query }) =>
      query<{ word: string; _line_id: string }>(
        `select word, _line_id from procurement.order_lines_as_of('${reordered.now}') order by _index`,
      ),
    );
    expect(then.map(row => [row.word, row._line_id])).toEqual(reordered.lines);
  });

  test("equal lines, lines without a number and numbers that come twice are told apart the same way every time", async () => {
    const { shows, expectOneVersionEach, count } = await ordered(make);
    const [twice, none] = [
      [
        { line_no: "7", word: "x" },
        { line_no: "7", word: "y" },
      ],
      { line_no: null, word: "n" },
    ] as const;
    const first = await shows(...twice, none, none, a!);
    const own = new Map(first.lines.map(([word, given]) => [word, given]));
    expect(first.lines.at(-1)).toEqual(["a", "10"]);
    expect(first.lines[3]).toEqual(["n", `${first.lines[2]![1]}#2`]);
    expect(new Set(first.lines.map(([, given]) => given)).size).toBe(5);
    const again = await shows(none, twice[1], a!, none, twice[0]);
    expect(new Set(again.lines.map(line => line.join()))).toEqual(new Set(first.lines.map(line => line.join())));
    await expectOneVersionEach();

    // One of them gets a number of its own: so has the other one then. Nothing else has changed in that, nor ended.
    const before = await count("order_lines_versions");
    const parted = await shows(none, { line_no: "8", word: "y" }, a!, none, twice[0]);
    expect(parted.lines.filter(([word]) => word === "x" || word === "y")).toEqual([
      ["y", "8"],
      ["x", "7"],
    ]);
    expect(own.get("x")).toMatch(/^~/);
    expect(await count("order_lines_versions")).toBe(before + 1);
    await expectOneVersionEach();
    const quiet = await shows(none, { line_no: "8", word: "y" }, a!, none, twice[0]);
    expect(quiet.report.streams).toMatchObject([{ updated: 0, inserted: 0, unchanged: 1 }]);
  });

  test("what changes by itself changes no id, and a line that moves keeps none of the other's", async () => {
    const { shows, expectOneVersionEach } = await ordered(make);
    const first = await shows({ word: "a", days: 1 }, { word: "b", days: 1 });
    const older = await shows({ word: "a", days: 2 }, { word: "b", days: 3 });
    expect(older.lines).toEqual(first.lines);
    const moved = await shows({ word: "b", days: 3 }, { word: "a", days: 2 });
    expect(new Map(moved.lines)).toEqual(new Map(first.lines));
    await expectOneVersionEach();
  });
});
