import { expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { unconfigured } from "../../src/config/config.ts";
import { configured } from "../../src/privacy/configured_catalog.ts";
import { isPersonalName, policyOf } from "../../src/privacy/policy.ts";
import { differences, recordedPolicy, transition } from "../../src/privacy/transition.ts";
import { createTreat, keyIdOf } from "../../src/privacy/treatment.ts";
import { streams } from "../../streams/index.ts";

const KEY = "a key of the tests' own";
const none: Config["privacy"] = { pii: "keep", key: KEY, exclude: [], hash: [], mask: [] };
const policy = (more: Partial<Config["privacy"]>) => policyOf(streams, { ...none, ...more });
const columns = streams.flatMap(({ tables: { main, children } }) =>
  [main, ...children].flatMap(table => table.columns.map(column => ({ ...column, table }))),
);

// How many mails a rule may send, and the text that a template begins with.
const ofNobody = ["automation_rules.max_daily_emails", "automation_templates.default_email_body"];

test("every column whose name says that it is about a person is marked, or known not to be", () => {
  const unmarked = columns
    .filter(({ name, personal, kind }) => personal !== true && kind !== "flag" && isPersonalName(name))
    .map(({ name, table }) => `${table.name}.${name}`);
  expect(
    unmarked,
    "named like something about a person: wrap the field in personal(…) in its schema, or add it to `ofNobody` in this test",
  ).toEqual(ofNobody);
  expect(columns.filter(({ personal }) => personal).length).toBeGreaterThan(90);
});

test("no personal column is one that the engine needs: the preset leaves none out", () => {
  const { treatments } = policy({ pii: "hash" });
  const left = columns.filter(({ name, table, personal }) => personal && !treatments.has(`${table.name}.${name}`));
  expect(left.map(({ name, table }) => `${table.name}.${name}`)).toEqual([]);
  expect(new Set(treatments.values())).toEqual(new Set(["hash"]));
  expect(new Set(policy({ pii: "exclude" }).treatments.values())).toEqual(new Set(["exclude"]));
});

test("a name beats a pattern, and a list the preset", () => {
  const { treatments, undocumented } = policy({
    pii: "hash",
    exclude: ["rfq_vendors.*", "invoices._extra"],
    mask: ["rfq_vendors.contact_email", "requisitions.requester_name"],
  });
  expect(treatments.get("rfq_vendors.contact_email")).toBe("mask");
  expect(treatments.get("rfq_vendors.contact_name")).toBe("exclude");
  const { key } = columns.find(({ table }) => table.name === "rfq_vendors")!.table;
  expect(key.filter(column => treatments.has(`rfq_vendors.${column}`))).toEqual([]);
  expect(treatments.get("requisitions.requester_name")).toBe("mask");
  expect(treatments.get("requisitions.requester_email")).toBe("hash");
  expect(treatments.get("invoices._extra")).toBe("exclude");
  expect(undocumented).toBe("hash");
});

test.each([
  [{ exclude: ["invoces.vendor_name"] }, "unknown_column", { example: "invoices.vendor_name" }],
  [{ exclude: ["nothing.*"] }, "unknown_column", { list: "exclude_columns", column: "nothing.*" }],
  [{ hash: ["invoices.doc_id"] }, "needed_column", { list: "hash_columns", reason: "it is part of the key" }],
  [
    { exclude: ["purchase_orders.is_open"] },
    "needed_column",
    { reason: "purchase_order_details is asked for with it" },
  ],
  [{ hash: ["invoices.total_amount"] }, "unfit_column", { treatment: "hash", column: "invoices.total_amount" }],
  [{ mask: ["communications.sender"] }, "unfit_column", { treatment: "mask", column: "communications.sender" }],
  [
    { hash: ["invoices.vendor_name"], mask: ["invoices.vendor_name"] },
    "named_twice",
    { column: "invoices.vendor_name", treatments: ["hash", "mask"] },
  ],
])("%j is refused with what is possible", (wrong, code, fields) => {
  expect(() => policy(wrong)).toThrow(
    expect.objectContaining({ code: `privacy.${code}`, fields: expect.objectContaining(fields) }),
  );
});

test("what a lookup takes its values from must be kept", () => {
  const privacy = { ...none, hash: ["invoices.vendor_name"] };
  const own = { volatile: [], from: { id: ["invoices.vendor_name"] } };
  const settings = { entities: { ...own, parameters: { type: ["vendor"] } } };
  expect(() => configured(streams, { streams: { settings }, privacy })).toThrow(
    /streams\.settings\.entities: it needs the values of invoices\.vendor_name/,
  );
});

const wider = (stream: string, key: readonly string[], more: object = {}) => ({
  streams: { settings: { [stream]: { volatile: [], key, ...more } } },
  privacy: none,
});

test.each([
  ["items", ["item_id", "sku"], {}, "config.fixed_key", { stream: "items" }],
  ["purchase_order_details", ["po_number", "status"], {}, "config.fixed_key", {}],
  ["item_transactions", ["item_id", "_index", "doc_id"], {}, "config.fixed_key", {}],
  ["chart_of_accounts", ["account_code"], {}, "config.no_wider_key", { key: ["account_code"], got: ["account_code"] }],
  ["chart_of_accounts", ["entity", "account_code"], {}, "config.no_wider_key", {}],
  ["chart_of_accounts", ["account_code", "entity"], {}, "config.unknown_name", { name: "entity" }],
  ["chart_of_accounts", ["account_code", "is_active"], {}, "config.unknown_name", { name: "is_active" }],
])("a key of %s that becomes %j is refused", (stream, key, more, code, fields) => {
  expect(() => configured(streams, wider(stream, key, more))).toThrow(
    expect.objectContaining({ code, fields: expect.objectContaining(fields) }),
  );
});

test("a wider key is the table's, its columns are never null, and none of them can be treated", () => {
  const keyed = (key: readonly string[], more = {}) => {
    const config = wider("gl_category_mappings", key, more);
    const { tables } = configured(streams, config).find(({ name }) => name === "gl_category_mappings")!;
    const { main } = tables;
    return { key: main.key, columns: main.columns.filter(({ name }) => main.key.includes(name)) };
  };
  const [own, documented, undocumented] = [["id"], ["id", "subcategory"], ["id", "entity"]];
  expect(keyed(documented)).toMatchObject({ key: documented, columns: [{ name: "id" }, { nullable: false }] });
  const more = { unknownFields: "column" };
  expect(keyed(undocumented, more).columns).toMatchObject([
    { path: ["entity"], source: "row", kind: "id" },
    { name: "id" },
  ]);
  expect(own).toEqual(streams.find(({ name }) => name === "gl_category_mappings")!.key);
  const treated = {
    ...wider("gl_category_mappings", documented),
    privacy: { ...none, exclude: ["gl_category_mappings.subcategory"] },
  };
  expect(() => configured(streams, treated)).toThrow(expect.objectContaining({ code: "privacy.needed_column" }));
});

test("an excluded column is in no table, a hashed one says so, and without a policy the catalogue is what it was", () => {
  const changed = configured(streams, {
    ...unconfigured(),
    privacy: { ...none, exclude: ["invoices.vendor_name"], hash: ["invoices.vendor_website"] },
  });
  const invoices = changed.find(({ name }) => name === "invoices")!.tables.main.columns;
  expect(invoices.find(({ name }) => name === "vendor_name")).toBeUndefined();
  expect(invoices.find(({ name }) => name === "vendor_website")?.treatment).toBe("hash");
  expect(configured(streams, unconfigured())).toEqual(streams);
});

test("hashes are HMAC-SHA-256 of the text, masks show the end of a number and the domain of an address", () => {
  const treat = createTreat("key");
  // RFC 2104's construction, as `printf 'The quick brown fox jumps over the lazy dog' | openssl dgst -sha256 -hmac key` gives it.
  expect(treat("The quick brown fox jumps over the lazy dog", "hash")).toBe(
    "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
  );
  expect(treat(1, "hash")).toBe(treat("1", "hash"));
  expect(treat({ b: 1, a: 2 }, "hash")).toBe(treat('{"a":2,"b":1}', "hash"));
  expect([null, undefined].map(value => treat(value, "hash"))).toEqual([null, undefined]);
  expect(treat("ada@example.com", "mask")).toBe("a•••@example.com");
  expect(treat("+44 20 7946 0018", "mask")).toBe("•••0018");
  expect(treat("12345678", "mask")).toBe("•••");
  expect(treat("anything", "exclude")).toBeUndefined();
  expect(keyIdOf("key")).not.toBe(keyIdOf("kez"));
});

test("what is recorded tells what is still to be done", () => {
  const before = policy({ hash: ["invoices.vendor_name"], mask: ["invoices.vendor_website"] });
  const records = differences([], before).map(each => ({ ...each, isClean: true, was: null }));
  expect(recordedPolicy(records, "treatment")).toEqual(before);
  expect(differences(records, before)).toEqual([]);
  const after = policy({ pii: "exclude", hash: ["invoices.vendor_website", "invoices.file_name"] });
  const acts = transition(before, after);
  expect(acts.treatments.get("invoices.vendor_website")).toBe("exclude");
  expect(acts.treatments.get("invoices.file_name")).toBe("hash");
  // Not kept any longer: what is there is a hash, which another policy would take for a value.
  expect(acts.treatments.get("invoices.vendor_name")).toBe("exclude");
  expect(transition(policy({ exclude: ["invoices.vendor_name"] }), policy({})).treatments.size).toBe(0);
  expect(acts.undocumented).toBe("exclude");
  const next = differences(records, after);
  expect(next).toContainEqual(
    expect.objectContaining({ table: "invoices", column: "vendor_name", treatment: null, was: "hash", isClean: false }),
  );
  const halfway = [...records.filter(old => !next.some(fresh => fresh.column === old.column)), ...next];
  expect(recordedPolicy(halfway, "treatment")).toEqual(after);
  expect(recordedPolicy(halfway, "was")).toEqual(before);
});
