import { describe, expect, test } from "vitest";
import { count, id, moment, text } from "../../../schemas/fields.ts";
import { feed, lookup, snapshot } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { addressIn, again } from "../../operations/replay/again.ts";
import { temporaryFolder } from "../../source/archive/folder.ts";
import { stillClock } from "../../support/clock.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";
import { scenario } from "../scenario.ts";

const DAY = 86_400_000;
const figures = streamOf("figures", { orders: count() }, { mode: snapshot({}), key: ["observed_on"] });
const events = streamOf(
  "events",
  { event_id: id(), happened_at: moment().nullable() },
  {
    mode: feed({
      ...{ rows: "events", highWaterColumn: "happened_at", narrow: { by: "dates", from: "date_from", to: "date_to" } },
      ...{ fullScanPages: 1, fullScanEveryDays: 30, lookbackDays: 2 },
    }),
  },
);

const prices = streamOf(
  "prices",
  { place: id(), price: text() },
  { path: "/prices/{thing}", mode: lookup({ rows: "prices" }), key: ["thing", "place"] },
);

/** A service with a clock of its own, and a warehouse that has been loaded once. */
async function apart(make: () => Promise<Warehouse>, config: Readonly<Record<string, unknown>> = {}) {
  const service = stillClock();
  const place = await scenario(make, { orders: 30 }, { options: { now: service.date }, config });
  expect(await place.sync()).toMatchObject({ exit_code: 0 });
  const changed = async () =>
    place.warehouse.query<{ at: Date }>("select max(_changed_at) as at from procurement.purchase_orders");
  return { place, service, changed };
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a clock that is 6 minutes behind ends the run with exit code 2 and both times, before anything is written", async () => {
    const off = -6 * 60_000;
    const { place, service, changed } = await apart(make);
    const { clock, sync, simulator, warehouse } = place;
    const written = async () => [await changed(), await warehouse.query("select run_id from _tributary.runs")];
    const before = await written();
    simulator.update("purchase_orders", 2);
    clock.advance(off);
    const refusal = await sync().catch(error => error);
    expect(refusal).toMatchObject({ exitCode: 2, code: "source.clock" });
    for (const time of [service, clock]) expect(refusal.message).toContain(time.date().toISOString());
    expect(await written()).toEqual(before);
    clock.advance(-off);
    expect(lineOf(await sync(), "purchase_orders")).toMatchObject({ updated: 2 });
  });

  test("a clock that is set wrong while details are fetched ends the run with exit code 2", async () => {
    const { place } = await apart(make);
    const { clock, sync, simulator } = place;
    simulator.update("purchase_orders", 30);
    let details = 0;
    place.look = ({ path }) => {
      if (path.startsWith("/po/") && ++details === 2) clock.advance(2 * DAY);
      return undefined;
    };
    expect(await sync()).toMatchObject({ exit_code: 2, errors: [{ code: "source.clock" }] });
  });

  test("with `api.clock: ignore` our clock dates everything", async () => {
    const { place, changed } = await apart(make, { api: { clock: "ignore" } });
    const { clock, sync, simulator } = place;
    clock.advance(2 * DAY);
    simulator.update("purchase_orders", 2);
    expect(await sync()).toMatchObject({ exit_code: 0 });
    expect(await changed()).toEqual([{ at: clock.date() }]);
  });

  test.each([-365, 365])(
    "a single answer that is dated %i days off dates no figure, mark or completeness",
    async days => {
      const place = await told(make, [figures, events], {});
      const { clock, warehouse, says } = place;
      let orders = 1;
      const off = () => new Date(clock.now() + days * DAY);
      says["/figures"] = () => ({ ...page({ orders }, null), date: orders === 1 ? clock.date() : off() });
      const ahead = new Date(clock.now() + 100 * DAY).toISOString();
      says["/events"] = () => ({ ...page({ events: [{ event_id: "A", happened_at: ahead }] }, null), date: off() });
      await place.run({ names: ["figures"] });
      clock.advance(DAY);
      orders = 2;
      expect(await place.run({ names: ["figures"] })).toMatchObject({ exit_code: 0 });
      const today = clock.date();
      const day = (at: Date) => at.toISOString().slice(0, 10);
      expect(
        await warehouse.query("select cast(observed_on as varchar) as day, orders from procurement.figures order by 1"),
      ).toMatchObject([
        { day: day(new Date(today.getTime() - DAY)), orders: 1 },
        { day: day(today), orders: 2 },
      ]);
      expect(await place.run({ names: ["events"] })).toMatchObject({ exit_code: 0 });
      const [state] = await warehouse.query<{ state: unknown }>(
        "select state from _tributary.stream_state where stream = 'events'",
      );
      const stored = typeof state!.state === "string" ? JSON.parse(state!.state) : state!.state;
      expect(stored).toMatchObject({ mark: today.toISOString(), lastFullAt: today.toISOString() });
      expect(await warehouse.query("select complete_to from _tributary.streams order by stream")).toMatchObject([
        { complete_to: today },
        { complete_to: today },
      ]);
      expect(await warehouse.query("select _changed_at as at from procurement.events")).toEqual([{ at: today }]);
    },
  );

  describe.each([-365, 365])("a single answer that is dated %i days off", days => {
    const off = (clock: { now(): number }) => new Date(clock.now() + days * DAY);
    const dayOf = (at: Date) => at.toISOString().slice(0, 10);

    test("is compared with today's figures by verify, and loaded again for its own day by replay", async () => {
      const archive = { archive: { path: await temporaryFolder() } };
      const place = await told(make, [figures], {}, archive);
      const { clock, warehouse, says } = place;
      let isOff = false;
      says["/figures"] = () => ({ ...page({ orders: 1 }, null), date: isOff ? off(clock) : clock.date() });
      await place.run();
      const first = clock.date();
      clock.advance(DAY);
      isOff = true;
      await place.run();
      const observed = [first, clock.date()].map(dayOf);
      const verified = await place.verify({ catalogue: [figures] });
      expect(verified).toMatchObject({ status: "equal", exit_code: 0, differences: [] });
      const stored = () =>
        warehouse.query<{ day: string }>(
          "select cast(observed_on as varchar) as day from procurement.figures where _deleted_at is null order by 1",
        );
      expect((await stored()).map(({ day }) => day)).toEqual(observed);
      const replayed = again(warehouse, clock, { ...archive, views: false }, await addressIn(warehouse));
      expect(await replayed.replay({ catalogue: [figures] })).toMatchObject({ exit_code: 0 });
      expect((await stored()).map(({ day }) => day)).toEqual(observed);
    });

    test("dates no completeness of windows or lookups, and no change of their rows", async () => {
      const place = await told(
        make,
        [events, prices],
        {},
        { streams: { settings: { prices: { values: [{ thing: "T1" }, { thing: "T2" }] } } } },
      );
      const { clock, warehouse, says } = place;
      const now = clock.date();
      let answers = 0;
      const dated = (data: unknown) => ({ ...page(data, null), date: answers++ === 0 ? off(clock) : now });
      says["/events"] = () =>
        dated({ events: answers === 0 ? [{ event_id: "A", happened_at: now.toISOString() }] : [] });
      for (const thing of ["T1", "T2"])
        says[`/prices/${thing}`] = () => dated({ prices: [{ place: "here", price: "1" }] });
      expect(
        await place.backfill({
          catalogue: [events, prices],
          names: ["events"],
          range: { from: "2026-01-01", to: undefined },
        }),
      ).toMatchObject({ exit_code: 0 });
      answers = 0;
      expect(await place.run({ names: ["prices"] })).toMatchObject({ exit_code: 0 });
      const moments = await warehouse.query<{ at: Date | null }>(
        `select _changed_at as at from procurement.events union all select _changed_at from procurement.prices
          union all select complete_to from _tributary.streams`,
      );
      expect(moments).toHaveLength(1 + 2 + 2);
      for (const { at } of moments) expect([dayOf(now), undefined]).toContain(at === null ? undefined : dayOf(at));
      const states = await warehouse.query<{ state: unknown }>("select state from _tributary.stream_state");
      expect(JSON.stringify(states)).not.toContain(dayOf(off(clock)));
    });
  });
});
