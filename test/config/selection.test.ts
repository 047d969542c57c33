import { expect, test } from "vitest";
import { asksNothing } from "../../src/catalog/lookup.ts";
import type { Preset, Stream } from "../../src/catalog/stream.ts";
import { unconfigured } from "../../src/config/config.ts";
import { lockGroupOf, type SelectionConfig, select, selectedByConfig } from "../../src/config/selection.ts";
import { ConfigError } from "../../src/errors.ts";
import type { CatalogueConfig } from "../../src/privacy/configured_catalog.ts";
import { configured as configuredBy } from "../../src/privacy/configured_catalog.ts";
import { streams } from "../../streams/index.ts";

const configured = (all: readonly Stream[], own: CatalogueConfig["streams"]["settings"]) =>
  configuredBy(all, { ...unconfigured(), streams: { settings: own } });
const core = { preset: "core", include: [], exclude: [] } as const;
const all = streams.map(stream => stream.name);
const namesOf = (chosen: readonly { readonly name: string }[]) => chosen.map(stream => stream.name);
const on = (more: Partial<SelectionConfig>) => namesOf(selectedByConfig(streams, { ...core, ...more }));
const ofPresets = (...presets: Preset[]) =>
  namesOf(streams.filter(stream => presets.includes(stream.preset) && !("lookup" in stream.mode)));
const coreNames = ofPresets("core");
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
  expect(on({})).toEqual(coreNames);
  expect(on({ preset: "standard" })).toEqual(ofPresets("core", "standard"));
  expect(on({ preset: "all" })).toEqual(ofPresets("core", "standard", "all"));
  expect(on({ exclude: ["items"] })).toEqual(coreNames.filter(name => name !== "items"));
  expect(on({ exclude: ["*"], include: ["items"] })).toEqual([]);
  expect(on({ exclude: ["purchase_*"] })).toEqual(coreNames.filter(name => !name.startsWith("purchase_")));
  expect(on({ exclude: ["preset:core"] })).toEqual([]);
});

test("a run of no stream at all is refused; one of named streams is not", () => {
  const code = "config.no_stream_on";
  expect(() => select(streams, [], [])).toThrow(expect.objectContaining({ name: "ConfigError", code }));
  expect(namesOf(select(streams, [], ["items"]).streams)).toEqual(["items"]);
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
  expect(named("*_matches", "items")).toEqual(["invoices", "items", "invoice_matches"]);
  expect(named("preset:core")).toEqual(coreNames);
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

const settings = (volatile: string[] = []) => ({ volatile });

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

test("settings of details are for streams that are details, and for streams that there are", () => {
  const own = { ...settings(), details: { refreshMs: 1, without: ["invoices"] } };
  expect(configured(streams, { purchase_order_details: own })).toHaveLength(streams.length);
  expect(refusal(() => configured(streams, { items: own }))).toContain("no details");
  const stray = { ...settings(), details: { with: ["invoces"] } };
  expect(refusal(() => configured(streams, { purchase_order_details: stray }))).toContain("Did you mean invoices?");
});

const asking = (more: object) => ({ ...asksNothing, ...settings(), ...more });

test("a lookup is on when the config says what it asks for", () => {
  const entities = { values: [{ type: "vendor", id: "V-1" }] };
  expect(on({ settings: { entities: asking(entities) } })).toEqual(
    namesOf(streams.filter(({ name }) => name === "entities" || coreNames.includes(name))),
  );
  const dates = { vendor_orders_as_of: asking({ parameters: { at: ["2026-01-01"] } }) };
  expect(on({ settings: dates })).toEqual(coreNames);
  expect(on({ preset: "all", settings: dates })).toContain("vendor_orders_as_of");
  expect(on({ include: ["vendor_*"], settings: dates })).toContain("vendor_orders_as_of");
  expect(on({ include: ["entit*"], exclude: ["entities"], settings: { entities: asking(entities) } })).not.toContain(
    "entities",
  );
});

test("a lookup that is named without values says which keys to set", () => {
  expect(refusal(() => on({ include: ["entities"] }))).toMatch(
    /streams\.include: entities is a lookup.*streams\.settings\.entities: \{ values: \[\{ type: …, id: … \}\] \}/,
  );
  const order = (names: string[]) => select(streams, streams, names, {});
  expect(refusal(() => order(["search"]))).toMatch(/values: \[\{ <parameter>: … \}\]/);
  expect(refusal(() => order(["vendor_orders_as_of"]))).toContain("parameters: { at: [ … ] }");
  expect(namesOf(order(["entit*", "items"]).streams)).toEqual(["items"]);
});

test("what a lookup asks for must be what it has", () => {
  const refused = (name: string, more: object) => refusal(() => configured(streams, { [name]: asking(more) }));
  expect(refused("entities", { values: [{ typ: "vendor", id: "V-1" }] })).toContain("Did you mean type?");
  expect(refused("entities", { values: [{ type: "vendor" }] })).toContain("id has no values");
  expect(refused("entities", { values: [{ type: "a", id: "1" }], parameters: { id: ["2"] } })).toContain("keep one");
  expect(refused("entities", { values: [{ type: "a", id: "1" }], rename: { id: "key" } })).toContain("the path");
  expect(refused("entities", { parameters: { type: ["vendor"] }, from: { id: ["invoces.vendor_id"] } })).toContain(
    "Did you mean invoices?",
  );
  expect(refused("entities", { parameters: { type: ["vendor"] }, from: { id: ["invoices.vendor"] } })).toContain(
    "Did you mean vendor_id?",
  );
  expect(refused("items", { values: [{ id: "1" }] })).toContain("items is no lookup");
  expect(refused("analytics_spend", { parameters: { peroid: ["30"] } })).toContain("Did you mean period?");
  expect(refused("items", { parameters: { period: ["30"] } })).toContain("It has none");
  const fine = { parameters: { type: ["vendor"] }, from: { id: ["invoices.vendor_id", "purchase_orders.vendor_id"] } };
  expect(
    configured(streams, { entities: asking(fine), search: asking({ values: [{ q: "x", limit: "5" }] }) }),
  ).toHaveLength(streams.length);
  expect(configured(streams, { filter_facets: asking({ values: [{ table: "a" }] }) })).toHaveLength(streams.length);
});

test("lookups may not wait for each other", () => {
  const from = (column: string) => asking({ parameters: { type: ["a"] }, from: { id: [column] } });
  const circle = { entities: from("identities.id"), identities: from("entities.id") };
  expect(refusal(() => configured(streams, circle))).toContain("entities, identities, entities");
  const byChild = { entities: from("identity_aliases.value"), identities: from("entities.id") };
  expect(refusal(() => configured(streams, byChild))).toContain("entities, identities, entities");
  expect(refusal(() => configured(streams, { entities: from("entities.id") }))).toContain("entities, entities");
  expect(configured(streams, { entities: from("identities.id") })).toHaveLength(streams.length);
});

test("a list is the family of its details", () => {
  const family = (name: string) => lockGroupOf(streams, streams.find(stream => stream.name === name)!);
  expect(["purchase_order_details", "purchase_orders", "items"].map(family)).toEqual([
    "purchase_orders",
    "purchase_orders",
    "items",
  ]);
});
