import { expect, test } from "vitest";
import { ConfigError } from "../src/errors.ts";
import { configured, familyOf, select, selectedByConfig } from "../src/selection.ts";
import { streams } from "../streams/index.ts";

const core = { preset: "core", include: [], exclude: [] } as const;
const all = streams.map(stream => stream.name);
const namesOf = (chosen: readonly { readonly name: string }[]) => chosen.map(stream => stream.name);
const on = (more: { include?: string[]; exclude?: string[] }) =>
  namesOf(selectedByConfig(streams, { ...core, ...more }));
const named = (...names: string[]) => namesOf(select(streams, streams, names).streams);

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("expected a ConfigError, nothing was thrown");
}

test("the preset, what is included and excluded, in catalogue order", () => {
  expect(on({})).toEqual(all);
  expect(on({ exclude: ["items"] })).toEqual(all.filter(name => name !== "items"));
  expect(on({ exclude: ["*"], include: ["items"] })).toEqual([]);
  expect(on({ exclude: ["purchase_*"] })).toEqual(all.filter(name => !name.startsWith("purchase_")));
  expect(on({ exclude: ["preset:core"] })).toEqual([]);
});

test("a detail without its list cannot be on", () => {
  const message = refusal(() => on({ exclude: ["invoices"] }));
  expect(message).toMatch(/invoice_matches.*invoices/);
});

test("streams are named by name, pattern and preset; a detail brings its list, a list no details", () => {
  expect(named()).toEqual(all);
  expect(named("items")).toEqual(["items"]);
  expect(named("purchase_orders")).toEqual(["purchase_orders"]);
  expect(named("purchase_order_details")).toEqual(["purchase_orders", "purchase_order_details"]);
  expect(named("*match*", "items")).toEqual(["invoices", "items", "invoice_matches"]);
  expect(named("preset:core")).toEqual(all);
  expect(select(streams, streams, ["invoice_matches"]).named).toEqual(new Set(["invoice_matches"]));
});

test("a pattern's other signs are letters", () => {
  expect(refusal(() => named("item."))).toContain("item.");
  expect(refusal(() => named("(items|invoices)"))).toContain("no stream");
});

test("unknown names are refused with the nearest known one", () => {
  expect(refusal(() => named("invoces"))).toContain("Did you mean invoices?");
  expect(refusal(() => on({ include: ["findngs"] }))).toMatch(/streams\.include.*Did you mean findings\?/);
  expect(refusal(() => named("preset:cor"))).toContain("preset:standard");
  expect(refusal(() => named("x*"))).toContain("there is no stream");
});

const settings = (volatile: string[] = [], refresh?: { while: string }) => ({ volatile, refresh });

test("the config's volatile columns are the stream's, and no other's", () => {
  const changed = configured(streams, { items: settings(["description"]) });
  const volatile = (list: typeof changed, name: string) =>
    list.find(stream => stream.name === name)!.tables.main.columns.filter(column => column.volatile).length;
  expect(volatile(changed, "items")).toBe(volatile(streams, "items") + 1);
  expect(volatile(changed, "invoices")).toBe(volatile(streams, "invoices"));
});

test("settings of streams and columns that don't exist are refused, patterns too", () => {
  expect(refusal(() => configured(streams, { itmes: settings() }))).toContain("Did you mean items?");
  expect(refusal(() => configured(streams, { items: settings(["descripton"]) }))).toContain(
    "Did you mean description?",
  );
  expect(refusal(() => configured(streams, { items: settings(["item_id"]) }))).toContain("item_id");
  expect(refusal(() => configured(streams, { "purchase_*": settings() }))).toMatch(/purchase_\*/);
  expect(refusal(() => configured(streams, { "preset:core": settings() }))).toMatch(/preset:core/);
});

test("a refresh needs a detail and a flag of its list", () => {
  const refresh = settings([], { while: "is_open" });
  expect(configured(streams, { purchase_order_details: refresh })).toHaveLength(streams.length);
  expect(refusal(() => configured(streams, { items: refresh }))).toContain("only details");
  expect(refusal(() => configured(streams, { purchase_order_details: settings([], { while: "po_date" }) }))).toContain(
    "po_date",
  );
});

test("a list is the family of its details", () => {
  const family = (name: string) => familyOf(streams, streams.find(stream => stream.name === name)!);
  expect(["purchase_order_details", "purchase_orders", "items"].map(family)).toEqual([
    "purchase_orders",
    "purchase_orders",
    "items",
  ]);
});
