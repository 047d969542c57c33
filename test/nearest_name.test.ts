import { expect, test } from "vitest";
import { parseDuration } from "../src/duration.ts";
import { nearest } from "../src/nearest_name.ts";

const streams = [
  "purchase_orders",
  "purchase_order_details",
  "invoices",
  "invoice_matches",
  "items",
  "findings",
  "ingested",
];

test.each([
  ["purchase_order", "purchase_orders"],
  ["itmes", "items"],
  ["Invoices", "invoices"],
  ["finding", "findings"],
  ["shipments", undefined],
  ["x", undefined],
])("%s → %s", (name, found) => {
  expect(nearest(name, streams)).toBe(found);
});

test("a name whose words are the beginnings of another's is that one", () => {
  const columns = ["match_status", "tax_status", "payment_status", "payment_terms"];
  expect(nearest("pay_status", columns)).toBe("payment_status");
  expect(nearest("pay_term", columns)).toBe("payment_terms");
});

test.each([
  ["500ms", 500],
  ["90s", 90_000],
  ["15m", 900_000],
  ["4h", 14_400_000],
  ["7d", 604_800_000],
])("%s is %i ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "30", "s", "-5s", "1.5h", "1h30m", "5 years"])("%j is no duration", text => {
  expect(parseDuration(text)).toBeUndefined();
});
