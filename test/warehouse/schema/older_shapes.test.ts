import { sql } from "kysely";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { id, table, text } from "../../../schemas/fields.ts";
import { startSimulator } from "../../../simulator/simulator.ts";
import { detail, type Stream } from "../../../src/catalog/stream.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { parts, shopAnswer, stocked, things } from "../../operations/replay/shop.ts";
import { office, officeAnswer, stocked as staffed } from "../../privacy/office.ts";
import { stillClock } from "../../support/clock.ts";
import { interposed } from "../../support/interposed.ts";
import { bench, configOf } from "../../support/run.ts";
import { eitherWarehouse, passing, postgresWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { between } from "../../sync/remembered.ts";
import { scenario } from "../../sync/scenario.ts";

const NIGHT = 86_400_000;

/** The details as a version knows them that has no column for the note. */
const without: Stream = streamOf(
  "thing_parts",
  {
    thing: id(),
    parts: table("thing_part_lines", "Its parts.", { part: text().nullable() }),
  },
  { path: "/things/{thing}", mode: detail({ of: "things" }) },
);

async function placeOf(make: () => Promise<Warehouse>) {
  const stock = stocked();
  const place = await scenario(
    make,
    {},
    { config: { streams: { defaults: { details: { audit: 0 }, history: true } } } },
  );
  place.look = passed => shopAnswer(stock, passed);
  const night = (details: Stream, version = "0.2.0") => {
    place.clock.advance(NIGHT);
    return place.sync({ catalogue: [things, details], version });
  };
  const notes = async (name = "thing_parts", where = "true") =>
    (await place.warehouse.query<{ note: string | null; _extra: unknown }>(
      `select note, _extra from procurement.${name} where thing = 'T1' and ${where}`,
    ))!;
  return { ...place, stock, night, notes };
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("an older version refuses tables that a newer one has altered, and writes nothing", async () => {
    const { night, stock, notes, count } = await placeOf(make);
    await night(without, "0.9.0");
    expect((await night(parts, "0.10.0-beta.1")).exit_code).toBe(0);
    stock.things[1]!["name"] = "renamed";
    await expect(night(without, "0.9.0")).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("altered by tributary 0.10.0-beta.1"),
    });
    expect(await notes()).toEqual([{ note: "thing 1", _extra: null }]);
    // A version that no longer has the column is a newer one: nothing is in its way.
    expect((await night(without, "0.10.0")).exit_code).toBe(0);
    expect((await night(parts, "0.11.0")).exit_code).toBe(0);
    expect(await count("thing_parts", "note is null")).toBe(0);
  });

  test("an older version refuses tables that a newer one has made, a patch of the same release does not", async () => {
    const { night, notes } = await placeOf(make);
    await night(parts, "0.10.2");
    await expect(night(without, "0.9.9")).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("made by tributary 0.10.0, and this is 0.9.9"),
    });
    expect(await notes()).toEqual([{ note: "thing 1", _extra: null }]);
    expect((await night(parts, "0.10.1")).exit_code).toBe(0);
  });

  test("state tables of another shape are refused by runs and by who looks", async () => {
    const place = await placeOf(make);
    await place.night(parts);
    await between(place, async destination => {
      await sql`alter table _tributary.stream_runs drop column requests`.execute(destination.db);
      await destination.releaseToReaders();
    });
    const refusal = { exitCode: 2, code: "state.other_shape" };
    const config = await configOf(place.simulator, place.warehouse, {});
    await expect(place.night(parts)).rejects.toMatchObject(refusal);
    await expect(readStatus(config, [things, parts], undefined)).rejects.toMatchObject(refusal);
  });

  test("a column into which a run that did not know it wrote nothing is filled by the next one that does, once", async () => {
    const { night, stock, notes, said } = await placeOf(make);
    await night(without);
    await night(parts);
    stock.things[1]!["name"] = "renamed";
    await night(without);
    expect(await notes()).toEqual([{ note: null, _extra: { note: "renamed" } }]);
    said.length = 0;
    expect((await night(parts)).exit_code).toBe(0);
    expect(await notes()).toEqual([{ note: "renamed", _extra: null }]);
    expect(await notes("thing_parts_versions", "_is_current")).toEqual([{ note: "renamed", _extra: null }]);
    const filled = () => said.filter(sentence => sentence.startsWith("filled thing_parts.note from _extra"));
    expect(filled()).toHaveLength(1);
    stock.things[2]!["name"] = "renamed too";
    await night(parts);
    await night(parts);
    expect(filled()).toHaveLength(1);
  });
});

test("a column that comes while another company's run is under way is filled for what that run publishes afterwards", async () => {
  const clock = stillClock();
  const warehouse = await passing(postgresWarehouse(inject("postgresUrl")));
  const stock = staffed();
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const sizes = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 };
  const serviceOf = async (key: string, held: string | undefined) => {
    const simulator = await startSimulator({ sizes, now: clock.date, key });
    onTestFinished(() => simulator.close());
    return interposed(simulator, async request => {
      if (request.path === held) {
        reached.resolve();
        await released.promise;
      }
      return officeAnswer(stock, request);
    });
  };
  const acme = await serviceOf("sk-a", undefined);
  const beta = await serviceOf("sk-b", "/people/P29");
  const config = {
    company: undefined,
    companies: [
      { name: "acme", key: acme.key, base_url: acme.url },
      { name: "beta", key: beta.key, base_url: beta.url },
    ],
    streams: { defaults: { max_reject_share: 1, unknown_fields: "column" } },
    views: false,
  };
  const night = (company: string) => {
    clock.advance(NIGHT);
    return bench({ simulator: acme, warehouse, clock, config }).sync({ company, catalogue: office });
  };
  const running = night("beta");
  await reached.promise;
  // The first run tells of the fields, the second makes columns of them.
  expect((await night("acme")).exit_code).toBe(0);
  expect((await night("acme")).exit_code).toBe(0);
  released.resolve();
  expect((await running).exit_code).toBe(0);
  const lacking = async () => {
    const [row] = await warehouse.query<{ rows: number; filled: number }>(`select count(*)::int as rows,
      count(signature)::int as filled from procurement.message_lines where _company = 'beta'`);
    return row!.rows - row!.filled;
  };
  expect(await lacking()).toBeGreaterThan(0);
  expect((await night("acme")).exit_code).toBe(0);
  expect(await lacking()).toBe(0);
});
