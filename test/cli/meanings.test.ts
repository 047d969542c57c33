import { expect, test } from "vitest";
import { json, simulated, workplace } from "./workplace.ts";

test("meanings shows what rows are taken for, and refuses a name of no meaning", async () => {
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

  const { meanings } = json<{ meanings: { meaning: string; columns: { column: string }[] }[] }>(
    await run(["meanings", "credit", "--json"]),
  );
  expect(meanings).toMatchObject([{ meaning: "credit", columns: [{ column: "doc_type" }] }]);
  const wrong = json<{ error: unknown }>(await run(["meanings", "credits", "--json"]));
  expect(wrong.error).toMatchObject({
    ...{ code: "command.meanings_unknown", exit_code: 2 },
    fields: { name: "credits", known: expect.arrayContaining(["credit", "paid", "resolved"]), near: "credit" },
  });
});
