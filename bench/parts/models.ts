import { join } from "node:path";
import { type Figure, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { inTurns } from "../rounds.ts";
import { startService } from "../service.ts";
import { type BenchWarehouse, makeWarehouse } from "../warehouse.ts";

const INVOICES = 240_000;
const MOST_MS: Readonly<Record<Warehouse, number>> = { duckdb: 3_000, postgres: 10_000 };

/** As `views` of the configuration: worked out when they are asked for, or kept as tables. */
const KINDS = [true, "materialized"] as const;

/** The wall time of a report over many invoices, and of a sync that works out anew the models that are kept as tables. */
export const models: Part = {
  name: "models",
  async measure(laboratory) {
    const invoices = laboratory.size(INVOICES, 100);
    const service = await startService({ sizes: { orders: 20, invoices: 20, items: 5, findings: 5, ingested: 20 } });
    const figures: Figure[] = [];
    try {
      for (const views of KINDS) {
        const how = `${invoices.toLocaleString("en-US")} invoices, views: ${views}`;
        const places = new Map<Warehouse, BenchWarehouse>();
        for (const warehouse of laboratory.warehouses) {
          const place = await placeOf(laboratory, warehouse, service, views);
          places.set(warehouse, await filled(laboratory, warehouse, place, invoices));
          // What was put into the tables by hand is no news for a run.
          await service.update({ purchase_orders: 1, invoices: 1, findings: 1, ingested: 1 });
          const run = await place.run(`${warehouse} sync, ${views}`, ["sync"]);
          figures.push({
            part: "models",
            warehouse,
            unit: "ms",
            figure: `sync over ${how}`,
            measured: run.load.wallMs,
          });
        }
        const rounds = await inTurns(laboratory, "report", warehouse => {
          const place = places.get(warehouse)!;
          return place.look(`${warehouse} report`, ["report", "--out", join(place.folder, "report.html")]);
        });
        for (const place of places.values()) await place.remove();
        for (const [warehouse, looks] of rounds)
          figures.push({
            ...{ part: "models", warehouse, unit: "ms" },
            figure: `report over ${how}, wall`,
            measured: median(looks.map(({ wallMs }) => wallMs)),
            target: { of: "measured", most: MOST_MS[warehouse] },
          });
      }
      return figures;
    } finally {
      await service.close();
    }
  },
};

async function placeOf(
  laboratory: Laboratory,
  warehouse: Warehouse,
  service: Parameters<typeof makeWarehouse>[2],
  views: (typeof KINDS)[number],
) {
  const config = { views, ...(warehouse === "duckdb" ? { destination: { readers: "direct" } } : {}) };
  const place = await makeWarehouse(laboratory, warehouse, service, config);
  await place.run(`${warehouse} first load`, ["sync"]);
  return place;
}

/** Of three years, 400 vendors, an order for every fourth invoice; each with a currency in the feed, three of four with lines. */
async function filled(
  { say }: Laboratory,
  warehouse: Warehouse,
  place: BenchWarehouse,
  invoices: number,
): Promise<BenchWarehouse> {
  say(`  ${warehouse}, ${invoices.toLocaleString("en-US")} invoices`);
  const orders = Math.ceil(invoices / 4);
  const insert = (table: string, rows: number, columns: Readonly<Record<string, string>>) =>
    place.execute(`insert into procurement.${table} (_company, _changed_at, ${Object.keys(columns).join(", ")})
      select 'acme', cast('2026-01-01 00:00:00+00' as timestamptz), ${Object.values(columns).join(", ")}
      from generate_series(1, ${rows}) as t(i)`);
  const day = "current_date - cast(i % 1095 as integer)";
  const vendor = { vendor_id: "'V-' || i % 400", vendor_name: "'Vendor ' || i % 400" };
  await insert("invoices", invoices, {
    ...{ doc_id: "'B-' || i", ...vendor, doc_type: "case when i % 40 = 0 then 'Credit memo' else 'Invoice' end" },
    ...{ document_number: "'R-' || i", document_date: day, due_date: `${day} + 30`, total_amount: "i % 9000 + 0.25" },
    ...{ tax_amount: "i % 90", matched_po_number: `'B-PO-' || i % ${orders}`, payment_status: "'s' || i % 3" },
    ...{ hold_reason: "case when i % 50 = 0 then 'price' end", anomaly_count: "i % 3", critical_anomaly_count: "0" },
  });
  await insert("invoice_line_items", Math.ceil((invoices * 4) / 3), {
    ...{ doc_id: `'B-' || (1 + i % ${invoices})`, _index: `cast(floor(i / ${invoices + 0.5}) as bigint)` },
    ...{ buyer_part_number: "'P-' || i % 2000", po_qty: "10", received_qty: "10 - i % 2", invoice_qty: "10" },
    ...{ po_unit_price: "i % 100 + 1", invoice_unit_price: "i % 100 + 1 + (i % 10) / 10.0", line_total: "i % 900" },
  });
  await insert("ingested", invoices, {
    ...{
      row_type: "'document'",
      id: "'B-' || i",
      source: "'s'",
      type: "'t'",
      amount_basis: "'b'",
      attachments: "'[]'",
    },
    ...{ currency_code: "case when i % 5 = 0 then 'USD' else 'EUR' end", ...vendor },
  });
  await insert("purchase_orders", orders, {
    ...{ po_number: "'B-PO-' || i", is_open: "i % 10 = 0", ...vendor, po_date: day, total_amount: "i % 9000" },
  });
  await insert("purchase_order_line_items", orders * 2, {
    ...{ po_number: `'B-PO-' || (1 + i % ${orders})`, _index: `cast(floor(i / ${orders + 0.5}) as bigint)` },
    ...{
      qty_ordered: "10",
      qty_received: "10 - i % 3",
      unit_price: "i % 100",
      on_time: "i % 6 <> 0",
      in_full: "i % 3 = 0",
    },
    ...{ expected_date: day, actual_date: `${day} + 2` },
  });
  await insert("findings", Math.ceil(invoices / 20), {
    ...{ finding_item_id: "'B-F-' || i", finding_id: "'B-F-' || i", kind: "'finding'", amount_declared: "true" },
    ...{ ...vendor, surfaceable_savings_usd: "i % 900", resolved_by: "case when i % 3 = 0 then 'ana' end" },
  });
  if (warehouse === "postgres") await place.execute("vacuum analyze");
  return place;
}
