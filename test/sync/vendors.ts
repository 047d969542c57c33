import { date, flag, id, json, moment, record, text } from "../../schemas/fields.ts";
import { defineStream, detail, snapshot } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";
import type { Say, Told } from "./answers.ts";

/* Orders and bills that name vendors, and what can be asked of a vendor. */

export const DAY_MS = 86_400_000;
export const orderRow = {
  id: id().describe("Its id."),
  vendor_id: id().nullable().describe("Who sells."),
  is_open: flag().nullable().describe("Whether it is open."),
  po_date: date().nullable().describe("Its date."),
  note: text().nullable().describe("A note."),
};
export const orders = streamOf("orders", orderRow, { key: ["id"] });
export const bills = streamOf("bills", { no: id(), vendor: id().nullable() });
const profileRow = record("A profile.", { vendor_id: id().describe("Whose."), score: text().describe("How good.") });
export const profiles = defineStream({
  name: "profiles",
  path: "/vendors/{vendorId}/profile",
  mode: detail({ of: "orders", by: "vendor_id", also: ["bills.vendor"], everyDays: 7 }),
  row: profileRow,
  key: ["vendor_id"],
  preset: "core",
});
export const ratings = streamOf(
  "ratings",
  { rating: text() },
  {
    path: "/vendors/{vendorId}/rating",
    mode: detail({ of: "orders", by: "vendor_id", open: "is_open", newest: "po_date" }),
    key: ["vendor_id"],
  },
);
export const census = streamOf(
  "census",
  {
    by_sink: json(),
    at: moment().nullable(),
  },
  { mode: snapshot(), key: ["observed_on"] },
);
export const parked = streamOf(
  "parked",
  { text: text() },
  {
    path: "/parked/{sink}",
    mode: detail({ of: "census", by: "by_sink", everyDays: 1, rows: "rows", paged: true }),
    key: ["sink", "_index"],
  },
);
const told403 = { error: { code: "FORBIDDEN", message: "not in your plan", details: null, request_id: "r" } };
export const forbidden = { status: 403, body: told403 };

interface Order {
  id: string;
  vendor_id?: string | null;
  is_open?: boolean;
  po_date?: string;
  note?: string;
}
export const ordered = (...rows: Order[]) => ({ orders: rows });
export const profile =
  (vendor: string): Say =>
  () => ({ vendor_id: vendor, score: `good ${vendor}` });
export const rating: Say = () => ({ rating: "fine" });
export const noAudit = (settings: object = {}) => ({ streams: { defaults: { details: { audit: 0 } }, settings } });
export const live = "_deleted_at is null";
export const detailsAsked = (place: Told) =>
  place.asked.filter(path => path.startsWith("/vendors/") || path.startsWith("/parked/"));

export async function vendorsIn(place: Told, table: string): Promise<string[]> {
  const rows = await place.warehouse.query<{ v: string }>(
    `select vendor_id as v from procurement.${table} where ${live} order by vendor_id`,
  );
  return rows.map(row => row.v);
}
