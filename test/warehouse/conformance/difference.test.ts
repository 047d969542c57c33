import { describe, expect, test } from "vitest";
import { store } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";
import { scan } from "./scan.ts";

const known = ["a", "b", "c", "d"].map(id => ({ id, text: "one" }));

describe.each(warehouses)("$name", ({ make }) => {
  const nothing = { inserted: 0, updated: 0, refreshed: 0, touched: 0, missing: 0, missedBefore: 0 };

  test("a scan is told apart from what is known: new, changed, missing, the same", async () => {
    const destination = await make();
    await store(destination, known);
    expect(await scan(destination, known)).toEqual([{ ...nothing, staged: 4, distinct: 4, known: 4, live: 4 }, []]);
    const rows = [{ id: "a", text: "one" }, { id: "b", text: "two" }, { id: "e" }];
    expect(await scan(destination, rows)).toEqual([
      { ...nothing, staged: 3, distinct: 3, inserted: 1, updated: 1, touched: 2, missing: 2, known: 4, live: 4 },
      ["c", "d"],
    ]);
    expect(await scan(destination, [])).toEqual([
      { ...nothing, staged: 0, distinct: 0, missing: 4, known: 4, live: 4 },
      ["a", "b", "c", "d"],
    ]);
  });

  test("keys that come twice count once, whether they are known or not, and the last one is what they are", async () => {
    const destination = await make();
    await store(destination, known);
    const twice = { staged: 4, distinct: 3, known: 4, live: 4 };
    const unchanged = [known[0], known[1], known[1], known[2]];
    expect(await scan(destination, unchanged)).toEqual([{ ...nothing, ...twice, missing: 1 }, ["d"]]);
    const changed = [known[0], { id: "b", text: "two" }, known[1], known[2]];
    const of = (example: string) => ({ conflicting: { keys: 1, example } });
    expect(await scan(destination, changed)).toEqual([{ ...nothing, ...twice, ...of("b"), missing: 1 }, ["d"]]);
    const fresh = [known[0], { id: "e" }, known[2], { id: "e", text: "five" }];
    expect(await scan(destination, fresh)).toEqual([
      { ...nothing, ...twice, ...of("e"), inserted: 1, touched: 1, missing: 2 },
      ["b", "d"],
    ]);
  });
});
