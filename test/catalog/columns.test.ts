import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  anyJson,
  count,
  flag,
  id,
  inRow,
  lineId,
  money,
  named,
  record,
  table,
  text,
  volatile,
} from "../../schemas/fields.ts";
import {
  addedColumn,
  type Column,
  INDEX_COLUMN,
  LINE_ID_COLUMN,
  snakeCase,
  type Table,
  tablesOf,
} from "../../src/catalog/columns.ts";

const tables = (shape: z.ZodRawShape, more: { key?: string[]; added?: Column[]; volatile?: string[] } = {}) =>
  tablesOf({
    name: "orders",
    row: record("Orders of the test.", { number: id().describe("Number of the order."), ...shape }),
    key: more.key ?? ["number"],
    added: more.added ?? [],
    volatile: more.volatile ?? [],
  });

const names = (subject: Table) => subject.columns.map(column => column.name);

function column(subject: Table, name: string): Column {
  const found = subject.columns.find(candidate => candidate.name === name);
  if (found === undefined) throw new Error(`no column ${name} among ${names(subject).join(", ")}`);
  return found;
}

describe("what a field says about itself", () => {
  const inEuro = inRow("currency");
  it.each([
    ["described last", volatile(money(inEuro)).nullable().describe("Amount.")],
    ["described first", volatile(money(inEuro).describe("Amount.")).nullable()],
    ["nullable inside volatile", volatile(money(inEuro).nullable().describe("Amount."))],
    ["described inside nullable inside volatile", volatile(money(inEuro).describe("Amount.").nullable())],
    ["described outside everything", volatile(money(inEuro).nullable()).describe("Amount.")],
  ])("survives its wrappers: %s", (_, field) => {
    const { main } = tables({ amount: field });
    expect(column(main, "amount")).toEqual({
      name: "amount",
      path: ["amount"],
      source: "row",
      kind: "money",
      nullable: true,
      volatile: true,
      currency: { in: "row", column: "currency" },
      description: "Amount.",
    });
  });

  it.each([
    ["inside volatile and nullable", volatile(named("total", count()).nullable())],
    ["outside volatile", named("total", volatile(count()))],
    ["around nullable", named("total", volatile(count().nullable()))],
  ])("keeps another column name: %s", (_, field) => {
    const { main } = tables({ sum: field });
    expect(column(main, "total")).toMatchObject({ path: ["sum"], kind: "count", volatile: true });
  });

  it("does not spill from one field to another made by the same kind", () => {
    const { main } = tables({ a: volatile(count()).describe("First."), b: count().describe("Second.") });
    expect(column(main, "b")).toMatchObject({ volatile: false, description: "Second." });
  });
});

describe("the main table", () => {
  it("takes its name from the plan and its comment from the record", () => {
    const { main } = tables({ note: text() });
    expect(main).toMatchObject({ name: "orders", description: "Orders of the test.", path: [], key: ["number"] });
    expect(names(main)).toEqual(["number", "note"]);
  });

  it("prefixes the fields of a nested object, which may all be missing", () => {
    const { main } = tables({ trends: z.object({ current: z.object({ grandTotal: count() }), open: flag() }) });
    expect(names(main)).toEqual(["number", "trends_current_grand_total", "trends_open"]);
    expect(column(main, "trends_current_grand_total")).toMatchObject({
      path: ["trends", "current", "grandTotal"],
      nullable: true,
    });
  });

  it("prefixes a nested object that may be null", () => {
    expect(names(tables({ ship: z.object({ to: text() }).nullable() }).main)).toEqual(["number", "ship_to"]);
  });

  it("gives a reserved word an underscore, but not one that has a prefix", () => {
    const { main } = tables({ user: text(), limit: count(), scope: z.object({ all: count() }) });
    expect(names(main)).toEqual(["number", "user_", "limit_", "scope_all"]);
    expect(column(main, "user_").path).toEqual(["user"]);
  });

  it("puts added key columns first and other added columns last", () => {
    const { main } = tables(
      { note: text() },
      {
        key: ["day", "number"],
        added: [
          addedColumn("list_note", "page", "text", "Of the page."),
          addedColumn("day", "context", "date", "Day."),
        ],
      },
    );
    expect(names(main)).toEqual(["day", "number", "note", "list_note"]);
  });

  it("prefers a field of the row to an added column of the same name", () => {
    const { main } = tables({}, { added: [addedColumn("number", "context", "id", "The parent's.")] });
    expect(names(main)).toEqual(["number"]);
    expect(column(main, "number").source).toBe("row");
  });

  it("marks columns as volatile that the plan names", () => {
    const { main } = tables({ note: text(), remark: text() }, { volatile: ["note"] });
    expect(main.columns.filter(candidate => candidate.volatile).map(candidate => candidate.name)).toEqual(["note"]);
  });
});

