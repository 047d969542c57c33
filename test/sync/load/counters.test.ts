import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reasons } from "../../../src/sync/load/row_count_proof.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { balance, scenario } from "../scenario.ts";

/** All but that nothing explains a difference, which would be a bug of ours. */
const known: readonly string[] = Object.values(reasons).filter(reason => reason !== reasons.unexplained);

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("whatever goes wrong, each line's rows add up, and the stored line is the reported one", async () => {
    const place = await scenario(
      make,
      { orders: 130, invoices: 60, items: 210, findings: 40, ingested: 120 },
      {
        config: { streams: { defaults: { max_reject_share: 0.5 }, settings: { ingested: { full_scan_pages: 1 } } } },
      },
    );
    const { simulator, sync, warehouse, clock } = place;
    const draw = fc.record({
      repeatRows: fc.integer({ min: 0, max: 5 }),
      unknownFields: fc.constantFrom(0, 0.2),
      wrongTypes: fc.constantFrom(0, 0.02),
      nullKeys: fc.constantFrom(0, 0.03),
      missingPagination: fc.constantFrom(0, 0.1),
      emptyPage: fc.constantFrom(0, 0.1),
      next429: fc.integer({ min: 0, max: 2 }),
    });
    const trouble = fc.sample(draw, { numRuns: 3, seed: 3 });
    for (const faults of trouble) {
      Object.assign(simulator.faults, faults);
      simulator.requests.clear();
      const report: RunReport = await sync();
      expect(report.exit_code, JSON.stringify([faults, report.errors])).toBe(0);
      for (const line of report.streams) {
        for (const said of line.difference_reason!.split("; "))
          expect([...known, "equal", "the service gives no total, the rows of its pages were counted"]).toContain(
            said.replace(/^\d+ (?=missing)/, ""),
          );
        expect(balance(line).went, `${line.stream} with ${JSON.stringify(faults)}`).toBe(balance(line).came);
        const [stored] = await warehouse.query<Record<string, unknown>>(
          `select * from _tributary.stream_runs where run_id = '${report.run_id}' and stream = '${line.stream}'`,
        );
        for (const [name, value] of Object.entries(line))
          expect(stored![name] instanceof Date ? (stored![name] as Date).toISOString() : stored![name]).toEqual(value);
      }
      // One more was sent to learn whose key it is.
      const sent = report.streams.reduce((sum, line) => sum + line.requests, 0);
      expect(simulator.requests.total - sent).toBe(simulator.requests.count("/auth/company-settings"));
      simulator.update("purchase_orders", 5);
      simulator.insert("items", 2);
      clock.advance(3_600_000);
    }
  });

  test("a clock that is set back moves no _changed_at back", async () => {
    const place = await scenario(make, { orders: 40 });
    const { simulator, sync, warehouse, clock } = place;
    const latest = async (table: string) => {
      const [row] = await warehouse.query<{ at: Date }>(`select max(_changed_at) as at from procurement.${table}`);
      return row!.at.getTime();
    };
    await sync();
    const tables = ["purchase_orders", "purchase_order_details", "purchase_order_line_items"];
    const all = async () => {
      const moments: number[] = [];
      for (const table of tables) moments.push(await latest(table));
      return moments;
    };
    let before = await all();
    for (const change of [
      () => void simulator.update("purchase_orders", 3),
      () => void simulator.delete("purchase_orders", gone),
      () => simulator.restore("purchase_orders", gone),
      () => void simulator.update("purchase_orders", gone),
    ]) {
      clock.advance(-7_200_000);
      change();
      await sync();
      const after = await all();
      for (const [i, table] of tables.entries()) expect(after[i], table).toBeGreaterThan(before[i]!);
      before = after;
    }
  });
});

const gone = ["PO-7", "PO-8"];
