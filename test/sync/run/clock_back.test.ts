import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { readHistory } from "../../../src/daemon/page/source.ts";
import { commandOf } from "../../../src/daemon/schedule/order.ts";
import { readPast } from "../../../src/daemon/schedule/past_runs.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streams } from "../../../streams/index.ts";
import { load } from "../../config/sample.ts";
import { refused } from "../../support/interposed.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

const HOUR = 3_600_000;

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("once a clock that was two days ahead has been set right, the next run is the last one", async () => {
    const place = await scenario(make, { items: 30 });
    const { clock, sync, warehouse } = place;
    const { config } = await load(stringify({ company: "acme", destination: warehouse.destination }));
    const items = async () => (await readStatus(config, streams, undefined)).streams.find(s => s.stream === "items");
    const order = { names: ["items"], command: commandOf("nightly") };
    clock.advance(48 * HOUR);
    const ahead = [await sync(order), await sync(order)];
    clock.advance(-47 * HOUR);
    place.look = ({ path }) => (path === "/items" ? refused(422, "INVALID") : undefined);
    const failed = await sync(order);
    expect([...ahead, failed].map(({ exit_code }) => exit_code)).toEqual([0, 0, 1]);
    const { last_run } = await readStatus(config, streams, undefined);
    expect(last_run).toMatchObject({ run_id: failed.run_id, exit_code: 1, started_at: failed.started_at });
    expect(await items()).toMatchObject({ status: "failed", error: expect.stringContaining("422") });
    const history = await readHistory(config.destination);
    expect(history?.runs[0]?.run_id).toBe(failed.run_id);
    expect(history?.streams.find(({ stream }) => stream === "items")?.runs.at(-1)?.run_id).toBe(failed.run_id);
    const past = (await readPast(config.destination, ["nightly"]))?.get("nightly");
    expect(past?.map(({ exitCode }) => exitCode)).toEqual([1, 0, 0]);
    // What was recorded by the right clock stays as it is.
    clock.advance(HOUR);
    place.look = () => undefined;
    expect(await sync(order)).toMatchObject({ exit_code: 0 });
    expect(await items()).toMatchObject({ status: "succeeded", error: null });
    const rows = await warehouse.query<{ started_at: Date }>(
      "select started_at from _tributary.runs order by started_at",
    );
    expect(rows.slice(2).map(row => row.started_at.toISOString())).toEqual([
      failed.started_at,
      clock.date().toISOString(),
    ]);
  });
});
