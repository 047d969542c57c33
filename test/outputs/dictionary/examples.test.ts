import { expect, test } from "vitest";
import type { Kind } from "../../../src/catalog/columns.ts";
import { describeStreams } from "../../../src/outputs/dictionary/stream_description.ts";
import { examplesOf, mayShow } from "../../../src/outputs/dictionary/warehouse_sample.ts";
import { groups, streams } from "../../../streams/index.ts";

const shown = (name: string, kind: Kind, ...values: readonly unknown[]) =>
  examplesOf({ name, kind, description: "", personal: false, treatment: null }, values, text => text);

test("numbers, dates, flags, identifiers and labels are shown, three of them at most, each once", () => {
  expect(
    shown("total_amount", "money", "1250.500000000", null, "1250.500000000", "7.000000000", "0.000000000", "9.1"),
  ).toEqual(["1250.5", "7", "0"]);
  expect(shown("is_open", "flag", "true", "true", "false")).toEqual(["true", "false"]);
  expect(shown("po_date", "date", "2026-03-15")).toEqual(["2026-03-15"]);
  expect(shown("created_at", "moment", "2026-03-15 02:00:00.123456+00")).toEqual(["2026-03-15 02:00:00+00"]);
  expect(shown("po_number", "id", "PO-1001", "PO-1002")).toEqual(["PO-1001", "PO-1002"]);
  expect(shown("status", "text", "in_progress", "Überfällig")).toEqual(["in_progress", "Überfällig"]);
});

test("free text and names of people are not shown", () => {
  for (const name of "requester_name sender_email contact_phone approved_by user_id delivery_address company_city".split(
    " ",
  ))
    expect(shown(name, "text", "x"), name).toEqual([]);
  for (const name of "subject body_text body_html summary notes evidence_quote original_freetext hold_reason".split(
    " ",
  ))
    expect(shown(name, "text", "x"), name).toEqual([]);
  for (const name of ["api_key", "webhook_url", "token", "tracking_link", "content_hash"])
    expect(shown(name, "text", "x"), name).toEqual([]);
  expect(shown("status", "text", "waits for Mr Smith", "a@b.example", "https://x.example/y", "x".repeat(41))).toEqual(
    [],
  );
  expect(shown("payload", "json", '{"a":1}')).toEqual([]);
});

test("a column that the catalogue calls personal, or that is stored hashed or masked, shows nothing", () => {
  const status = { name: "status", kind: "text", description: "", personal: false, treatment: null } as const;
  const said = (column: Parameters<typeof examplesOf>[0]) => examplesOf(column, ["open"], text => text);
  expect(said(status)).toEqual(["open"]);
  expect(said({ ...status, personal: true })).toEqual([]);
  expect(said({ ...status, treatment: "mask" })).toEqual([]);
});

test("nothing is shown that holds a secret of the configuration", () => {
  const redact = (text: string) => text.replaceAll("hunter2", "***");
  expect(
    examplesOf(
      { name: "status", kind: "text", description: "", personal: false, treatment: null },
      ["hunter2", "a-hunter2-b", "open"],
      redact,
    ),
  ).toEqual(["open"]);
});

test("of the catalogue no column of a person, an address or a text is shown", () => {
  const columns = describeStreams(groups, streams, new Set()).flatMap(({ tables }) =>
    tables.flatMap(table => table.columns.map(column => ({ ...column, at: `${table.name}.${column.name}` }))),
  );
  const shown = new Set(columns.filter(mayShow).map(({ at }) => at));
  expect(columns.filter(({ at, personal }) => personal && shown.has(at))).toEqual([]);
  expect(columns.filter(({ personal }) => personal).length).toBeGreaterThan(50);
  const hidden = `
    ingested.party ingested.sender_email ingested.body_preview purchase_orders.vendor_website
    purchase_order_details.buyer_name purchase_order_details.ship_to_address
    purchase_order_promise_history.sender invoice_status_history.created_by invoice_timeline.user_
    requisitions.requester_name requisitions.original_freetext requisition_details.delivery_city
    communications.body_text communications.sender_domain communication_facts.speaker
    carrier_profile_contacts.role carrier_profile_contacts.phone automation_execution_emails.recipient
    automation_history.source company_profile.webhook_url company_profile.ingest_email
    negotiation_brief_talking_points.fact identity_aliases.value`
    .trim()
    .split(/\s+/);
  const known = new Set(columns.map(({ at }) => at));
  expect(hidden.filter(at => !known.has(at))).toEqual([]);
  expect(hidden.filter(at => shown.has(at))).toEqual([]);
  const kept =
    "purchase_orders.po_number purchase_orders.fulfillment_state invoices.total_amount ingested.row_type".split(" ");
  expect(kept.filter(at => !shown.has(at))).toEqual([]);
  expect(shown.size).toBeGreaterThan(1_500);
});
