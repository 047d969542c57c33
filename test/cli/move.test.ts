import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunReport } from "../../src/sync/run/run.ts";
import { json, simulated, workplace } from "./workplace.ts";

test("a warehouse is moved into another one, which the next run goes on with", async () => {
  const place = workplace(await simulated({ seed: 5 }));
  const { folder, run } = place;
  const to = join(folder, "other.yaml");
  writeFileSync(to, readFileSync(join(folder, "config.yaml"), "utf8").replace(/path: .*/, "path: ./other.duckdb"));
  expect(await run(["move", "--to", to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nothing has been loaded"),
  });
  await run(["sync"]);
  expect(await run(["move"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--to") });
  expect(await run(["move", "--to", to])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /is in DuckDB \S+other\.duckdb \(schemas procurement and _tributary\) now: \d+ tables, \S+ rows, each compared/,
    ),
  });
  const next = json<RunReport>(await run(["sync", "--json", "--config", to]));
  expect(next.streams.map(({ inserted, updated, deleted }) => inserted + updated + deleted)).toEqual(Array(8).fill(0));
  expect(await run(["move", "--to", to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("empty warehouse"),
  });
});
