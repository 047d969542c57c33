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
  const place = workplace(old, { views: false });
  const { run } = place;
  await run(["sync"]);
  configured(place, moved.url);
  for (const args of [["sync"], ["sync", "--dry-run"]])
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("sync --accept-address") });
  expect(moved.requests.count("/po")).toBe(0);
  const accepted = await run(["sync", "--accept-address", "--json"]);
  expect(accepted.stderr).toMatch(/acme is kept from http\S+ from now on: 12 of 12 rows/);
  expect(json<RunReport>(accepted).streams.map(line => line.inserted + line.updated + line.deleted)).toEqual(
    Array(8).fill(0),
  );
  expect(await run(["sync", "items"])).toMatchObject({ code: 0 });
});

test("another service is refused", async () => {
  const place = workplace(await simulated({ seed: 5 }), { views: false });
  const { run } = place;
  await run(["sync", "purchase_orders"]);
  const kept = readFileSync(join(place.folder, "config.yaml"), "utf8");
  const other = await simulated({ seed: 6, sizes: { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 } });
  configured(place, other.url);
  const accept = () => run(["sync", "purchase_orders", "--accept-address"]);
  expect(await accept()).toMatchObject({ code: 2, stderr: expect.stringContaining("the key belongs to") });
  writeFileSync(join(place.folder, "config.yaml"), kept);
  expect(await run(["sync", "purchase_orders"])).toMatchObject({ code: 0 });
  expect(await run(["sync", "--accept-address", "--workers"])).toMatchObject({ code: 2 });
});

test("a warehouse is moved into another one, which the next run goes on with", async () => {
  const place = workplace(await simulated({ seed: 5 }), { views: false });
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
      /^Copied \d+ tables with \S+ rows, .*\nFrom: DuckDB \S+w\.duckdb .*\nTo: +DuckDB \S+other\.duckdb .*\n.*`tributary sync --config \S+other\.yaml`/,
    ),
  });
  const next = json<RunReport>(await run(["sync", "--json", "--config", to]));
  expect(next.streams.map(({ inserted, updated, deleted }) => inserted + updated + deleted)).toEqual(Array(8).fill(0));
  expect(await run(["move", "--to", to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("empty warehouse"),
  });
});
