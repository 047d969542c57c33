import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { date, id, moment, table, text } from "../../../schemas/fields.ts";
import { detail, feed } from "../../../src/catalog/stream.ts";
import { readProblems } from "../../../src/operations/rejects.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { load } from "../../config/sample.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, type Told, told } from "../answers.ts";

const due = date().nullable().describe("When it is due.");
const things = streamOf(
  "things",
  { id: id(), seen: moment().nullable(), due },
  {
    mode: feed({
      rows: "things",
      highWaterColumn: "seen",
      narrow: { by: "dates", from: "from", to: "to" },
      fullScanPages: 0,
      fullScanEveryDays: 30,
      lookbackDays: 1,
    }),
  },
);
const mails = streamOf("mails", {
  id: id(),
  subject: text().nullable(),
  parts: table("mail_parts", "A part.", { due }),
});
const notes = streamOf(
  "mail_notes",
  { id: id(), due },
  { path: "/mails/{id}/notes", mode: detail({ of: "mails", rows: "notes" }), key: ["mail_id", "id"] },
);
const catalogue = [things, mails, notes];
const config = { streams: { defaults: { details: { audit: 0 } } }, deletes: { min_rows: 1_000 } };

/** What status counts by stream, and what `rejects --problems` says by table. */
async function counts({ warehouse }: Told): Promise<{ status: unknown; problems: unknown }> {
  const { config: of } = await load(stringify({ company: "acme", destination: warehouse.destination }));
  const { streams } = await readStatus(of, catalogue, undefined);
  const order = { companies: ["acme"], streams: undefined, limit: 10, all: false };
  const found = await readProblems(of.destination, order);
  return {
    status: Object.fromEntries(streams.filter(({ problems }) => problems > 0).map(one => [one.stream, one.problems])),
    problems: Object.fromEntries((found?.rows ?? []).map(row => [row.table_name, [row.rows, row.share]])),
  };
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("problems are as many as the tables hold, however few of them a run met", async () => {
    const row = (n: number, said = "soon") => ({
      id: String(n),
      seen: `2025-01-0${n < 11 ? 2 : 1}T00:00:00Z`,
      due: said,
    });
    let rows = Array.from({ length: 50 }, (_, n) => row(n));
    const whole = () => rows;
    let part = whole;
    const says = { "/things": () => page({ things: part() }, null) };
    const place = await told(make, [things], says, config);
    place.clock.advance(Date.parse("2025-01-02T06:00:00Z") - place.clock.now());
    const run = async () => lineOf(await place.run({ names: ["things"] }), "things").problems;
    expect(await run()).toBe(50);
    const all = { status: { things: 50 }, problems: { things: [50, 1] } };
    expect(await counts(place)).toEqual(all);
    part = () => rows.slice(0, 11);
    expect(await run()).toBe(11);
    expect(await counts(place)).toEqual(all);
    part = () => [];
    expect(await run()).toBe(0);
    expect(await counts(place)).toEqual(all);
    // Ten of them are mended.
    rows = rows.map((each, n) => (n < 10 ? row(n, "2025-03-01") : each));
    part = () => rows.slice(0, 11);
    expect(await run()).toBe(1);
    expect(await counts(place)).toEqual({ status: { things: 40 }, problems: { things: [40, 0.8] } });
  });

  test("problems of child tables and details go and come back with their rows", async () => {
    const soon = { due: "soon" };
    const all = [
      { id: "a", parts: [soon, { due: "2025-03-01" }] },
      { id: "b", parts: [soon, { due: "later" }] },
    ];
    let listed = all;
    const place = await told(
      make,
      [mails, notes],
      {
        "/mails": () => ({ mails: listed }),
        "/mails/a/notes": () => ({ notes: [{ id: "1", ...soon }] }),
        "/mails/b/notes": () => ({ notes: [{ id: "1", ...soon }] }),
      },
      config,
    );
    await place.run();
    const both = { status: { mails: 3, mail_notes: 2 }, problems: { mail_parts: [3, 0.75], mail_notes: [2, 1] } };
    const only = { status: { mails: 1, mail_notes: 1 }, problems: { mail_parts: [1, 0.5], mail_notes: [1, 1] } };
    const nights = async () => {
      for (let night = 0; night < 3; night++) {
        place.clock.advance(86_400_000);
        // The list's publish takes its details' rows along, also in a run that doesn't read the details.
        await place.run({ names: ["mails"] });
      }
    };
    expect(await counts(place)).toEqual(both);
    listed = all.slice(0, 1);
    await nights();
    expect(await counts(place)).toEqual(only);
    listed = all;
    await nights();
    expect(await counts(place)).toEqual(both);
    listed = [];
    expect(
      await place.warehouse.query("select count(*) as n from _tributary.problems where first_seen_at > last_seen_at"),
    ).toEqual([{ n: 0 }]);
  });
});
