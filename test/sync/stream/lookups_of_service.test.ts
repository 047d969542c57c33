import { describe, expect, test } from "vitest";
import { lookupOf } from "../../../src/catalog/lookup.ts";
import { streams } from "../../../streams/index.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

const vendors = "purchase_orders.vendor_id";
const ofVendors = { parameters: { type: ["vendor"] }, from: { id: vendors } };
/** What every lookup of the catalogue is asked with. */
const settings = {
  negotiation_details: { values: [{ id: "NEG-1" }] },
  negotiation_briefs: { values: [{ id: "NEG-1" }] },
  purchase_order_as_of: { from: { po_number: "purchase_orders.po_number" }, parameters: { at: ["2026-01-01"] } },
  contract_pricing: { values: [{ item_id: "ITEM-1" }, { item_id: "ITEM-2", quantity: 5 }] },
  entities: ofVendors,
  entity_graph: ofVendors,
  entity_timeline: ofVendors,
  identities: ofVendors,
  entity_facts_as_of: { parameters: { entity_type: ["vendor"], at: ["2026-01-01"] }, from: { entity_id: vendors } },
  vendor_orders_as_of: { parameters: { at: ["2026-01-01", "2025-06-01"] } },
  vendor_credential_lineage: { parameters: { label: ["w9"] }, from: { vendor_id: vendors } },
  aggregation_lineage: { values: [{ metric: "spend", period: 30 }] },
  measures: { values: [{ id: "otif" }] },
  search: { values: [{ q: "steel" }, { q: "bolts" }] },
  filter_facets: { values: [{ table: "invoices" }] },
  lane_intelligence: { values: [{ origin_zip: "01234", dest_zip: "60601", mode: "ltl" }] },
};
const names = streams.filter(stream => lookupOf(stream) !== undefined).map(({ name }) => name);

test("every lookup of the catalogue is asked here", () => {
  expect(Object.keys(settings).sort()).toEqual([...names].sort());
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("lookups run when the config names their values, and a second run changes nothing", async () => {
    const place = await scenario(make, { orders: 12, invoices: 12 }, { config: { streams: { settings } } });
    const order = { names: ["purchase_orders", "invoices", ...names] };
    const first = await place.sync(order);
    expect(first.streams.filter(line => line.status !== "succeeded")).toEqual([]);
    const asked = first.streams.filter(line => names.includes(line.stream));
    expect(asked).toHaveLength(names.length);
    expect(asked.filter(line => line.requests === 0 || line.rejected + line.problems > 0)).toEqual([]);
    const distinct = "select count(distinct vendor_id) as n from procurement.purchase_orders";
    const [found] = await place.warehouse.query<{ n: number }>(distinct);
    expect(asked.find(line => line.stream === "entities")).toMatchObject({ requests: Number(found!.n) });
    const second = await place.sync(order);
    const moved = second.streams.filter(line => line.inserted + line.updated + line.deleted + line.missing > 0);
    expect(moved).toEqual([]);
  });
});
