import { describe, expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { serving } from "../../hostile/service.ts";
import { interposed, refused } from "../../support/interposed.ts";
import { bench } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";

const sizes = { orders: 3, invoices: 2, items: 4, findings: 0, ingested: 0 };
const names = ["purchase_orders", "items"];
const envelope = JSON.stringify({ error: { code: "NOT_FOUND", message: "no such route", request_id: "r" } });

type Stranger = readonly [name: string, status: number, headers: Record<string, string>, body: string, told: RegExp];

const strangers: readonly Stranger[] = [
  ["a web page", 200, { "content-type": "text/html" }, "<html>Welcome", /status 200 and a web page/],
  ["a page not found", 404, { "content-type": "text/html" }, "<html>Nothing", /status 404 and a web page/],
  ["another program", 404, { "content-type": "application/json" }, '{"detail":"Not Found"}', /status 404 without/],
  ["a wrong path of the service", 404, { "content-type": "application/json" }, envelope, /no such route/],
  ["a redirect", 301, { location: "https://portal.example.com/" }, "", /a redirect to https:\/\/portal\.example\.com/],
];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a stranger at the address is told, and the warehouse is bound to nothing", async () => {
    let answer: Stranger = strangers[0]!;
    const wrong = await serving((_request, response) => {
      const [, status, headers, body] = answer;
      response.writeHead(status, headers).end(body);
    });
    const simulator = await startSimulator({ sizes });
    onTestFinished(() => simulator.close());
    const warehouse = await make();
    const mistaken = bench({ simulator: { url: wrong, key: simulator.key }, warehouse });
    for (answer of strangers) {
      const report = await mistaken.sync({ names });
      expect(report.exit_code).toBe(1);
      expect(report.errors).toMatchObject([{ message: expect.stringMatching(answer[4]) }]);
    }
    const right = bench({ simulator, warehouse, clock: mistaken.clock });
    expect(await right.sync({ names })).toMatchObject({ exit_code: 0, errors: [] });
    expect(await warehouse.query("select count(*) as n from procurement.items")).toEqual([{ n: 4 }]);
    // Now it is bound: the other address is refused before anything is asked of it.
    await expect(mistaken.sync({ names })).rejects.toThrow(/keeps company .* from http:.* but the configuration/);
    await expect(mistaken.dryRun({ names })).rejects.toMatchObject({ exitCode: 2 });
  });

  test("a key that may not read whose it is has the first list show that the address is the service's", async () => {
    const service = await startSimulator({ sizes });
    onTestFinished(() => service.close());
    const asked: string[] = [];
    const simulator = await interposed(service, ({ path, query }) => {
      asked.push(`${path} ${query.get("limit")}`);
      return path === "/auth/company-settings" ? refused(403, "FORBIDDEN") : undefined;
    });
    const { sync } = bench({ simulator, warehouse: await make() });
    expect(await sync({ names })).toMatchObject({ exit_code: 0 });
    expect(asked.filter(each => each === "/po 1")).toHaveLength(1);
    asked.length = 0;
    expect(await sync({ names })).toMatchObject({ exit_code: 0 });
    expect(asked.filter(each => each === "/po 1")).toEqual([]);
  });
});
