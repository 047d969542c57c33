import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunReport } from "../../src/sync/run/run.ts";
import { json, simulated, workplace } from "./workplace.ts";

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

test("replay loads again what sync archived, with the service down; the options say what", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator, { views: false, archive: { path: "./archive" } });
  const names = ["items", "invoices"];
  expect((await run(["sync", ...names])).code).toBe(0);
  expect(readdirSync(join(folder, "archive", "acme")).sort()).toEqual([...names].sort());
  await simulator.close();
  expect((await run(["reset", "items", "--drop", "--yes"])).code).toBe(0);

  const again = await run(["replay", ...names, "--json"]);
  const report = json<RunReport>(again);
  expect(report).toMatchObject({ status: "succeeded", exit_code: 0, errors: [] });
  expect(
    report.streams
      .filter(({ status }) => status !== "skipped")
      .map(({ stream, inserted, unchanged, requests }) => [stream, inserted, unchanged, requests])
      .sort(),
  ).toEqual([
    ["invoices", 0, 8, 0],
    ["items", 130, 0, 0],
  ]);
  const shown = await run(["replay", "items"]);
  expect(shown.stdout).toMatch(/\nitems +succeeded +130 +0 +0 +130 /);
  expect(shown.stderr).toContain("loaded again from the archive");

  const none = await run(["replay", "items", "--from", tomorrow]);
  expect(none.code).toBe(1);
  expect(none.stdout).toContain("items: the archive holds nothing of it that could be loaded.");
  expect((await run(["replay", "--from", "2026-02-01", "--rejects"])).code).toBe(2);
  expect((await run(["replay", "items", "--rejects"])).code).toBe(0);
  const history = json<{ last_run: { command?: string } }>(await run(["status", "--json"]));
  expect(JSON.stringify(history.last_run)).toContain("replay");
});
