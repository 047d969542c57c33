import { describe, expect, test } from "vitest";
import { reasons } from "../../../src/sync/load/row_count_proof.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

/** Service, table, difference, reason. */
function proof(report: RunReport, stream: string): unknown[] {
  const { service_rows, table_rows, difference, difference_reason } = lineOf(report, stream);
  return [service_rows, table_rows, difference, difference_reason];
}

const settings = { purchase_order_details: { max_details: 15, details: { audit: 0 } } };

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("each run says what the service has, what the table has, and why that is not the same", async () => {
    const place = await scenario(
      make,
      { orders: 20, items: 12, findings: 5 },
      {
        config: { streams: { include: ["finding_stats"], settings, defaults: { max_reject_share: 1 } } },
      },
    );
    const { simulator, sync, warehouse, clock } = place;

    const first = await sync();
    expect(proof(first, "purchase_orders")).toEqual([20, 20, 0, reasons.equal]);
    expect(proof(first, "purchase_order_details")).toEqual([20, 15, -5, reasons.pending]);
    expect(proof(first, "items")).toEqual([12, 12, 0, reasons.counted]);
    expect(proof(first, "invoice_matches")).toEqual([0, 0, 0, reasons.equal]);
    expect(proof(first, "finding_stats")).toEqual([null, 1, null, reasons.measured]);

    // An idle run counts the same without a look at the tables, and stores what it reports.
    clock.advance(3_600_000);
    const idle = await sync();
    expect(lineOf(idle, "purchase_orders")).toMatchObject({ inserted: 0, updated: 0 });
    expect(proof(idle, "purchase_orders")).toEqual([20, 20, 0, reasons.equal]);
    expect(proof(idle, "purchase_order_details")).toEqual([20, 20, 0, reasons.equal]);
    const stored = await warehouse.query(
      `select service_rows, table_rows, difference, difference_reason from _tributary.stream_runs
       where run_id = '${idle.run_id}' and stream = 'items'`,
    );
    expect(stored.map(row => Object.values(row))).toEqual([[12, 12, 0, reasons.counted]]);

    // More than half of a list: they stay until the next run's scan misses them too. A row that came balances one of them.
    simulator.delete("items", 7);
    const missing = await sync({ names: ["items"] });
    expect(proof(missing, "items")).toEqual([5, 12, 7, `7 ${reasons.missing}`]);
    simulator.insert("items", 5);
    clock.advance(3_600_000);
    expect(proof(await sync({ names: ["items"] }), "items")).toEqual([10, 10, 0, reasons.counted]);

    // The list's total counts a row that has no key.
    const [po] = [...simulator.truth.rows("purchase_orders")].map(row => String(row["po_number"]));
    simulator.patch("purchase_orders", po!, { po_number: null });
    const rejected = await sync({ names: ["purchase_orders"] });
    expect(proof(rejected, "purchase_orders")).toEqual([20, 20, 0, `1 ${reasons.missing}`]);
    expect(lineOf(rejected, "purchase_orders")).toMatchObject({ rejected: 1, missing: 1 });

    // What could not be read leaves the tables as they were.
    place.look = ({ path }) => (path === "/items" ? refused(403, "forbidden") : undefined);
    const failed = await sync({ names: ["items", "purchase_order_details"] });
    expect(lineOf(failed, "items").status).toBe("failed");
    expect(proof(failed, "items")).toEqual([null, 10, null, reasons.unpublished]);
    const status = await warehouse.query<{ n: number }>(
      `select count(*) as n from _tributary.stream_runs where run_id = '${failed.run_id}' and difference_reason is null`,
    );
    expect(Number(status[0]!.n)).toBe(0);
  });

  test("a list that shows less than its total, kept rows, and rows from before start are told apart", async () => {
    const place = await scenario(make, { orders: 8, ingested: 30 });
    const { simulator, sync, configure } = place;
    // Three orders are counted and never shown.
    place.look = async ({ path, query }) => {
      if (path !== "/po") return undefined;
      const headers = { authorization: `Bearer ${simulator.key}` };
      const answer = await fetch(`${simulator.url}/api/v1/po?${query}`, { headers });
      const body = (await answer.json()) as { data: { purchase_orders: unknown[] } };
      const data = { ...body.data, purchase_orders: body.data.purchase_orders.slice(3) };
      return { status: 200, body: { ...body, data } };
    };
    const names = ["purchase_orders", "ingested"];
    expect(proof(await sync({ names }), "purchase_orders")).toEqual([8, 5, -3, reasons.hidden]);
    place.look = () => undefined;
    expect(proof(await sync({ names }), "purchase_orders")).toEqual([8, 8, 0, reasons.equal]);
    const times = [...simulator.truth.rows("ingested")].map(row => String(row["ts"])).sort();
    configure({ streams: { start: times[15]!.slice(0, 10) } });
    const [service, table, more, reason] = proof(await sync({ names: ["ingested"], full: true }), "ingested");
    expect(table).toBe(30);
    expect(service).toBeLessThan(30);
    expect(more).toBe(30 - Number(service));
    expect(reason).toBe(reasons.older);
  });
});
