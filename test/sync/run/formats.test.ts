import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { id, moment } from "../../../schemas/fields.ts";
import { detail } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { addressIn, again } from "../../operations/replay/again.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { page, type Told, told } from "../answers.ts";
import { events } from "../events.ts";

const made = moment().nullable().describe("When it was made.");
const orders = streamOf("orders", { id: id() });
const details = streamOf(
  "order_details",
  { id: id(), made_at: made },
  { path: "/orders/{id}", mode: detail({ of: "orders" }) },
);
const catalogue = [events, orders, details];

/** The service says no zone. */
const eventRows = Array.from({ length: 40 }, (_, nth) => ({
  event_id: `E${10 + nth}`,
  happened_at: `2026-${nth < 37 ? "02-01" : "03-14"}T10:00:00`,
}));
const orderRow = (name: string) => ({ id: name, made_at: "2026-02-01T10:00:00" });
const names = Array.from({ length: 12 }, (_, nth) => `P${10 + nth}`);

/** Two pages of the feed, three rows of it since the high-water mark; the clock stands still at 2026-03-15. */
const says = {
  "/events": ({ query }: { query: URLSearchParams }) => {
    if (query.has("date_from")) return page({ events: eventRows.slice(37) }, null);
    return query.has("cursor")
      ? page({ events: eventRows.slice(20) }, null)
      : page({ events: eventRows.slice(0, 20) }, "2");
  },
  // No detail is due because its order changed.
  "/orders": () => ({ orders: names.map(name => ({ id: name })) }),
  ...Object.fromEntries(names.map(each => [`/orders/${each}`, () => orderRow(each)])),
};

const settings = (more: object = {}) => ({ streams: { defaults: { details: { audit: 0 } }, settings: more } });
const utc = settings();
const newYork = { ...utc, formats: { timezone: "America/New_York" } };
const whole = ["/events?limit=100", "/events?limit=100&cursor=2"];
const narrowed = "/events?date_from=2026-03-12&limit=100";

async function loaded(make: () => Promise<Warehouse>, config: object = utc): Promise<Told> {
  const place = await told(make, catalogue, says, { ...config });
  expect((await place.run()).exit_code).toBe(0);
  await place.run();
  expect(place.asked).toEqual(expect.arrayContaining([narrowed]));
  expect(place.asked).toHaveLength(2);
  return place;
}

/** How many rows of a table say ten o'clock by UTC. */
const atTen = (place: Told, table: string, column: string) =>
  place.count(table, `extract(hour from ${column} at time zone 'UTC') = 10`);

async function expectNewYork(place: Told): Promise<void> {
  expect(await atTen(place, "events", "happened_at")).toBe(0);
  expect(await place.count("events")).toBe(40);
  expect(await atTen(place, "order_details", "made_at")).toBe(0);
  expect(await place.count("order_details")).toBe(12);
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("other formats: feeds are read whole and details fetched again, the run says beforehand what that costs, and --dry-run names it", async () => {
    const place = await loaded(make);
    expect(await atTen(place, "events", "happened_at")).toBe(40);
    place.configure(newYork);
    const { streams } = await place.dryRun({ catalogue });
    const line = (name: string) => streams.find(({ stream }) => stream === name);
    expect(line("events")).toMatchObject({ requests: 2, why: expect.stringContaining("formats changed") });
    expect(line("order_details")).toMatchObject({ requests: 12, why: expect.stringContaining("formats changed") });
    place.said.length = 0;
    const report = await place.run();
    const expected = [...whole, "/orders", ...names.map(each => `/orders/${each}`)];
    expect(place.asked.toSorted()).toEqual(expected.toSorted());
    await expectNewYork(place);
    const told = expect.stringMatching(/^formats: 3 streams .* timezone UTC.* America\/New_York.* 14 requests/);
    expect(place.said).toEqual(expect.arrayContaining([told]));
    const fields = { streams: 3, before: [{ timezone: "UTC" }], now: { timezone: "America/New_York" }, requests: 14 };
    expect(report.notes).toMatchObject([{ code: "run.formats_changed", message: told, fields }]);
    expect(report.exit_code).toBe(0);
    // From then on it is as ever.
    expect(await place.run()).toMatchObject({ notes: [], warnings: [] });
    expect(place.asked).toHaveLength(2);
    expect(place.asked).toContain(narrowed);
    const [, , after] = (await place.dryRun({ catalogue })).streams;
    expect(after).toMatchObject({ stream: "order_details", why: expect.stringMatching(/^none is due/) });
  });

  test("a run that is stopped on the way forgets none of it, and max_details spreads the details over runs", async () => {
    const place = await loaded(make);
    place.configure({ ...newYork, ...settings({ order_details: { max_details: 5 } }) });
    expect((await place.run({ maxRequests: 2 })).exit_code).toBe(5);
    expect((await place.run({ names: ["orders"] })).exit_code).toBe(0);
    for (let nth = 0; nth < 4; nth++) await place.run();
    await expectNewYork(place);
    expect(place.asked).toHaveLength(2);
  });

  test("formats that were set for a while are forgotten again, however far their run came", async () => {
    const place = await loaded(make);
    place.configure({ ...newYork, ...settings({ order_details: { max_details: 5 } }) });
    await place.backfill({ catalogue, names: ["events"], range: { from: "2026-03-01", to: undefined } });
    await place.run({ names: ["order_details"] });
    expect(await atTen(place, "order_details", "made_at")).toBe(7);
    place.configure(utc);
    await place.run();
    expect(place.asked).toEqual(expect.arrayContaining(whole));
    for (const [table, column] of [
      ["events", "happened_at"],
      ["order_details", "made_at"],
    ] as const)
      expect(await atTen(place, table, column)).toBe(await place.count(table));
  });

  test("a replay with other formats leaves nothing mixed: what it loads again need not be all", async () => {
    const archive = { path: await mkdtemp(join(tmpdir(), "tributary-formats-")), keep: "3000d" };
    onTestFinished(() => rm(archive.path, { recursive: true }));
    const place = await loaded(make, { ...utc, archive });
    const replaying = again(place.warehouse, place.clock, { ...newYork, archive }, await addressIn(place.warehouse));
    expect((await replaying.replay({ catalogue })).exit_code).toBe(0);
    expect(await atTen(place, "order_details", "made_at")).toBe(0);
    place.configure(newYork);
    await place.run();
    expect(place.asked.toSorted()).toEqual([...whole, "/orders"].toSorted());
    await expectNewYork(place);
  });

  test("verify compares nothing that was read with other formats, and says so", async () => {
    const place = await loaded(make);
    place.configure(newYork);
    const { streams, exit_code } = await place.verify({ catalogue });
    expect(exit_code).toBe(1);
    for (const { differences, error } of streams) {
      expect(differences).toBe(0);
      expect(error).toContain("formats changed since its rows were read: run `tributary sync");
    }
  });
});
