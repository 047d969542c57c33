import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunReport } from "../../src/sync/run/run.ts";
import { json, simulated, type Workplace, workplace } from "./workplace.ts";

/** Has the configuration name another address. */
function configured({ folder }: Workplace, url: string): void {
  const file = join(folder, "config.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/base_url: .*/, `base_url: ${url}`));
}

test("a service that has moved is compared with what is kept, and no row is loaded again", async () => {
  const [old, moved] = [await simulated({ seed: 5 }), await simulated({ seed: 5 })];
  const place = workplace(old);
  const { run } = place;
  expect(await run(["move", "--base-url", moved.url])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Nothing has been loaded yet"),
  });
  await run(["sync"]);
  configured(place, moved.url);
  for (const args of [["sync"], ["sync", "--dry-run"]])
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("tributary move") });
  expect(moved.requests.count("/po")).toBe(0);

  const unasked = await run(["move"]);
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("say --yes") });
  expect(unasked.stdout).toMatch(/keeps acme from http:\S+ with the id \S+, and the key belongs to \S+ at http/);
  expect(unasked.stdout).toMatch(/Of 12 rows that the warehouse knows 12 are there\./);
  expect((await run(["move", "--dry-run"])).stdout).toContain("Nothing was changed");
  expect(await run(["move", "--yes"])).toMatchObject({ code: 0, stdout: expect.stringContaining("now.") });
  const next = json<RunReport>(await run(["sync", "--json"]));
  expect(next.streams.map(({ inserted, updated, deleted }) => inserted + updated + deleted)).toEqual(Array(8).fill(0));
  expect((await run(["move"])).stdout).toContain("by that address");
});

test("another service is refused, whatever was said in advance", async () => {
  const place = workplace(await simulated({ seed: 5 }));
  const other = await simulated({ seed: 6, sizes: { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 } });
  await place.run(["sync", "purchase_orders"]);
  const refused = await place.run(["move", "--base-url", other.url, "--yes"]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/another one.*Nothing was changed.*reset '\*' --drop/),
  });
  expect(await place.run(["sync", "purchase_orders"])).toMatchObject({ code: 0 });
  expect(await place.run(["move", "--base-url", "nowhere"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--base-url: expected"),
  });
});

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
  const both = await run(["move", "--to", to, "--company", "acme"]);
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("leave --company out") });
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
