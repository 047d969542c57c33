import { describe, expect, test } from "vitest";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

const order = (po_number: string, is_open: boolean, more = {}) => ({ po_number, is_open, ...more });

describe.each(modelWarehouses)("$name", ({ make }) => {
  const warehouse = suiteWarehouse(async () => {
    const warehouse = await make({
      rows: {
        purchase_orders: [
          order("a", true),
          order("b", true),
          order("c", true),
          order("d", false),
          order("gone", true, { _deleted_at: "2026-03-14T00:00:00Z" }),
          order("a", true, { _company: "beta" }),
        ],
      },
    });
    await warehouse.query(`insert into _tributary.streams
      (company, stream, table_name, "on", off_since, last_success_at, complete_to, rows, live_rows, details_pending, details_wanted, details_never) values
      ('acme', 'purchase_orders', 'purchase_orders', true, null, '2026-03-15T03:00:00Z', '2026-03-15T02:59:00Z', 5, 4, null, null, null),
      ('acme', 'purchase_order_details', 'purchase_order_details', true, null, '2026-03-12T12:00:00Z', null, 3, 3, 2, 4, 1),
      ('beta', 'purchase_order_details', 'purchase_order_details', false, '2026-03-01T12:00:00Z', null, null, 0, 0, 0, 0, 0)`);
    await warehouse.query(`insert into _tributary.details (company, stream, parent_key, parent_hash, fetched_at, outcome, attempts) values
      ('acme', 'purchase_order_details', 'a', 1, '2026-03-05T12:00:00Z', 'ok', 0),
      ('acme', 'purchase_order_details', 'b', 1, '2026-03-13T12:00:00Z', 'ok', 0),
      ('acme', 'purchase_order_details', 'd', 1, '2026-02-13T12:00:00Z', 'ok', 0),
      ('acme', 'invoice_matches', 'a', 1, '2026-01-01T12:00:00Z', 'ok', 0)`);
    await warehouse.query(`insert into _tributary.runs (run_id, command, status, started_at, finished_at, version, warnings) values
      ('r1', 'tributary sync', 'succeeded', '2026-03-14T02:00:00Z', '2026-03-14T02:05:00Z', '1.0.0', '[]'),
      ('r2', 'tributary sync', 'running', '2026-03-15T02:00:00Z', null, '1.0.0', '["careful"]')`);
    await warehouse.query(`insert into _tributary.detail_freshness (company, stream, within_days, promised, fresh, fresh_low, fresh_high,
      wrong, wrong_low, wrong_high, sampled, longest_unseen_at, updated_at) values
      ('acme', 'purchase_order_details', 2, 0.9, 0.75, 0.5, 0.875, 0.25, 0.125, 0.5, 140, '2026-02-13T12:00:00Z', '2026-03-15T02:00:00Z')`);
    const counts =
      "requests, retries, pages, rows_read, inserted, updated, unchanged, repeated, carried, missing, deleted, rejected, problems, rounded, bytes";
    await warehouse.query(`insert into _tributary.stream_runs (run_id, company, stream, status, started_at, finished_at, ${counts}, service_rows, table_rows, difference, difference_reason, error) values
      ('r1', 'acme', 'purchase_orders', 'succeeded', '2026-03-14T02:00:00Z', '2026-03-14T02:01:30.250Z', 3, 1, 2, 8, 5, 1, 1, 0, 0, 1, 2, 1, 4, 2, 900, 5, 4, -1, 'one was held back', null),
      ('r2', 'acme', 'purchase_orders', 'running', '2026-03-15T02:00:00Z', null, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, null, null, null, null)`);
    return warehouse;
  });

  test("a stream's freshness is its last success and its last run; a list has no details", async () => {
    const [line] = await warehouse.query(
      `select cast(last_success_at as varchar) is not null as known, days_since_success, live_rows, all_rows, last_run_id, last_run_status,
        last_run_problems, last_run_rejects, details_wanted, never_fetched_share, oldest_detail_at, open_orders
      from procurement_analytics.data_freshness where _company = 'acme' and stream = 'purchase_orders'`,
    );
    expect(Object.values(line!)).toEqual([true, 0, 4, 5, "r2", "running", 0, 0, null, null, null, null]);
  });

  test("the age of details, of all and of open orders", async () => {
    const lines = await warehouse.query(
      `select _company, is_on, days_since_success, details_wanted, details_never_fetched, never_fetched_share, details_pending,
        oldest_detail_days, median_detail_days, open_orders, open_never_fetched, round(cast(open_never_fetched_share as decimal(18, 9)), 3) as share,
        open_oldest_detail_days, open_median_detail_days, last_run_id
      from procurement_analytics.data_freshness where stream = 'purchase_order_details' order by 1`,
    );
    expect(lines.map(Object.values)).toEqual([
      ["acme", true, 3, 4, 1, 0.25, 2, 30, 10, 3, 1, "0.333", 10, 10, null],
      ["beta", false, null, 0, 0, null, 0, null, null, 1, 1, "1", null, null, null],
    ]);
  });

  test("what is promised of details stands beside what random looks say, for streams that have any", async () => {
    const lines = await warehouse.query(
      `select _company, promised_within_days, promised_share, estimated_fresh_share, estimated_fresh_low, estimated_fresh_high,
        estimated_wrong_share, estimated_wrong_low, estimated_wrong_high, estimated_looks
      from procurement_analytics.data_freshness where stream = 'purchase_order_details' order by 1`,
    );
    const numbers = lines.map(({ _company, ...line }) => [
      _company,
      ...Object.values(line).map(value => value && Number(value)),
    ]);
    expect(numbers).toEqual([
      ["acme", 2, 0.9, 0.75, 0.5, 0.875, 0.25, 0.125, 0.5, 140],
      ["beta", ...Array(9).fill(null)],
    ]);
  });

  test("a run's quality: its time, its share of rejects, what table and service have", async () => {
    const lines = await warehouse.query(
      `select run_id, _company, stream, command, run_status, status, duration_seconds, requests, rows_read, rejected, reject_share,
        problems, service_rows, table_rows, difference, difference_reason, error
      from procurement_analytics.run_quality order by run_id`,
    );
    expect(lines.map(Object.values)).toEqual([
      [
        ...["r1", "acme", "purchase_orders", "tributary sync", "succeeded", "succeeded", "90.25", 3, 8, 1, 0.125, 4],
        ...[5, 4, -1, "one was held back", null],
      ],
      [
        ...["r2", "acme", "purchase_orders", "tributary sync", "running", "running", null, 0, 0, 0, null, 0],
        ...Array(5).fill(null),
      ],
    ]);
  });
});
