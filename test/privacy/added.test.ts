import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { id, moment, personal, record, text } from "../../schemas/fields.ts";
import { defineStream } from "../../src/catalog/stream.ts";
import { again } from "../operations/replay/again.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { office, type Row, SECRETS } from "./office.ts";
import { kinds, placeOf } from "./place.ts";
import { traces } from "./traces.ts";

const KEY = "a key of the tests' own";
const hashOf = (text: string) => createHmac("sha256", KEY).update(text).digest("hex");

const widening = (privacy: Row) => ({
  streams: { defaults: { max_reject_share: 1, history: true, unknown_fields: "column" } },
  privacy,
});

/** An office that gave columns to fields which nobody documented; a person has left since. */
async function widened(make: Parameters<typeof placeOf>[0]) {
  const place = await placeOf(make);
  place.configure(widening({}));
  await place.night();
  await place.night();
  place.stock.people.splice(0, 1);
  await place.night();
  const rows = (what: string) => place.warehouse.query<Row>(what);
  const left = await rows("select other_email from procurement.people where person = 'P0' and _deleted_at is not null");
  expect(left).toEqual([{ other_email: "who-is-this@0.example" }]);
  return { place, rows };
}

const ways = [
  { pii: "hash", becomes: hashOf },
  { pii: "exclude", becomes: () => null },
] as const;

test.each(kinds.map(([name, make], at) => ({ name, make, ...ways[at % ways.length]! })))(
  "columns that were added for personal fields are rewritten by pii: $pii, in deleted rows and ended versions too: $name",
  async ({ make, pii, becomes }) => {
    const { place, rows } = await widened(make);
    place.configure(widening({ pii, key: KEY }));
    const report = await place.night();
    expect(report).toMatchObject({ exit_code: 0 });
    const kept = await rows(
      "select person, other_email, sign from procurement.people where person in ('P0', 'P2') order by 1",
    );
    expect(kept).toEqual([
      { person: "P0", other_email: becomes("who-is-this@0.example"), sign: "0" },
      { person: "P2", other_email: becomes("who-is-this@2.example"), sign: "2" },
    ]);
    const details = await rows(`select m.sender_phone, l.signature from procurement.messages m
      join procurement.message_lines l on l.person = m.person and l._index = 0 where m.person = 'P0'`);
    expect(details).toEqual([{ sender_phone: becomes("+44 20 7946 0"), signature: becomes("Ada Lovelace 0") }]);
    expect(await traces(place.warehouse, [], SECRETS)).toEqual([]);
    // But for the object that came where an address should be, and has a hash now.
    const changed = report.streams.filter(line => line.updated + line.inserted > 0);
    expect(changed.map(({ stream, updated }) => `${stream} ${updated}`)).toEqual(pii === "hash" ? ["people 1"] : []);
  },
);

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("columns that were added to a table are emptied once none of its undocumented fields is kept", async () => {
    const { place, rows } = await widened(make);
    place.configure(widening({ exclude_columns: ["people._extra"] }));
    const report = await place.night();
    expect(report.streams.filter(line => line.updated + line.inserted > 0)).toEqual([]);
    for (const table of ["people", "people_versions"])
      expect(
        await rows(`select 1 from procurement.${table} where other_email is not null or sign is not null`),
      ).toEqual([]);
    const elsewhere = await rows(
      "select distinct signature from procurement.message_lines where person = 'P2' order by 1",
    );
    expect(elsewhere).toEqual([{ signature: "Ada Lovelace 0" }, { signature: "Ada Lovelace 1" }]);
  });

  test("what was hashed for its name alone is hashed once, also when a newer version has a column for it", async () => {
    const privacy = { pii: "hash", key: KEY };
    const place = await placeOf(make, privacy);
    for (const visit of place.stock.visits) visit["other_email"] = "who-is-this@1.example";
    await place.night();
    const documented = office.map(stream =>
      stream.name !== "visits"
        ? stream
        : defineStream({
            ...stream,
            preset: "core",
            row: record("Visits.", {
              visit: id().describe("Which."),
              came: moment().nullable().describe("When."),
              email: personal(text()).nullable().describe("Who."),
              other_email: personal(text()).nullable().describe("Who else."),
            }),
          }),
    );
    // The night reads the feed since its high-water mark: of the older rows nothing but what is stored is known.
    expect(await place.night({ catalogue: documented })).toMatchObject({ exit_code: 0 });
    const hashed = Array.from({ length: 5 }, () => ({ other_email: hashOf("who-is-this@1.example"), _extra: null }));
    const visits = "select other_email, _extra from procurement.visits";
    expect(await place.warehouse.query(visits)).toEqual(hashed);
    const copy = again(await make(), place.clock, {
      archive: { path: place.archive },
      streams: { defaults: { max_reject_share: 1 } },
      privacy,
    });
    expect(await copy.replay({ catalogue: documented })).toMatchObject({ exit_code: 0 });
    expect(await copy.warehouse.query(visits)).toEqual(hashed);
  });
});
