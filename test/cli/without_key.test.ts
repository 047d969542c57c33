import { expect, test } from "vitest";
import { simulated, workplace } from "./workplace.ts";

test("commands that ask the service for nothing work without its key", async () => {
  const { run } = workplace(await simulated(), { archive: { path: "./archive" } });
  expect(await run(["sync", "items"])).toMatchObject({ code: 0 });
  const local = [
    ...[["status"], ["rejects"], ["config"], ["ddl"], ["reset", "items", "--dry-run"], ["replay", "items"]],
    ...[
      ["report", "--out", "report.html"],
      ["export", "--out", "out"],
      ["dbt", "--out", "dbt"],
      ["docs", "--out", "docs"],
    ],
  ];
  for (const args of local) expect(await run(args, { env: {} }), args.join(" ")).toMatchObject({ code: 0 });
  const refused = await run(["sync", "items"], { env: {} });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("variable KEY is not set") });
});
