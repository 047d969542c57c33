import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { date, id, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, list } from "../../../src/catalog/stream.ts";
import { statusCacheOf } from "../../../src/daemon/cached_status.ts";
import { type PageSource, warehouseSource } from "../../../src/daemon/page/source.ts";
import { DestinationError } from "../../../src/errors.ts";
import { load } from "../../config/sample.ts";
import { sentence } from "../../support/log.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../../sync/answers.ts";
import { served, stream, telling, warehouseStatus } from "./warehouse_status.ts";

const mails = defineStream({
  name: "mails",
  path: "/mails",
  mode: list({ rows: "mails" }),
  row: record("A mail.", {
    id: id().describe("Its id."),
    sender: text().nullable().describe("Who wrote it."),
    due: date().nullable().describe("When it is due."),
  }),
  key: ["id"],
  preset: "core",
});
const notes = defineStream({
  name: "mail_notes",
  path: "/mails/{id}/notes",
  mode: detail({ of: "mails", rows: "notes" }),
  row: record("A note.", { id: id().describe("Its id."), said: text().nullable().describe("What it says.") }),
  key: ["mail_id", "id"],
  preset: "core",
});
const catalogue = [mails, notes];

/** What a stream's page says, its words in a row. */
async function shown(source: PageSource, path: string): Promise<{ markup: string; words: string; status: number }> {
  const { url } = await served(source);
  const answer = await fetch(url + path);
  const markup = await answer.text();
  const words = markup.replace(/<title>.*?<\/title>|<\/?(?:a|wbr)\b[^>]*>/gs, "").replace(/<[^>]*>/g, " ");
  return { markup, status: answer.status, words: words.replace(/\s+/g, " ").replaceAll("&quot;", '"') };
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a stream's page tells its runs, requests and their reasons, problems and drift", async () => {
    let rows = [
      { id: "a", sender: "x", due: "soon" },
      { id: "b", sender: "b", due: "2025-03-01" },
    ];
    const says = {
      "/mails": () => ({ mails: rows }),
      "/mails/a/notes": () => ({ notes: [{ id: "1", said: String(rows[0]!.sender), colour: "red" }] }),
      "/mails/b/notes": () => ({ notes: [{ id: "1", said: "b", colour: "red" }] }),
    };
    const config = { streams: { defaults: { details: { audit: 0 } } } };
    const place = await told(make, catalogue, says, config);
    await place.run();
    place.clock.advance(86_400_000);
    rows = [{ id: "a", sender: "y", due: "later" }, rows[1]!];
    await place.run();
    const own = { company: "acme", destination: place.warehouse.destination, ...config };
    const { config: loaded } = await load(stringify(own));
    const status = statusCacheOf(() => loaded, catalogue, undefined, { clock: place.clock, daemon: undefined });
    const groups = [{ title: "Mail", streams: catalogue }];
    const source = warehouseSource(() => loaded, status, { company: undefined, groups }, undefined);

    const list = await shown(source, "/streams/acme/mails");
    expect(list.words).toContain("All streams mails Mail");
    expect(list.words).toMatch(/Column Why it is empty Rows Example Last seen mails\.due .*? 1 \(50 %\) "?later"?/);
    expect(list.words).not.toContain("Why each was asked for last");

    const details = await shown(source, "/streams/acme/mail_notes");
    expect(details.words).toContain("Requests 2 details");
    expect(details.words).toContain("the row had changed 1 1 1 the row was new 0 1 0");
    expect(details.words).toMatch(/Field What is different .*? mail_notes\.colour new field: string \d "red"/);
    expect(details.words).toMatch(/Started Outcome Took Requests Rows read Changes Rejects .*? 1 1 1 changed 0 /);
  });
});

/** A source that counts how often a record is asked for. */
function counted(source: PageSource): { readonly source: PageSource; readonly asked: () => number } {
  let times = 0;
  const record: PageSource["record"] = (company, name) => {
    times++;
    return source.record(company, name);
  };
  return { source: { ...source, record }, asked: () => times };
}

test("a stream that there is not is not asked for, and names are no part of a path", async () => {
  const odd = stream({ company: "a/b", stream: "it ems" });
  const { source: counting, asked } = counted(telling(() => warehouseStatus([odd])));
  expect((await shown(counting, "/streams/acme/items")).status).toBe(404);
  expect((await shown(counting, "/streams/a%2Fb/others")).status).toBe(404);
  expect(asked()).toBe(0);
  expect((await shown(counting, "/")).markup).toContain('href="/streams/a%2Fb/it%20ems"');
  expect((await shown(counting, "/streams/a%2Fb/it%20ems")).words).toContain("it ems");
  expect(asked()).toBe(1);
});

