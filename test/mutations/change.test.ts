import { expect, test } from "vitest";
import { type Change, changed } from "./change.ts";

const source = `
export const LIMIT: number = 30;
const isSmall = (n: number): boolean => n < LIMIT;
function pick(n: number): string {
  if (n === 0) return "none";
  note(n, note(1));
  return n > 9 ? "many" : "some";
}
class File {
  async #close(): Promise<void> {
    for (const each of this.parts) await each.#close();
  }
}
`;

test.each<[name: string, change: Change, before: string, after: string]>([
  ["LIMIT", { returns: "0" }, "= 30", "= (0)"],
  ["isSmall", { returns: "true" }, "n < LIMIT", "(true)"],
  ["isSmall", { inverts: 1 }, "n < LIMIT", "n >= LIMIT"],
  ["pick", { inverts: 2 }, "n > 9", "n <= 9"],
  ["pick", { negates: 1 }, "if (n === 0)", "if (!(n === 0))"],
  ["pick", { without: "note" }, "note(n, note(1));", "undefined;"],
  ["#close", { without: "#close" }, "await each.#close();", "await undefined;"],
])("%s with %j", (name, change, before, after) => {
  expect(changed(source, name, change)).toBe(source.replace(before, after));
});

test.each<[name: string, change: Change]>([
  ["close", { returns: "undefined" }],
  ["pick", { negates: 3 }],
  ["pick", { without: "tell" }],
])("a change that finds nothing is refused: %s with %j", (name, change) => {
  expect(() => changed(source, name, change)).toThrow("expected");
});
