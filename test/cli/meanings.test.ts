import { expect, test } from "vitest";
import { json, simulated, workplace } from "./workplace.ts";

test("meanings shows what rows are taken for and what a line would change, and refuses what is none", async () => {
  const { run } = workplace(
    await simulated({ sizes: { invoices: 30, orders: 10, items: 2, findings: 3, ingested: 5 } }),
  );
  expect(await run(["meanings"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("run `tributary sync` first"),
  });
  expect((await run(["sync", "--no-progress", "--log-level", "error"])).code).toBe(0);
  const shown = await run(["meanings", "credit", "paid"]);
  expect([shown.code, shown.stderr]).toEqual([0, ""]);
  expect(shown.stdout).toMatch(/^credit\n30 rows of invoices: \d+ are taken for credits, left out of spend/);
  expect(shown.stdout).toContain("No line of the configuration says which: set meanings.paid");
  expect(shown.stdout).toMatch(/invoices\.payment_status +rows +paid invoices\n/);

  const tried = await run(["meanings", "credit", "--json", "--try", "credit.doc_type: ['*']"]);
  const { meanings, changes } = json<{
    meanings: { columns: { values: { value: string | null; rows: number; yes: number }[] }[] }[];
    changes: { rows: number }[];
  }>(tried);
  const typed = meanings[0]!.columns[0]!.values.filter(({ value }) => value !== null);
  const untaken = typed.reduce((sum, { rows, yes }) => sum + rows - yes, 0);
  expect(untaken).toBeGreaterThan(0);
  expect(changes.reduce((sum, { rows }) => sum + rows, 0)).toBe(untaken);
  for (const [line, why] of [
    ["credit.doc_type", "expected a line such as"],
    ["credit.doc_type: gut", "or a list of values"],
    ["kredit.doc_type: [gut]", "expected a line such as"],
    [
      "credit.doc_tpe: [gut]",
      "meanings.credit.doc_tpe: expected a column of invoices, got doc_tpe; did you mean doc_type?",
    ],
    ["credit.total_amount: [gut]", "expected negative or positive or filled"],
  ] as const)
    expect(await run(["meanings", "--try", line])).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await run(["meanings", "owed"])).toMatchObject({ code: 2, stderr: expect.stringContaining("got owed") });
});
