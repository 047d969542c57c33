import { expect, test } from "vitest";
import { relationName } from "../../src/catalog/relation.ts";
import { streams } from "../../streams/index.ts";
import { noRelations, relationsOf } from "../../streams/relations.ts";
import { models } from "../support/models.ts";

const relations = relationsOf(streams);
const columns = new Map([
  ...streams.flatMap(({ tables: { main, children } }) =>
    [main, ...children].map(table => [table.name, table.columns.map(column => column.name)] as const),
  ),
  ...models.models.map(model => [model.name, model.columns.map(column => column.name)] as const),
]);
const keys = new Map(
  streams.flatMap(({ tables: { main, children } }) =>
    [main, ...children].map(table => [table.name, table.key] as const),
  ),
);

test("every end of a relation is a column that there is", () => {
  const ends = [...relations, ...noRelations].flatMap(({ from, to }) => [from, ...(to === undefined ? [] : [to])]);
  const conditions = relations.flatMap(({ from, where }) =>
    where === undefined ? [] : [{ table: from.table, columns: [where.column] }],
  );
  const missing = [...ends, ...conditions].flatMap(({ table, columns: names }) =>
    names.filter(name => columns.get(table)?.includes(name) !== true).map(name => `${table}.${name}`),
  );
  // The model of vendors is a work of its own.
  expect([...new Set(missing)].filter(name => name !== "dim_vendors.vendor_id")).toEqual([]);
});

test("no relation stands there twice, and pairs of columns are pairs", () => {
  const names = relations.map(relationName);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(relations.filter(({ from, to }) => from.columns.length !== to.columns.length)).toEqual([]);
});

test("what is certain and leads to one row leads to a key", () => {
  const loose = relations.filter(
    ({ certainty, toOne, to }) => certainty === "certain" && toOne && to.columns.join() !== keys.get(to.table)?.join(),
  );
  expect(loose.map(relationName)).toEqual([]);
});

test.each([
  "purchase_order_details.po_number → purchase_orders.po_number",
  "purchase_order_line_items.po_number → purchase_order_details.po_number",
  "invoice_gl_coding.doc_id → invoices.doc_id",
  "rate_card_lines.rate_card_id → rate_card_details.rate_card_id",
  "item_vendors.item_id → item_sourcing.item_id",
  "analytics_spend_by_vendor (observed_on, period) → analytics_spend (observed_on, period)",
])("%s is certain", name => {
  expect(relations.find(relation => relationName(relation) === name)).toMatchObject({
    certainty: "certain",
    toOne: true,
  });
});

test("a detail that is asked for by a value belongs to rows with that value, not to one row", () => {
  const of = (name: string) => relations.find(relation => relationName(relation) === name);
  expect(of("invoice_amendments.invoice_number → invoices.document_number")).toMatchObject({ toOne: false });
  expect(of("invoices.vendor_id → vendor_completeness.vendor_id")).toMatchObject({ certainty: "assumed", toOne: true });
  expect(relations.filter(({ from, to }) => [from.table, to.table].includes("parked_imports"))).toEqual([]);
});
