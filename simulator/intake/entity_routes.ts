import { DAY_MS } from "../calendar.ts";
import { type OrderFacts, orderCents, orderFacts, orderKey } from "../company/orders.ts";
import type { World } from "../domain.ts";
import { perVersion } from "../endpoints/tally.ts";
import { hash } from "../random.ts";
import { invalid, notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWS } from "./draws.ts";
import {
  entityAnswer,
  factsAsOf,
  graphAnswer,
  identityAnswer,
  type Thing,
  thingOf,
  timelineAnswer,
} from "./entities.ts";

/** /entities, /identity and /as-of: things by their type and id. */
export function entityRoutes(world: World): Route[] {
  const found = (type: string | undefined, id: string | undefined): Thing => {
    const thing = thingOf(world, type ?? "", id ?? "");
    if (thing === undefined) throw notFound(`Entity '${type} ${id}'`);
    return thing;
  };
  const about = (template: string, data: (thing: Thing) => Row): Route => ({
    template,
    answer: ({ params }) => ({ data: data(found(params["type"], params["id"])) }),
  });
  return [
    about("/entities/{type}/{id}", entityAnswer),
    about("/entities/{type}/{id}/graph", graphAnswer),
    about("/entities/{type}/{id}/timeline", timelineAnswer),
    about("/identity/{type}/{id}", identityAnswer),
    {
      template: "/as-of/{entity_type}/{entity_id}",
      answer: ({ params, query }) => {
        const at = momentAsked(query);
        return { data: factsAsOf(found(params["entity_type"], params["entity_id"]), at) };
      },
    },
    vendorOrders(world),
  ];
}

function momentAsked(query: Request["query"]): string {
  const at = query["at"];
  if (at === undefined || !/^\d{4}-\d{2}-\d{2}/.test(at) || Number.isNaN(Date.parse(at)))
    throw invalid("at", `at must be an ISO timestamp, got '${at ?? ""}'`);
  return at;
}

/** /as-of/vendor/{vendor_id}/orders: the orders that a vendor had by a moment. */
function vendorOrders({ company, sources }: World): Route {
  const orders = sources["purchase_orders"];
  const byVendor =
    orders === undefined
      ? () => new Map<string, OrderFacts[]>()
      : perVersion(orders.collection, () => {
          const found = new Map<string, OrderFacts[]>();
          for (const entry of orders.collection.walk(Number.NEGATIVE_INFINITY)) {
            const facts = orderFacts(company, entry);
            found.set(facts.vendor.id, [...(found.get(facts.vendor.id) ?? []), facts]);
          }
          return found;
        });
  return {
    template: "/as-of/vendor/{vendor_id}/orders",
    answer: ({ params, query }) => {
      const at = momentAsked(query);
      const id = params["vendor_id"] ?? "";
      if (!company.vendors.some(vendor => vendor.id === id)) throw notFound(`Vendor '${id}'`);
      const known = (byVendor().get(id) ?? []).filter(({ day }) => day * DAY_MS <= Date.parse(at));
      const rows = known.map(facts => {
        const v = new Values(hash(company.seed, DRAWS.entity, facts.number, 6));
        return {
          po_number: v.maybe(orderKey(facts.number)),
          order_date: v.date(facts.day),
          promised_delivery_date: v.date(facts.promisedDay),
          total_amount: v.money(orderCents(company, facts)),
          history: v.pick(["complete", "partial"]),
        };
      });
      return {
        data: {
          vendor_id: id,
          as_of: at,
          order_count: rows.length,
          undated_excluded: known.length % 3,
          unnumbered_excluded: known.length % 2,
          orders: rows,
        },
      };
    },
  };
}
