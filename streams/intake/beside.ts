import type { PageColumn } from "../../src/catalog/stream.ts";

/** The moment that an as-of answer says it holds for. */
export const asOf: PageColumn = {
  name: "as_of",
  kind: "moment",
  field: "as_of",
  description: "Moment for which the service says its answer holds.",
};

/** How many facts an as-of answer says it has. */
export const factCount: PageColumn = {
  name: "fact_count",
  kind: "count",
  field: "fact_count",
  description: "How many facts the service counts for the entity at that moment.",
};

/** How many orders an as-of answer says it has. */
export const orderCount: PageColumn = {
  name: "order_count",
  kind: "count",
  field: "order_count",
  description: "How many orders the service counts for the vendor at that moment.",
};

/** Orders that an as-of answer leaves out. */
export const excludedOrders: readonly PageColumn[] = [
  {
    name: "undated_excluded",
    kind: "quantity",
    field: "undated_excluded",
    description: "How many of the vendor's orders were left out for want of a date.",
  },
  {
    name: "unnumbered_excluded",
    kind: "quantity",
    field: "unnumbered_excluded",
    description: "How many of the vendor's orders were left out for want of a number.",
  },
];

/** How many events a timeline says it has. */
export const timelineCount: PageColumn = {
  name: "total_count",
  kind: "count",
  field: "total_count",
  description: "How many events the entity's timeline has by the service's count.",
};