test("a stream's page has the same door as the whole", async () => {
  const token = "t-0123456789-abcdef";
  const access = () => ({ token, login: undefined });
  const { url } = await served(
    telling(() => warehouseStatus([stream()])),
    { access },
  );
  expect((await fetch(`${url}/streams/acme/items`)).status).toBe(401);
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${url}/streams/acme/items`, { headers })).status).toBe(200);
});

test("what cannot be read is told with its advice, and what is known is there", async () => {
  const source = telling(() => warehouseStatus([stream()]));
  const failing: PageSource = {
    ...source,
    record: async () => {
      throw new DestinationError(sentence("Expected to read _tributary.schema_changes. Grant it."));
    },
  };
  const { words } = await shown(failing, "/streams/acme/items");
  expect(words).toContain("What to do Expected to read _tributary.schema_changes. Grant it.");
  expect(words).toContain("10 rows, 2 deleted");
  const held = await shown({ ...source, record: async () => undefined }, "/streams/acme/items");
  expect(held.words).toContain("10 rows, 2 deleted");
  expect(held.words).not.toContain("What to do");
});

test("a stream's record is read once for each reading of the warehouse", async () => {
  let status = warehouseStatus([stream()]);
  const { source, asked } = counted(telling(() => status));
  const { url } = await served(source);
  const look = async () => (await fetch(`${url}/streams/acme/items`)).text();
  await look();
  await look();
  expect(asked()).toBe(1);
  status = warehouseStatus([stream()]);
  await look();
  expect(asked()).toBe(2);
});

test("of a problem on the whole page a stream's page tells those that are about it", async () => {
  const failed = (name: string, error: string) => stream({ stream: name, status: "failed", error });
  const streams = [failed("items", "No items. Wait."), failed("orders", "No orders. Ask.")];
  const { words } = await shown(
    telling(() => warehouseStatus(streams)),
    "/streams/acme/items",
  );
  expect(words).toContain("No items.");
  expect(words).not.toContain("No orders.");
});

test("hostile text stays text on a stream's page", async () => {
  const hostile = `<img src=x onerror=alert(1)> "quoted" </script><script>alert(2)</script>`;
  const at = "2026-03-15T02:00:00.000Z";
  const seen = { first_seen_at: at, last_seen_at: at };
  const field = { company: hostile, stream: hostile, table_name: hostile, column_name: hostile, example: hostile };
  const source: PageSource = {
    ...telling(() =>
      warehouseStatus([stream({ company: hostile, stream: hostile, status: "failed", error: hostile })]),
    ),
    record: async () => ({
      problems: [{ ...field, reason: hostile, rows: 1, share: 1, ...seen }],
      changes: [{ ...field, change: hostile, count: 1, ...seen, example: null }],
      shaped: [{ stream: hostile, table_name: hostile, change: hostile, version: hostile, changed_at: at }],
      asked: [{ why: hostile, details: 1, last: 1, found: 0, absent: 1, failed: 1 }],
    }),
  };
  const name = encodeURIComponent(hostile);
  const { markup, words } = await shown(source, `/streams/${name}/${name}`);
  // An example that was not kept.
  expect(words.match(/not shown/g)).toHaveLength(1);
  expect(markup).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(markup).not.toMatch(/<img|<script>/);
  expect(markup.match(/<script/g)).toHaveLength(1);
});

test("the versions of a stream's schema are listed, the newest first, each with all changes of its run", async () => {
  const at = { stream: "items", table_name: "items" };
  const later = { ...at, version: "1.1.0", changed_at: "2026-03-14T02:00:00.000Z" };
  const first = { ...at, version: "1.0.0", changed_at: "2026-03-01T02:00:00.000Z" };
  const record: PageSource["record"] = async () => ({
    ...{ problems: [], changes: [], asked: [] },
    shaped: [
      { ...later, change: "added column items.colour" },
      { ...later, change: "added column items.size" },
      ...["a", "b", "c", "d", "e", "f", "g"].map(name => ({ ...first, change: `created table items_${name}` })),
    ],
  });
  const { words } = await shown({ ...telling(() => warehouseStatus([stream({})])), record }, "/streams/acme/items");
  expect(words).toMatch(
    /Versions of its schema .* 34 h ago 1\.1\.0 added column items\.colour added column items\.size 14 d ago 1\.0\.0 7 changes created table items_a/,
  );
});

test("details say what is promised of them, and what looks at random found", async () => {
  const share = (value: number) => ({ share: value, low: value / 2, high: 2 * value });
  const estimate = { wrong: share(0.014), fresh: share(0.4), sampled: 140 };
  const promised = { within_days: 2, share: 0.9 };
  const facts = { promised, estimate, longest_unseen_at: "2026-01-02T03:04:05Z" };
  const record: PageSource["record"] = async () => ({
    ...{ problems: [], changes: [], shaped: [] },
    asked: [{ why: "audit", details: 3, last: 1, found: 0, absent: 1, failed: 2 }],
  });
  const source = telling(() => warehouseStatus([stream({ details_freshness: facts })]));
  const { words } = await shown({ ...source, record }, "/streams/acme/items");
  expect(words).toContain("Requests 3 details, 1 that the service has none for, 2 that failed");
  expect(words).toContain("a look at unchanged rows 1 3 0");
  expect(words).toContain(
    "Promised 90 % of active details at most 2 d behind As looks at random say about 40 %, between 20 % and 80 % Changed unseen about 1.4 %, between 0.7 % and 2.8 %, by 140 looks at random Not looked at for longest since Fri 2 Jan, 03:04",
  );
});
