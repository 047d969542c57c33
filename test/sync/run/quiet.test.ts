import { readlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { id } from "../../../schemas/fields.ts";
import { list } from "../../../src/catalog/stream.ts";
import { readRejects } from "../../../src/operations/rejects.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { load } from "../../config/sample.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { instead, told } from "../answers.ts";

const HOUR = 3_600_000;

const things = streamOf("things", { thing: id() }, { mode: list({ rows: "" }) });

const hundred = Array.from({ length: 100 }, (_, thing) => ({ thing }));

/** A hundred things that are loaded, and what readers of the published file are told after each hour's run. */
async function place(freshness?: { readonly late_after: string }) {
  const warehouse = await passing(duckdbWarehouse("snapshot"));
  const more = freshness === undefined ? {} : { freshness };
  const its = await told(async () => warehouse, [things], { "/things": () => hundred }, more);
  const { config } = await load(stringify({ company: "acme", destination: warehouse.destination }));
  await its.run();
  return {
    ...its,
    /** A run an hour, or so many, after the last one; whether it was shown. */
    async next(answer: unknown = hundred, hours = 1, code = 0): Promise<boolean> {
      its.says["/things"] = () => answer;
      its.clock.advance(hours * HOUR);
      const before = await readlink(String(warehouse.destination["path"]));
      expect((await its.run()).exit_code).toBe(code);
      return before !== (await readlink(String(warehouse.destination["path"])));
    },
    stands: async () => {
      const { last_run, streams } = await readStatus(config, [things], undefined);
      return [last_run?.status, streams[0]?.status, streams[0]?.rejects];
    },
    rejects: () => readRejects(config.destination, { companies: ["acme"], streams: undefined, limit: 10, all: false }),
  };
}

test("a run that stored nothing new is not shown for 20 hours", async () => {
  const { next } = await place();
  expect(await next()).toBe(false);
  expect(await next(hundred, 18)).toBe(false);
  expect(await next(hundred, 2)).toBe(true);
  expect(await next()).toBe(false);
});

test("rows that could not be stored are shown with the run that tells of them, and once", async () => {
  const { next, stands, rejects } = await place();
  const one = [...hundred, { thing: null, name: "one" }];
  expect(await next(one)).toBe(true);
  expect(await stands()).toEqual(["warning", "warning", 1]);
  expect((await rejects())?.total).toBe(1);
  expect(await next(one)).toBe(false);
  expect(await next([...hundred, { thing: null, name: "another" }])).toBe(true);
  expect((await rejects())?.rows[0]?.raw).toMatchObject({ name: "another" });
  expect(await next()).toBe(true);
  expect(await stands()).toEqual(["succeeded", "succeeded", 0]);
  expect(await next()).toBe(false);
});

test("a stream that the key may no longer read is shown so", async () => {
  const { next, stands } = await place();
  const no = instead(403, { error: { code: "FORBIDDEN", message: "no", request_id: "r1" } });
  expect(await next(no, 1, 1)).toBe(true);
  expect(await stands()).toEqual(["failed", "failed", 0]);
});

test("where data is late sooner than a quiet file is shown, it is shown sooner", async () => {
  const hours = await place({ late_after: "2h" });
  expect([await hours.next(), await hours.next()]).toEqual([true, true]);
  const day = await place({ late_after: "12h" });
  expect([await day.next(hundred, 3), await day.next(hundred, 2), await day.next(hundred, 3)]).toEqual([
    false,
    true,
    false,
  ]);
});
