import { describe, expect, test } from "vitest";
import { id, text } from "../../../schemas/fields.ts";
import { detail, type Stream } from "../../../src/catalog/stream.ts";
import { StoppedError } from "../../../src/errors.ts";
import { streamOf } from "../../catalog/streams.ts";
import { refused } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { noSuch, type Told, told } from "../answers.ts";

const orders = streamOf("orders", { id: id(), state: text().nullable() });
const details = streamOf(
  "order_details",
  { id: id(), note: text().nullable() },
  { path: "/orders/{id}", mode: detail({ of: "orders" }) },
);
const moves = streamOf(
  "order_moves",
  { move: id(), note: text().nullable() },
  { path: "/orders/{id}/moves", mode: detail({ of: "orders", rows: "moves" }), key: ["id", "move"] },
);
const ids = Array.from({ length: 30 }, (_, number) => `P${10 + number}`);
const FIRST = ids[0]!;
/** Late enough that what the first order was answered has been taken. */
const END = ids[9]!;
const live = "_deleted_at is null";

interface Service extends Told {
  /** How each order stands, which its list shows: 1 at first. */
  readonly states: Record<string, string>;
  /** What the first order's detail answers; undefined: by its state. */
  first: unknown;
  /** A run in which every order has changed, to `state` (2), broken off when the first details had come. */
  breakOff(state?: string): Promise<void>;
}

const config = { api: { max_concurrency: 1 }, streams: { defaults: { details: { audit: 0 } } } };

/** Orders with a detail each, all of them loaded. A request takes a second. */
async function loaded(
  make: () => Promise<Warehouse>,
  stream: Stream,
  answer: (state: string, id: string) => unknown,
): Promise<Service> {
  const catalogue = [orders, stream];
  let ending: AbortController | undefined;
  const ask = (each: string) => {
    service.clock.advance(1_000);
    if (each === END) ending?.abort(new StoppedError(sentence("the end"), 130));
    return (each === FIRST ? service.first : undefined) ?? answer(service.states[each]!, each);
  };
  const place = await told(
    make,
    catalogue,
    {
      "/orders": () => ({ orders: ids.map(each => ({ id: each, state: service.states[each] })) }),
      ...Object.fromEntries(ids.map(each => [stream.path.replace("{id}", each), () => ask(each)] as const)),
    },
    config,
  );
  const service: Service = Object.assign(place, {
    states: Object.fromEntries(ids.map(each => [each, "1"])),
    first: undefined,
    async breakOff(state = "2") {
      for (const each of ids) service.states[each] = state;
      ending = new AbortController();
      const report = await place.sync({ catalogue }, ending.signal);
      expect(lineOf(report, stream.name)).toMatchObject({ status: "stopped", inserted: 0, updated: 0, deleted: 0 });
      ending = undefined;
    },
  });
  expect((await place.run()).exit_code).toBe(0);
  return service;
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a 404 that a broken-off run left counts for nothing once the detail has answered", async () => {
    const place = await loaded(make, details, (state, each) => ({ id: each, note: state }));
    place.first = noSuch;
    await place.breakOff();
    place.first = undefined;
    place.states[FIRST] = "3";
    // Its answer is published while others are still to come.
    place.configure({ ...config, destination: { publish_every: "5s" } });
    const line = lineOf(await place.run(), "order_details");
    expect(line).toMatchObject({ status: "succeeded", updated: ids.length, deleted: 0 });
    expect(await place.count("order_details", `id = '${FIRST}' and note = '3' and ${live}`)).toBe(1);
    expect(await place.count("_tributary.details", "outcome <> 'ok'")).toBe(0);
  });

  test("an answer that a broken-off run left is not published beside the one before when the next is refused", async () => {
    const moved = (note: string, ...names: string[]) => ({ moves: names.map(move => ({ move, note })) });
    const place = await loaded(make, moves, state =>
      state === "1" ? moved(state, "a", "b", "c") : moved(state, "a", "b"),
    );
    await place.breakOff();
    place.first = refused(400, "BAD");
    place.states[FIRST] = "3";
    const others = ids.length - 1;
    const line = lineOf(await place.run(), "order_moves");
    expect(line).toMatchObject({ status: "warning", updated: 2 * others, deleted: others });
    expect(await place.count("order_moves", `id = '${FIRST}' and note = '1' and ${live}`)).toBe(3);
    place.first = undefined;
    place.clock.advance(3_600_000);
    await place.run();
    expect(await place.count("order_moves", `id = '${FIRST}' and note = '3' and ${live}`)).toBe(2);
    expect(await place.count("order_moves", `id = '${FIRST}' and ${live}`)).toBe(2);
  });

  test("--details asks for all again, whatever a broken-off run had fetched, and says what it throws away", async () => {
    const place = await loaded(make, details, (state, each) => ({ id: each, note: state }));
    await place.breakOff();
    const taken = ids.indexOf(END);
    // Its detail changes, and its row in the list does not tell.
    place.first = { id: FIRST, note: "3" };
    const report = await place.run({ full: true, allDetails: true });
    expect(lineOf(report, "order_details")).toMatchObject({ carried: 0, requests: ids.length, updated: ids.length });
    expect(await place.count("order_details", `id = '${FIRST}' and note = '3'`)).toBe(1);
    expect(report.notes).toMatchObject([
      { code: "stream.begun_afresh", fields: { option: "--details", read: taken, what: "details" } },
    ]);
  });

  test("--details --resume asks again for what a run that was broken off the day before had fetched, not an hour before", async () => {
    const place = await loaded(make, details, (state, each) => ({ id: each, note: state }));
    await place.breakOff();
    const taken = ids.indexOf(END);
    // Its detail changes, and its row in the list does not tell.
    place.first = { id: FIRST, note: "3" };
    place.clock.advance(3_600_000);
    expect(lineOf(await place.run({ allDetails: true, resume: true }), "order_details")).toMatchObject({
      requests: ids.length - taken,
      updated: ids.length,
    });
    expect(await place.count("order_details", `id = '${FIRST}' and note = '2'`)).toBe(1);
    place.first = undefined;
    await place.breakOff("4");
    place.first = { id: FIRST, note: "5" };
    place.clock.advance(86_400_000);
    expect(lineOf(await place.run({ allDetails: true, resume: true }), "order_details")).toMatchObject({
      requests: ids.length,
      updated: ids.length,
    });
    expect(await place.count("order_details", `id = '${FIRST}' and note = '5'`)).toBe(1);
  });
});
