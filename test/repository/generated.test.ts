import { expect, test } from "vitest";
import { streams } from "../../streams/index.ts";
import { coreTablesOf } from "../schemas/names_file.ts";
import { withCounts } from "./counts.ts";
import { generated, outcomeOf } from "./generate.ts";

test.each(generated)("$path is made from $from", async file => {
  const { path, present, expected } = await outcomeOf(file);
  // Lines, so that a difference is shown as the lines that differ.
  expect(present.split("\n"), `${path} is out of date: run \`npm run generate\``).toEqual(expected.split("\n"));
});

test("counts of streams and tables are put in wherever a page gives one", () => {
  const counted = withCounts("100 streams, 100 tables. The core: eight streams that become 1 tables", streams);
  const [all, tables, core] = counted.match(/\d+/g)!.map(Number);
  expect([all, core]).toEqual([streams.length, coreTablesOf(streams).length]);
  expect(tables).toBeGreaterThan(all!);
  expect(withCounts("a page of 25 streams and 30 tables", streams)).toBe("a page of 25 streams and 30 tables");
});
