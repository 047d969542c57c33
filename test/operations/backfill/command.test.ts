import { expect, test } from "vitest";
import type { Estimate } from "../../../src/operations/estimate/estimate.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { json, simulated, workplace } from "../../cli/workplace.ts";

/** The command works by the machine's clock, so the days are counted from it. */
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const begin = daysAgo(270);
const from = ["--from", begin];

test("backfill tells what it needs, asks above the limit, stops, refuses other dates, and goes on", async () => {
  const simulator = await simulated({
    sizes: { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 4_000 },
  });
  const { run } = workplace(simulator, { backfill: { confirm_above: 5 }, views: false });
  const dry = await run(["backfill", "ingested", ...from, "--dry-run", "--json"]);
  const told = await run(["backfill", "ingested", ...from, "--dry-run"]);
  const unasked = await run(["backfill", "ingested", ...from]);
  expect(json<Estimate>(dry)).toMatchObject({ dry_run: true, at_least: false, in_flight: 8 });
  expect(told.stdout).toMatch(/\ningested +\d\d +\d+ windows, about [4-7] rows a day by a look into \d of them\n/);
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("backfill.confirm_above (5)") });
  expect(unasked.stderr).toContain("say --yes");

  const stopped = await run(["backfill", "ingested", ...from, "--yes", "--max-requests", "13"]);
  expect(stopped).toMatchObject({ code: 5, stdout: expect.stringContaining("`tributary backfill --resume` goes on") });
  const other = await run(["backfill", "ingested", "--from", daysAgo(240), "--yes"]);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining(`from ${begin} up to now is unfinished`) });
  const report = json<RunReport>(await run(["backfill", "--resume", "--json"]));
  expect(report).toMatchObject({ exit_code: 0, status: "succeeded" });
  expect(report.streams.map(line => line.stream)).toEqual(["ingested"]);
  const nothing = await run(["backfill", "--resume"]);
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("no backfill is unfinished") });
});
