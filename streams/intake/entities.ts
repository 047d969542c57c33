import { entity } from "../../schemas/intake/entity.ts";
import { entityEvent } from "../../schemas/intake/entity_event.ts";
import { entityFact } from "../../schemas/intake/entity_fact.ts";
import { entityGraph as graph } from "../../schemas/intake/entity_graph.ts";
import { identity } from "../../schemas/intake/identity.ts";
import { vendorOrder } from "../../schemas/intake/vendor_order.ts";
import { defineStream, lookup } from "../../src/catalog/stream.ts";
import { asOf, excludedOrders, factCount, orderCount, timelineCount } from "./beside.ts";

export const entities = defineStream({
  name: "entities",
  path: "/entities/{type}/{id}",
  mode: lookup(),
  row: entity,
  key: ["type", "id"],
  preset: "lookup",
});

export const entityGraph = defineStream({
  name: "entity_graph",
  path: "/entities/{type}/{id}/graph",
  mode: lookup(),
  row: graph,
  key: ["type", "id"],
  preset: "lookup",
});

export const entityTimeline = defineStream({
  name: "entity_timeline",
  path: "/entities/{type}/{id}/timeline",
  mode: lookup({ rows: "events", pageColumns: [timelineCount] }),
  row: entityEvent,
  key: ["type", "id", "event_id"],
  preset: "lookup",
});

export const entityFactsAsOf = defineStream({
  name: "entity_facts_as_of",
  path: "/as-of/{entity_type}/{entity_id}",
  mode: lookup({ ask: ["at"], rows: "facts", pageColumns: [asOf, factCount] }),
  row: entityFact,
  key: ["entity_type", "entity_id", "at_", "fact_id"],
  preset: "lookup",
});

export const vendorOrdersAsOf = defineStream({
  name: "vendor_orders_as_of",
  path: "/as-of/vendor/{vendor_id}/orders",
  mode: lookup({
    ask: ["at"],
    from: { vendor_id: ["purchase_orders.vendor_id", "invoices.vendor_id"] },
    rows: "orders",
    pageColumns: [asOf, orderCount, ...excludedOrders],
  }),
  row: vendorOrder,
  key: ["vendor_id", "at_", "_index"],
  preset: "all",
});

export const identities = defineStream({
  name: "identities",
  path: "/identity/{type}/{id}",
  mode: lookup(),
  row: identity,
  key: ["type", "id"],
  preset: "lookup",
});
