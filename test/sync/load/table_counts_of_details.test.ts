import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { id } from "../../../schemas/fields.ts";
import { detail } from "../../../src/catalog/stream.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { reset } from "../../../src/operations/reset.ts";
import { streamOf } from "../../catalog/streams.ts";
import { temporaryFolder } from "../../source/archive/folder.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { scenario } from "../scenario.ts";
import { noAudit } from "../vendors.ts";

const orders = streamOf("orders", { id: id() });
const moves = streamOf("moves", { id: id() }, { path: "/orders/{id}", mode: detail({ of: "orders" }) });

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("what there is of details, and to fetch, is told also after a run of their list alone", async () => {
    const place = await scenario(make, { orders: 30 }, { config: noAudit() });
    await place.sync();
    const tableCounts = async () => {
      const [row] = await place.warehouse.query(
        "select live_rows, details_pending from _tributary.streams where table_name = 'purchase_order_details'",
      );
      const live = await place.count("purchase_order_details", "_deleted_at is null");
      return { told: { live: Number(row!["live_rows"]), pending: Number(row!["details_pending"]) }, live };
    };
    expect(await tableCounts()).toEqual({ told: { live: 30, pending: 0 }, live: 30 });

    place.simulator.delete("purchase_orders", 2);
    place.simulator.update("purchase_orders", 4);
    for (let i = 0; i < 2; i++) {
      place.clock.advance(3_600_000);
      await place.sync({ names: ["purchase_orders"], full: i === 1 });
    }
    expect(await tableCounts()).toEqual({ told: { live: 28, pending: 4 }, live: 28 });
  });

  test("a list is published though its details are off and their empty tables went with another company", async () => {
    const some: object[] = [];
    const place = await told(make, [orders, moves], { "/orders": () => ({ orders: some }) });
    expect((await place.run()).exit_code).toBe(0);
    const { warehouse, clock } = place;
    const file = join(await temporaryFolder(), "config.yaml");
    const api = { base_url: "http://127.0.0.1:9", key: "k" };
    await writeFile(file, JSON.stringify({ company: "beta", api, destination: warehouse.destination }));
    const { config } = await loadConfig(file, {});
    const dropping = { config, catalogue: [orders, moves], names: ["moves"], companies: ["beta"], drop: true };
    await reset(dropping, { runId: "reset", clock, waitMs: 0, version: "1.0.0" });
    expect(await warehouse.query("select 1 from information_schema.tables where table_name = 'moves'")).toEqual([]);
    some.push({ id: 1 });
    place.configure({ streams: { exclude: ["moves"] } });
    clock.advance(86_400_000);
    expect(await place.run()).toMatchObject({ exit_code: 0, errors: [] });
  });
});
