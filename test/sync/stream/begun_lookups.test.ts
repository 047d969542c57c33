import { describe, expect, test } from "vitest";
import { count, id } from "../../../schemas/fields.ts";
import { lookup } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, type Say, told } from "../answers.ts";
import type { Scenario } from "../scenario.ts";

const orders = streamOf("orders", {
  id: id(),
  vendor: id().nullable(),
  buyer: id().nullable(),
});
const standings = streamOf(
  "standings",
  { left: count() },
  { path: "/vendors/{vendorId}", mode: lookup(), key: ["vendor_id"], preset: "lookup" },
);
const catalogue = [orders, standings];
const LIMIT = 16;
const refused = instead(422, { error: { code: "BAD", message: "no", request_id: "r" } });

/** What the lookup asks with, and whatever else the configuration says. */
const config = (column: string, privacy: object = {}) => ({
  privacy,
  deletes: { min_rows: 50 },
  streams: { settings: { standings: { from: { vendor_id: [`orders.${column}`] } } } },
});

async function live({ warehouse }: Scenario): Promise<readonly string[]> {
  const found = await warehouse.query(
    "select vendor_id from procurement.standings where _deleted_at is null order by vendor_id",
  );
  return found.map(row => String(row["vendor_id"]));
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  /** Forty vendors, of whom each night one goes and another comes before the others; each also buys, by another name. */
  async function market() {
    let night = 0;
    const vendors = () => [
      ...Array.from({ length: night }, (_, i) => `A${i}`),
      ...Array.from({ length: 40 - night }, (_, i) => `V${i + night + 10}`),
    ];
    const rows = () => vendors().map(vendor => ({ id: `order of ${vendor}`, vendor, buyer: `B-${vendor}` }));
    const says: Record<string, Say> = { "/orders": () => ({ orders: rows() }) };
    const place = await told(make, catalogue, says, config("vendor"));
    const look = place.look;
    place.look = passing => {
      if (passing.path.startsWith("/vendors/")) says[passing.path] = () => ({ left: night });
      return look(passing);
    };
    return Object.assign(place, {
      async next(order: object = { maxRequests: LIMIT }) {
        place.clock.advance(86_400_000);
        const report = await place.run(order);
        night++;
        return { report, line: lineOf(report, "standings"), asked: place.asked.filter(each => each !== "/orders") };
      },
    });
  }

  test("a lookup that takes more nights than its columns stay the same is asked to its end, and the next one whole again", async () => {
    const place = await market();
    const first = Array.from({ length: 40 }, (_, i) => `V${i + 10}`);
    const asked: string[] = [];
    for (let nights = 0; nights < 3; nights++) {
      const { report, line, asked: those } = await place.next();
      asked.push(...those);
      expect(report.exit_code).toBe(nights < 2 ? 5 : 0);
      if (nights === 2) expect(line).toMatchObject({ inserted: 40, status: "succeeded" });
    }
    expect(new Set(asked)).toEqual(new Set(first.map(vendor => `/vendors/${vendor}`)));
    expect(await live(place)).toEqual(first);
    // The one that is begun now asks for what the columns hold now. Who is missing twice is gone.
    await place.next({});
    expect(await live(place)).toEqual(expect.arrayContaining(["A0", "A1", "A2", ...first]));
    await place.next({});
    expect(await live(place)).not.toEqual(expect.arrayContaining(["V10"]));
  });

  test("a begun lookup is begun anew when the configuration gives it another column", async () => {
    const place = await market();
    await place.next();
    place.configure(config("buyer"));
    const { line, asked } = await place.next({});
    expect(line).toMatchObject({ carried: 0, inserted: 40 });
    expect(asked.every(each => each.startsWith("/vendors/B-"))).toBe(true);
  });

  test("a begun lookup is begun anew when its values are treated now, and nothing keeps them", async () => {
    const place = await market();
    await place.next();
    place.configure(config("buyer", { exclude_columns: ["orders.vendor"] }));
    const kept = () => place.warehouse.query("select cast(state as text) as state from _tributary.stream_state");
    expect(JSON.stringify(await kept())).toContain("V10");
    await place.run({ names: ["orders"] });
    expect(JSON.stringify(await kept())).not.toContain("V10");
  });

  test("a begun lookup that gets no further is begun anew as soon as the columns hold other values", async () => {
    let sort = "bad";
    const vendors = () => Array.from({ length: 30 }, (_, i) => `${sort}${i}`);
    const says: Record<string, Say> = {
      "/orders": () => ({ orders: vendors().map(vendor => ({ id: `order of ${vendor}`, vendor, buyer: "B" })) }),
    };
    const place = await told(make, catalogue, says, config("vendor"));
    const look = place.look;
    place.look = passing => {
      if (passing.path.startsWith("/vendors/bad")) return refused;
      if (passing.path.startsWith("/vendors/")) says[passing.path] = () => ({ left: 1 });
      return look(passing);
    };
    const next = async () => {
      place.clock.advance(86_400_000);
      return lineOf(await place.run(), "standings");
    };
    expect(await next()).toMatchObject({ status: "failed" });
    sort = "good";
    // A list that no longer has any of its rows is believed at the second look; until then both sorts are asked for.
    for (let i = 0; i < 3; i++) await next();
    expect(await next()).toMatchObject({ status: "succeeded" });
    expect((await live(place)).every(vendor => vendor.startsWith("good"))).toBe(true);
  });
});
