import { describe, expect, test } from "vitest";
import { id, moment, record, text } from "../../../schemas/fields.ts";
import { defineStream, feed, scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { forget } from "../../support/forgetting.ts";
import { type Passing, refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, type Told, told } from "../answers.ts";
import { scenario } from "../scenario.ts";

const things = streamOf("things", { id: id(), state: text().nullable() }, { mode: scan({ rows: "things" }) });

const live = "_deleted_at is null";
const addressed = { ...things, mode: scan({ rows: "things", total: "total", confirm: "/things/{id}" }) };
const counted = { ...things, mode: scan({ rows: "things", total: "total" }) };

/** A service with offset pages: what goes before the cursor draws the rows behind it one place forward. */
interface Offset {
  readonly place: Told;
  rows: string[];
  /** Which addresses answer 200; the others 404. */
  known: (key: string) => boolean;
  /** Called before each page is made. */
  before: (offset: number) => void;
  /** Pages that were asked for: offset and limit. */
  readonly pages: [number, number][];
  /** Milliseconds before each run. */
  pause: number;
}

async function offset(
  make: Parameters<typeof told>[0],
  stream: typeof things,
  count: number,
  config: object = {},
): Promise<Offset> {
  const place = await told(make, [stream], {}, config as Record<string, unknown>);
  const service: Offset = {
    place,
    rows: Array.from({ length: count }, (_, n) => `T${1000 + n}`),
    known: key => service.rows.includes(key),
    before: () => undefined,
    pages: [],
    pause: 3_600_000,
  };
  const { run } = place;
  const afterPause: Told["run"] = order => {
    place.clock.advance(service.pause);
    return run(order);
  };
  Object.assign(place, { run: afterPause });
  place.says["/things"] = ({ query }) => {
    const at = Number(query.get("cursor") ?? 0);
    const limit = Number(query.get("limit"));
    service.pages.push([at, limit]);
    service.before(at);
    const next = at + limit < service.rows.length ? String(at + limit) : null;
    const shown = service.rows.slice(at, at + limit).map(key => ({ id: key, happened_at: "2026-01-01T00:00:00Z" }));
    return page({ total: service.rows.length, things: shown }, next);
  };
  const others = place.look;
  place.look = passing => {
    const key = /^\/things\/(.+)$/.exec(passing.path)?.[1];
    if (key !== undefined && service.known(key)) place.says[passing.path] = () => ({ id: key });
    else if (key !== undefined) delete place.says[passing.path];
    return others(passing);
  };
  await place.run();
  service.pages.length = 0;
  return service;
}

/** One row goes from the first page and one comes at the end while the third page is asked for. */
function swap(service: Offset): { gone: string; hidden: string } {
  const gone = service.rows[10]!;
  const hidden = service.rows[200]!;
  service.before = at => {
    if (at !== 200) return;
    service.rows = [...service.rows.filter(key => key !== gone), "T9999"];
    service.before = () => undefined;
  };
  return { gone, hidden };
}

const addressesIn = (place: Told) => place.asked.filter(path => path.startsWith("/things/")).map(path => path.slice(8));

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("equal totals are no proof: of 300 rows one goes before the cursor and one comes, and no live row is deleted", async () => {
    const service = await offset(make, addressed, 300);
    const { gone, hidden } = swap(service);
    const { place } = service;
    const first = lineOf(await place.run(), "things");
    expect(first).toMatchObject({ status: "succeeded", deleted: 0, missing: 1, inserted: 1 });
    expect(first.difference_reason).toBe("1 missing, undecided");
    expect(addressesIn(place)).toContain(hidden);
    expect(await place.count("things", `${live} and id in ('${hidden}', '${gone}')`)).toBe(2);
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 1, missing: 0, difference_reason: "equal" });
    expect(await place.count("things", `not (${live}) and id = '${gone}'`)).toBe(1);
  });

  test("rows without an address are deleted when a run at least 15 minutes later misses them too; equal totals prove nothing", async () => {
    const service = await offset(make, counted, 300);
    const { gone, hidden } = swap(service);
    const { place } = service;
    // The first scan shows the row that goes, and misses one that is there.
    expect(lineOf(await place.run({ full: true }), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(await place.count("things", `${live} and id in ('${hidden}', '${gone}')`)).toBe(2);
    service.pause = 14 * 60_000;
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
    service.pause = 2 * 60_000;
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 1, missing: 0 });
    expect(await place.count("things", `not (${live}) and id = '${gone}'`)).toBe(1);
    expect(service.pages).toHaveLength(12);
  });

  test("more than half of a list is believed to be gone once the next run's scan agrees, and no address is requested", async () => {
    const service = await offset(make, addressed, 45);
    const { place, rows } = service;
    service.known = () => true;
    service.rows = rows.slice(0, 1);
    const night = await place.run();
    expect(lineOf(night, "things")).toMatchObject({ status: "warning", deleted: 0, missing: 44 });
    expect(lineOf(night, "things").difference_reason).toContain("44 missing, undecided");
    expect(night.warnings).toMatchObject([{ code: "deletes.half", fields: { missing: 44, live: 45 } }]);
    expect(addressesIn(place)).toEqual([]);
    service.rows = rows;
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", missing: 0 });
    expect(await place.count("things", live)).toBe(45);
    service.rows = rows.slice(0, 20);
    expect(lineOf(await place.run({ full: true }), "things")).toMatchObject({ deleted: 0, missing: 25 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", deleted: 25, missing: 0 });
  });

  test("one answer that holds the whole list deletes at once and asks nobody; as many rows as its limit are a page", async () => {
    const service = await offset(make, addressed, 101);
    const { place } = service;
    service.rows = service.rows.slice(3);
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", deleted: 3, missing: 0 });
    expect(addressesIn(place)).toEqual([]);
    service.rows = [...service.rows.slice(1), "T2", "T3", "T4"];
    expect(service.rows).toHaveLength(100);
    service.known = () => true;
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
  });

  test("a working list deletes at once, in however many pages it comes", async () => {
    const service = await offset(make, { ...things, mode: scan({ rows: "things", absence: "left" }) }, 250);
    service.rows = service.rows.slice(200);
    expect(lineOf(await service.place.run(), "things")).toMatchObject({
      status: "succeeded",
      deleted: 200,
      missing: 0,
    });
  });

  test("a 404 counts only where the same path answers 200 for a row of the list", async () => {
    const service = await offset(make, addressed, 250);
    const { place } = service;
    service.rows = service.rows.slice(2);
    service.known = () => false;
    for (const _ of [1, 2]) {
      const run = await place.run();
      expect(lineOf(run, "things")).toMatchObject({ status: "succeeded", deleted: 0, missing: 2 });
      expect(run.notes).toMatchObject([{ code: "deletes.addresses_unusable", fields: { forbidden: false } }]);
      expect(addressesIn(place)).toEqual(service.rows.slice(0, 3));
    }
    service.known = key => service.rows.includes(key);
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 2, missing: 0 });
  });

  test("a run asks confirm_max addresses, the next ones go on, and rows that are there keep none from its turn", async () => {
    const service = await offset(make, addressed, 250, { deletes: { confirm_max: 3 } });
    const { place } = service;
    const gone = service.rows.slice(0, 8);
    service.rows = service.rows.slice(8);
    // The first five are hidden, not gone.
    service.known = key => !gone.slice(5).includes(key);
    const turns: string[][] = [];
    for (const _ of [1, 2, 3]) {
      await place.run();
      turns.push(
        addressesIn(place)
          .filter(key => gone.includes(key))
          .sort(),
      );
    }
    expect(turns).toEqual([gone.slice(0, 3), gone.slice(3, 6), [gone[0], ...gone.slice(6)]]);
    expect(await place.count("things", `not (${live})`)).toBe(3);
    expect(await place.count("things", `${live} and id in (${gone.map(key => `'${key}'`).join()})`)).toBe(5);
  });

  test("where the key may not read the addresses, two complete scans decide", async () => {
    const service = await offset(make, addressed, 250);
    const { place } = service;
    const others = place.look;
    place.look = passing => (passing.path.startsWith("/things/") ? refused(403, "FORBIDDEN") : others(passing));
    service.rows = service.rows.slice(2);
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", deleted: 0, missing: 2 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", deleted: 2, missing: 0 });
  });

  test("a row without an address that comes back begins anew", async () => {
    const service = await offset(make, counted, 250);
    const { place } = service;
    const [back] = service.rows;
    service.rows = service.rows.slice(3);
    expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", deleted: 0, missing: 3 });
    service.rows.push(back!);
    expect(lineOf(await place.run(), "things")).toMatchObject({ inserted: 0, updated: 0, deleted: 2, missing: 0 });
    service.rows = service.rows.filter(key => key !== back);
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(service.pages.every(([, limit]) => limit === 100)).toBe(true);
  });

  test("a feed that missed a row reads whole again the next run", async () => {
    const events = defineStream({
      ...things,
      mode: feed({
        rows: "things",
        highWaterColumn: "happened_at",
        narrow: { by: "dates", from: "date_from", to: "date_to" },
        ...{ fullScanPages: 1, fullScanEveryDays: 30, lookbackDays: 2 },
      }),
      row: record("Things.", { id: id().describe("Which."), happened_at: moment().nullable().describe("When.") }),
    });
    const service = await offset(make, events, 250);
    const { place } = service;
    service.rows = service.rows.slice(1);
    expect(lineOf(await place.run({ full: true }), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 1, missing: 0 });
    service.rows = service.rows.slice(1);
    place.clock.advance(31 * 86_400_000);
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 0, missing: 1 });
    expect(lineOf(await place.run(), "things")).toMatchObject({ deleted: 1, missing: 0 });
    expect(place.asked.every(path => !path.includes("date_from"))).toBe(true);
    await place.run();
    expect(place.asked.filter(path => !path.includes("date_from"))).toEqual([]);
  });

  test("an address's answer keeps a row, a refusal decides nothing, and neither do two scans", async () => {
    const place = await scenario(make, { orders: 120 });
    const { simulator, sync, count } = place;
    const names = ["purchase_orders"];
    await sync({ names });
    const [hidden, mute] = [...simulator.truth.rows("purchase_orders")].slice(40).map(row => String(row["po_number"]));
    const gone = new Set([...simulator.delete("purchase_orders", 4), hidden!, mute!]);
    simulator.delete("purchase_orders", [hidden!, mute!]);
    const own = (key: string | undefined) => `/po/${encodeURIComponent(key!)}`;
    // The list hides both, but the service still knows the one, and says nothing of the other.
    place.look = ({ path }) => {
      if (path === own(mute)) return refused(400, "BROKEN");
      return path === own(hidden) ? { status: 200, body: { data: {}, meta: {} } } : undefined;
    };
    // So that there are two pages.
    simulator.insert("purchase_orders", 20);
    const report = await sync({ names });
    expect(lineOf(report, names[0]!)).toMatchObject({ status: "succeeded", deleted: gone.size - 2, missing: 2 });
    for (const _ of [1, 2]) expect(lineOf(await sync({ names }), names[0]!)).toMatchObject({ deleted: 0, missing: 2 });
    expect(await count("purchase_orders", `${live} and po_number in ('${hidden}', '${mute}')`)).toBe(2);
  });

  test("a list that shows fewer rows than it counts is not complete: only a 404 deletes, and nothing is remembered", async () => {
    const place = await scenario(make, { orders: 130 });
    const { simulator, sync, count } = place;
    const names = ["purchase_orders"];
    await sync({ names });
    const [gone, hidden, forbidden] = simulator
      .delete("purchase_orders", 3)
      .map(key => `/po/${encodeURIComponent(key)}`);
    simulator.patchDetail("/po", { stats: { total: 500 } });
    place.look = ({ path }) => {
      if (path === hidden) return { status: 200, body: { data: {}, meta: {} } };
      return path === forbidden ? refused(403, "FORBIDDEN") : undefined;
    };
    const first = await sync({ names });
    expect(lineOf(first, "purchase_orders")).toMatchObject({ deleted: 1, missing: 2, error: null });
    expect(first.warnings).toMatchObject([{ code: "rows.unseen", fields: { total: 500, shown: 127 } }]);
    expect(lineOf(await sync({ names }), "purchase_orders")).toMatchObject({ deleted: 0, missing: 2 });
    expect(await count("purchase_orders", live)).toBe(129);
    expect(await count("_tributary.rows_purchase_orders", "missing_since is not null")).toBe(0);
    expect(simulator.requests.entries.filter(entry => `${entry.path}` === gone)).toHaveLength(1);
  });

  test("more deletions than the guard allows are held back with their numbers, the rest is published, and one run may accept them", async () => {
    const { simulator, sync, count } = await scenario(make, { orders: 200 });
    await sync({ names: ["purchase_orders"] });
    simulator.delete("purchase_orders", 60);
    simulator.insert("purchase_orders", 2);
    const held = await sync({ names: ["purchase_orders"] });
    expect(held).toMatchObject({ status: "failed", exit_code: 1 });
    expect(lineOf(held, "purchase_orders")).toMatchObject({ status: "failed", inserted: 2, deleted: 0, missing: 60 });
    expect(lineOf(held, "purchase_orders").error).toMatch(/60 of 20[02] live rows.*--confirm-deletes/s);
    expect(await count("purchase_orders", live)).toBe(202);
    // It counts what the list does not show, before any address is asked.
    expect(simulator.requests.count("/po/{po_number}")).toBe(0);
    const again = await sync({ names: ["purchase_orders"] });
    expect(again.exit_code).toBe(1);
    const accepted = await sync({ names: ["purchase_orders"], confirmDeletes: true });
    expect(lineOf(accepted, "purchase_orders")).toMatchObject({ status: "succeeded", deleted: 60, missing: 0 });
    expect(await count("purchase_orders", live)).toBe(142);
  });

  test("a list that comes back empty deletes nothing until that is confirmed", async () => {
    const { simulator, sync, count } = await scenario(make, { items: 30 });
    await sync();
    simulator.delete("items", 30);
    // Whatever the next run says, an empty answer stays unbelieved.
    for (const _ of [1, 2]) {
      const held = await sync();
      expect(held.exit_code).toBe(1);
      expect(lineOf(held, "items")).toMatchObject({ status: "failed", deleted: 0, missing: 30 });
      expect(lineOf(held, "items").error).toContain("came back empty, though 30 rows are live");
    }
    expect(await count("items", live)).toBe(30);
    await sync({ confirmDeletes: true });
    expect(await count("items", live)).toBe(0);
    expect(await sync()).toMatchObject({ status: "succeeded" });
  });

  test.each(["they are accepted", "it is named again", "the stream is reset"])(
    "rows of a status that the config names no more are not taken for deleted until %s",
    async until => {
      const rows = Array.from({ length: 9 }, (_, n) => ({ id: String(n), state: n < 8 ? "open" : "closed" }));
      const shown = ({ query }: Passing) => rows.filter(row => row.state === (query.get("status") ?? "open"));
      const stream = until === "it is named again" ? things : counted;
      const closed = { streams: { settings: { things: { statuses: ["closed"] } } } };
      const says = {
        "/things": (passing: Passing) => page({ total: shown(passing).length, things: shown(passing) }, null),
      };
      const place = await told(make, [stream], says, closed);
      const line = async (order: object = {}) => lineOf(await place.run(order), "things");
      await place.run();
      place.configure({});
      if (until === "the stream is reset") await forget(place, [stream], ["things"]);
      for (const _ of [1, 2, 3]) expect(await line()).toMatchObject({ deleted: 0, missing: 1 });
      expect(await place.count("things", live)).toBe(9);
      if (until === "they are accepted") {
        expect(await line({ full: true, confirmDeletes: true })).toMatchObject({ deleted: 1, missing: 0 });
        rows.shift();
      } else {
        rows.pop();
        place.configure(closed);
      }
      await line({ full: true });
      place.clock.advance(3_600_000);
      expect(await line({ full: true })).toMatchObject({ missing: 0 });
      expect(await place.count("things", live)).toBe(until === "they are accepted" ? 7 : 8);
    },
  );
});
