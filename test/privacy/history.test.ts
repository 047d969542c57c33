import { mkdir, readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { configured } from "../../src/privacy/configured_catalog.ts";
import { openDestination } from "../../src/warehouse/connect/open.ts";
import { lookAt } from "../../src/warehouse/schema/look.ts";
import { prepareWarehouse } from "../../src/warehouse/schema/prepare_warehouse.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { office, type Row } from "./office.ts";
import { type Place, placeOf } from "./place.ts";

/** What a run has done that is killed before it settles privacy: here the history of all is to begin. */
async function begun({ warehouse, clock }: Place, exclude: string[]): Promise<void> {
  const privacy = { pii: "keep" as const, key: undefined, exclude, hash: [], mask: [] };
  const treated = configured(office, { streams: { settings: {} }, privacy });
  const names = treated.map(({ name }) => name);
  const holder = { pid: process.pid, host: hostname(), command: "test", startedAt: clock.date().toISOString() };
  const destination = await openDestination(whereIs(warehouse), { runId: "begun", holder, clock }, 0);
  const known = await destination.db
    .selectFrom("warehouse")
    .select("value")
    .where("key", "=", "company:acme")
    .execute();
  try {
    const expectation = {
      version: "0.0.0",
      companies: [
        {
          name: "acme",
          baseUrl: (known[0]!.value as { base_url: string }).base_url,
          companyId: undefined,
          isRecorded: true,
        },
      ],
      ...{ catalogue: treated, streams: treated, lockGroups: names, lockedStreams: names, versioned: new Set(names) },
      ...{
        grantSelectTo: [],
        widening: [],
        formats: { dates: ["iso"], timezone: "UTC" },
        volatileOf: () => [],
        waitMs: 0,
        now: clock.date().toISOString(),
      },
      views: {
        wanted: false,
        models: { models: [], meanings: [], writtenFor: { schema: "procurement", stateSchema: "_tributary" } },
        meanings: {},
      },
    };
    await prepareWarehouse(
      destination,
      expectation,
      await lookAt(destination, { clock, readers: [], functions: true }),
    );
  } finally {
    await destination.close();
  }
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a run that is killed before it has settled privacy has begun no history of rows that it would have treated", async () => {
    const place = await placeOf(make);
    await place.night();
    place.under({}, false);
    place.stock.people[2]!["full_name"] = "Grace Hopper";
    await place.night();
    await begun(place, ["people.full_name"]);
    place.under({});
    await place.night();
    const names = await place.warehouse.query<Row>(`select v.full_name from procurement.people_versions v
      where v.person = 'P2' order by v._valid_from`);
    expect(names).toEqual([{ full_name: "Ada Lovelace 2" }, { full_name: "Grace Hopper" }]);
  });

  test("a run that cannot settle privacy ends before it begins a history", async () => {
    const place = await placeOf(make);
    place.under({}, false);
    await place.night();
    const answers = (await readdir(place.archive, { recursive: true })).filter(name => name.includes(".ndjson"));
    const inTheWay = answers.map(name => join(place.archive, dirname(name), `.${basename(name)}.rewritten`));
    for (const each of inTheWay) await mkdir(each);
    place.under({ exclude_columns: ["people.full_name"] });
    await expect(place.night()).rejects.toThrow(/rewritten/);
    const failed = place.clock.date();
    for (const each of inTheWay) await rm(each, { recursive: true });
    await place.night();
    const histories = await place.warehouse.query<{ kept_from: Date }>("select kept_from from _tributary.history");
    expect(histories).not.toEqual([]);
    for (const { kept_from } of histories) expect(kept_from.getTime()).toBeGreaterThan(failed.getTime());
  });
});