describe("child tables", () => {
  const lines = { line_no: id().nullable().describe("Line."), number: text().describe("Another number.") };

  it("take their name from the schema, or the parent's singular and the field", () => {
    const { children } = tables({
      lines: table("order_positions", "Positions.", lines),
      priceMoves: z.array(z.object(lines)),
    });
    expect(children.map(child => child.name)).toEqual(["order_positions", "order_price_moves"]);
    expect(children.map(child => child.path)).toEqual([["lines"], ["priceMoves"]]);
    expect(children[0]?.description).toBe("Positions.");
  });

  it("begin with the parent's key and the position, and rename their own field of that name", () => {
    const child = tables({ lines: table("order_lines", "Lines.", lines) }).children[0]!;
    expect(child.key).toEqual(["number", INDEX_COLUMN]);
    expect(names(child)).toEqual(["number", INDEX_COLUMN, LINE_ID_COLUMN, "line_no", "number_"]);
    expect(column(child, "number")).toMatchObject({ source: "context", path: ["number"], kind: "id", nullable: false });
    expect(column(child, "number_")).toMatchObject({ source: "row", path: ["number"], kind: "text" });
  });

  it("have a column that tells their rows apart, which is no part of the key and moves nothing", () => {
    const numbered = { ...lines, number: lineId(text()).describe("Another number.") };
    const [plain, other] = tables({ a: table("a", "A.", lines), b: table("b", "B.", numbered) }).children;
    const own = column(plain!, LINE_ID_COLUMN);
    expect(own).toMatchObject({ source: "context", kind: "id", nullable: true, volatile: true });
    expect(own.description).toMatch(/^What tells the row .*: ~ and a hash of the row's values; of equal/);
    expect(column(other!, LINE_ID_COLUMN).description).toContain(
      ": number_ or, where that is null or another row's too, ~ and",
    );
    expect([column(other!, "number_").identifies, column(plain!, "number_").identifies]).toEqual([true, undefined]);
  });

  it("come from an array within a nested object and from one that may be null", () => {
    const { main, children } = tables({
      totals: z.object({ by_day: table("order_days", "Days.", { total: count() }), open: count() }),
      notes: table("order_notes", "Notes.", { note: text() }).nullable(),
    });
    expect(names(main)).toEqual(["number", "totals_open"]);
    expect(children.map(child => [child.name, child.path])).toEqual([
      ["order_days", ["totals", "by_day"]],
      ["order_notes", ["notes"]],
    ]);
  });

  it("do not come from json()", () => {
    expect(tables({ entries: anyJson() }).children).toEqual([]);
  });
});

describe("schemas that cannot be stored", () => {
  const refused: [string, () => unknown, RegExp][] = [
    ["a field without a kind", () => tables({ note: z.string() }), /note: a field needs a kind/],
    [
      "an array of scalars",
      () => tables({ tags: z.array(z.string()) }),
      /tags: an array of anything but objects is a json/,
    ],
    [
      "an array of objects within one",
      () => tables({ lines: table("order_lines", "Lines.", { parts: z.array(z.object({ no: id() })) }) }),
      /order_lines: an array of objects within an array of objects \(parts\)/,
    ],
    [
      "a key that is no column",
      () => tables({}, { key: ["code"] }),
      /orders: its key names code, which its schema does not have/,
    ],
    [
      "a key that may be null",
      () => tables({ code: id().nullable() }, { key: ["code"] }),
      /orders: its key names code, which may be null/,
    ],
    [
      "a key within a nested object",
      () => tables({ head: z.object({ code: id() }) }, { key: ["head_code"] }),
      /orders: its key names head_code, which may be null/,
    ],
  ];
  it.each(refused)("%s", (_, make, message) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});

describe("snake case", () => {
  it.each([
    ["requiresApproval", "requires_approval"],
    ["total_spend_30d", "total_spend_30d"],
    ["hasPollQuery2Go", "has_poll_query2_go"],
    ["po_number", "po_number"],
  ])("%s becomes %s", (field, expected) => {
    expect(snakeCase(field)).toBe(expected);
  });
});
