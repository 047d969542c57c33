import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";
import { ask, type Json, read, readAll, rowsOf, stillClock } from "./reading.ts";

const clock = stillClock("2026-03-15T12:00:00Z");
let service: Simulator;
let findings: Json[];
let feed: Json[];
beforeAll(async () => {
  service = await startSimulator({ seed: 1, sizes: { findings: 400, ingested: 900 }, now: clock.now });
  findings = [...service.truth.rows("findings")];
  feed = [...service.truth.rows("ingested")];
});
afterAll(() => service.close());

async function same(path: string, expected: readonly Json[]): Promise<void> {
  expect(expected.length).toBeGreaterThan(0);
  expect(JSON.stringify(await readAll(service, path, 30))).toBe(JSON.stringify(expected));
}

function counter(rows: readonly Json[], field: string): [unknown, number][] {
  return [...Map.groupBy(rows, row => row[field])].map(([value, group]) => [value, group.length]);
}

test.each(["status", "category", "po_number", "vendor_id", "doc_id"])("findings are filtered by %s", async field => {
  const [value] = counter(findings, field).find(([name]) => name !== null) ?? [];
  await same(
    `/findings?${field}=${encodeURIComponent(String(value))}`,
    findings.filter(row => row[field] === value),
  );
});

test("detected_within looks back from the clock on created_at", async () => {
  for (const days of [1, 7, 30, 90]) {
    const since = clock.now().getTime() - days * 86_400_000;
    const expected = findings.filter(row => Date.parse(String(row["created_at"])) >= since);
    await same(`/findings?detected_within=${days}d`, expected);
  }
  expect((await read(service, "/findings?detected_within=5d&limit=100")).data["findings"]).toEqual(
    findings.slice(0, 100),
  );
});

test("findings stand by category, then money, the undeclared last", () => {
  const order = ["billing", "contracts", "payments", "receiving", "documents", null];
  const places = findings.map(row => order.indexOf(row["category"] as string | null));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  for (const name of order) {
    const amounts = findings
      .filter(row => row["category"] === name)
      .map(row => (row["amount"] as { value: number } | null)?.value ?? -1);
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
  }
});

test("a new finding takes the place its money gives it", async () => {
  const own = await startSimulator({ seed: 5, now: clock.now });
  own.insert("findings", 20);
  const rows = [...own.truth.rows("findings")].filter(row => row["category"] === "billing");
  const amounts = rows.map(row => (row["amount"] as { value: number } | null)?.value ?? -1);
  expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
  await own.close();
});

test("findings are sorted otherwise on request, page by page; an unknown sort is the default", async () => {
  const amount = (row: Json): number => (row["amount"] as { value: number } | null)?.value ?? -0.01;
  const rows = await readAll(service, "/findings?sort_by=amount", 30);
  expect(rows.map(amount)).toEqual(findings.map(amount).sort((a, b) => b - a));
  const rising = await readAll(service, "/findings?sort_by=amount&sort_dir=asc", 30);
  expect(rising.map(amount)).toEqual(findings.map(amount).sort((a, b) => a - b));
  const dates = (await readAll(service, "/findings?sort_by=document_date", 30)).map(row =>
    String(row["source_document_date"] ?? ""),
  );
  expect(dates).toEqual([...dates].sort().reverse());
  await same("/findings?sort_by=nothing", findings);
  const [first] = rowsOf("/findings", await read(service, "/findings?persona=logistics&limit=1"));
  expect(first?.["category"]).toBe("receiving");
});

test("the totals beside the findings count all pages, and only what the filter lets through", async () => {
  const { data } = await read(service, "/findings?limit=1");
  const closed = findings.filter(row => row["status"] === "resolved" || row["status"] === "dismissed").length;
  expect(Number(data["resolved_count"])).toBe(closed);
  expect(Number(data["open_count"])).toBe(findings.length - closed);
  const counts = (envelope: Json) =>
    (envelope["category_counts"] as Json[]).map(row => [row["category"], row["count"]]);
  for (const [category, count] of counts(data)) {
    expect(count).toBe(findings.filter(row => row["category"] === category).length);
  }
  const narrowed = (await read(service, "/findings?category=billing&limit=1")).data;
  expect(counts(narrowed).filter(([, count]) => count !== 0)).toEqual([
    ["billing", findings.filter(row => row["category"] === "billing").length],
  ]);
});

const filed = (row: Json): boolean =>
  ["vendor_marketing", "auto_reply", "system_notification"].includes(String(row["email_class"]));

test("filed noise mail is listed only on request", async () => {
  expect(feed.some(filed)).toBe(true);
  await same(
    "/ingested",
    feed.filter(row => !filed(row)),
  );
  await same("/ingested?include_filed=true", feed);
  await same("/ingested?filed_only=1&emails_only=true", feed.filter(filed));
});

test("the feed is narrowed to a branch, a source, a type, a direction or a text", async () => {
  const shown = feed.filter(row => !filed(row));
  await same(
    "/ingested?docs_only=true",
    shown.filter(row => row["row_type"] === "document"),
  );
  await same(
    "/ingested?emails_only=true",
    shown.filter(row => row["row_type"] === "email"),
  );
  await same(
    "/ingested?imports_only=1",
    shown.filter(row => row["row_type"] === "import"),
  );
  await same(
    "/ingested?source=upload",
    shown.filter(row => row["source"] === "upload"),
  );
  await same(
    "/ingested?type=invoice",
    shown.filter(row => row["type"] === "invoice"),
  );
  await same(
    "/ingested?direction=inbound",
    shown.filter(row => row["email_direction"] === "inbound"),
  );
  await same(
    "/ingested?search=lieferverzug",
    shown.filter(row => /lieferverzug/i.test(`${row["title"]} ${row["subject"]}`)),
  );
});

test.each([
  ["2025-06-10", "2025-06-20"],
  ["2026-03-01", undefined],
  [undefined, "2024-04-01"],
  ["2025-01-05", "2025-01-05"],
])("the feed's window from %s to %s holds both days and no row without a time", async (from, to) => {
  const query = [from && `date_from=${from}`, to && `date_to=${to}`, "include_filed=true"].filter(Boolean).join("&");
  const expected = feed.filter(row => {
    if (row["ts"] === null) return false;
    const day = new Date(String(row["ts"])).toISOString().slice(0, 10);
    return day >= (from ?? "") && day <= (to ?? "9999");
  });
  await same(`/ingested?${query}`, expected);
});

test("a date that is none is refused", async () => {
  for (const date of ["yesterday", "2026-13-01", "01.03.2026"]) {
    expect((await ask(service, `/ingested?date_from=${date}`)).status).toBe(422);
  }
});

test("items are filtered by category, sourcing and text", async () => {
  const items = [...service.truth.rows("items")];
  await same(
    "/items?category=Bearings",
    items.filter(row => row["category"] === "Bearings"),
  );
  await same(
    "/items?sourcing=sole_source",
    items.filter(row => row["sourcing_strategy"] === "sole_source"),
  );
  await same(
    "/items?search=valve",
    items.filter(row => /valve/i.test(String(row["description"]))),
  );
});
