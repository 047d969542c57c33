import { expect, test } from "vitest";
import { causesOf } from "../../src/catalog/cause.ts";
import { configuredCauses } from "../../src/config/settings.ts";
import { streams } from "../../streams/index.ts";
import { relationsOf } from "../../streams/relations.ts";

const relations = relationsOf(streams);
const none = () => ({ with: [], without: [] });

const words = (causes: ReturnType<typeof causesOf>) =>
  causes.map(
    ({ stream, column, parents, parentColumn, details }) =>
      `${stream}.${column} → ${parents}${parentColumn === undefined ? "" : `.${parentColumn}`}: ${details.join(", ")}`,
  );

test("changes travel along these relations, in these directions", () => {
  expect(words(causesOf(streams, relations, none))).toEqual([
    "invoices.matched_po_number → purchase_orders: purchase_order_details, purchase_order_landed_cost",
    "purchase_orders.po_number → invoices.matched_po_number: invoice_matches",
    "ingested.id → invoices: invoice_matches, invoice_timeline",
    "ingested.id → documents: document_details, document_threads",
    "findings.po_number → purchase_orders: purchase_order_details",
    "findings.doc_id → invoices: invoice_matches, invoice_intelligence",
    "open_items.po_number → purchase_orders: purchase_order_details",
    "communications.linked_po → purchase_orders: purchase_order_details",
  ]);
});

test("the configuration adds and takes away; what no relation leads from is refused with what is known", () => {
  const settings = (details: object) => ({ purchase_order_landed_cost: { volatile: [], details } });
  const configured = configuredCauses(streams, relations, settings({ with: ["open_items"], without: ["invoices"] }));
  const own = configured.filter(({ details }) => details.includes("purchase_order_landed_cost"));
  expect(words(own)).toEqual([
    "open_items.po_number → purchase_orders: purchase_order_details, purchase_order_landed_cost",
  ]);
  expect(() => configuredCauses(streams, relations, settings({ with: ["items"] }))).toThrow(
    /streams\.settings\.purchase_order_landed_cost\.details: expected a stream whose relations .* got items.*invoices/,
  );
});
