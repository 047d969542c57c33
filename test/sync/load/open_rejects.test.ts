import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { id, moment, record, text, volatile } from "../../../schemas/fields.ts";
import { defineStream, detail, feed, list, type Stream } from "../../../src/catalog/stream.ts";
import { readRejects } from "../../../src/operations/rejects.ts";
import { readStatus } from "../../../src/operations/status.ts";
import { streamOf } from "../../catalog/streams.ts";
import { load } from "../../config/sample.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { page, type Told, told } from "../answers.ts";

const subject = text().nullable().describe("What it is about.");
const row = record("A mail.", {
  id: id().describe("Its id."),
  subject,
  read: volatile(text().nullable()).describe("How often it was read."),
});
const mails = defineStream({
  name: "mails",
  path: "/mails",
  mode: list({ rows: "mails" }),
  row,
  key: ["id"],
  preset: "core",
});
const notes = streamOf(
  "mail_notes",
  { id: id(), subject },
  { path: "/mails/{id}/notes", mode: detail({ of: "mails", rows: "notes" }), key: ["mail_id", "id"] },
);

const config = { streams: { defaults: { details: { audit: 0 }, max_reject_share: 1 } } };

const lines = ({ warehouse }: Told) =>
  warehouse.query<{ run: string; times: number; rows: number; raw: unknown; open: boolean; days: number }>(
    `select run_id as run, cast(times as integer) as times, cast("rows" as integer) as "rows", raw, resolved_at is null as open,
      cast(extract(epoch from seen_at - first_seen_at) as integer) / 86400 as days
    from _tributary.rejects order by cast(raw as varchar), reason`,
  );

const configOf = async ({ warehouse }: Told) =>
  (await load(stringify({ company: "acme", destination: warehouse.destination }))).config;

async function open(place: Told, catalogue: readonly Stream[]): Promise<Record<string, number>> {
  const { streams } = await readStatus(await configOf(place), catalogue, undefined);
  return Object.fromEntries(streams.map(({ stream, rejects }) => [stream, rejects]));
}

const nights = async (place: Told, count: number): Promise<void> => {
  for (let night = 0; night < count; night++) {
    await place.run();
    place.clock.advance(86_400_000);
  }
};

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a row that is met each night is one reject that says how often, when first and when last", async () => {
    let night = 0;
    const rejected = (n: number) => ({ subject: `nobody's ${n}`, read: String(night) });
    const says = () => {
      night++;
      // Another order each night.
      const bad = Array.from({ length: 40 }, (_, n) => rejected((n + night * 7) % 40));
      return { mails: [{ id: "1", subject: "x" }, ...bad] };
    };
    const place = await told(make, [mails], { "/mails": says }, config);
    await nights(place, 4);
    const kept = await lines(place);
    expect(kept).toHaveLength(40);
    expect(
      new Set(kept.map(({ times, rows, open: isOpen, days }) => JSON.stringify({ times, rows, isOpen, days }))),
    ).toEqual(new Set([JSON.stringify({ times: 4, rows: 1, isOpen: true, days: 3 })]));
    expect(await open(place, [mails])).toEqual({ mails: 40 });
  });

  test("rows that are alike are one reject that counts them", async () => {
    const says = () => ({ mails: [{ id: "1" }, { subject: "x" }, { subject: "x" }, { subject: "y" }] });
    const place = await told(make, [mails], { "/mails": says }, config);
    await nights(place, 2);
    expect((await lines(place)).map(({ rows }) => rows)).toEqual([2, 1]);
    expect(await open(place, [mails])).toEqual({ mails: 3 });
  });

  test("beyond a thousand of a run rejects are counted by reason, with an example", async () => {
    const bad = Array.from({ length: 1_700 }, (_, n) => ({ subject: `nobody's ${n}` }));
    const long = { id: "x".repeat(501) };
    const says = () => ({ mails: [{ id: "1" }, ...bad, long, long] });
    const place = await told(make, [mails], { "/mails": says }, config);
    await nights(place, 2);
    const kept = await lines(place);
    expect(kept).toHaveLength(1_002);
    expect(kept.filter(({ rows }) => rows > 1).map(({ rows }) => rows)).toEqual([2, 700]);
    expect(kept.find(({ rows }) => rows === 700)?.raw).toMatchObject({ subject: expect.stringContaining("nobody's") });
    expect(await open(place, [mails])).toEqual({ mails: 1_702 });
  });

  test("a whole scan resolves what it no longer shows, and a row that comes again is open again", async () => {
    let bad: object[] = [{ subject: "x" }, { subject: "y" }];
    const place = await told(make, [mails], { "/mails": () => ({ mails: [{ id: "1" }, ...bad] }) }, config);
    await nights(place, 1);
    bad = [{ subject: "y" }];
    const report = await place.run();
    expect(lineOf(report, "mails")).toMatchObject({ rejected: 1 });
    expect((await lines(place)).map(({ open: isOpen }) => isOpen)).toEqual([false, true]);
    const order = { companies: ["acme"], streams: undefined, limit: 10 };
    const { destination } = await configOf(place);
    expect(await readRejects(destination, { ...order, all: false })).toMatchObject({ total: 1, rows: [{ times: 2 }] });
    expect(await readRejects(destination, { ...order, all: true })).toMatchObject({ total: 2 });
    expect(await open(place, [mails])).toEqual({ mails: 1 });
    bad = [{ subject: "x" }];
    await nights(place, 1);
    expect((await lines(place)).map(({ open: isOpen, times }) => [isOpen, times])).toEqual([
      [true, 2],
      [false, 2],
    ]);
  });

  test("a feed's part resolves nothing, the feed read whole does", async () => {
    const things = streamOf(
      "things",
      { id: id(), seen: moment().nullable() },
      {
        mode: feed({
          rows: "things",
          highWaterColumn: "seen",
          narrow: { by: "dates", from: "from", to: "to" },
          fullScanPages: 0,
          fullScanEveryDays: 3,
          lookbackDays: 1,
        }),
      },
    );
    const seen = () => new Date(place.clock.now()).toISOString();
    let bad: object[] = [{ seen: "2025-01-01T00:00:00Z" }];
    const place: Told = await told(
      make,
      [things],
      {
        "/things": ({ query }) =>
          page({ things: [{ id: "1", seen: seen() }, ...(query.get("from") === null ? bad : [])] }, null),
      },
      config,
    );
    await nights(place, 1);
    bad = [];
    await nights(place, 1);
    expect(place.asked.at(-1)).toContain("from=");
    expect(await open(place, [things])).toEqual({ things: 1 });
    await nights(place, 3);
    expect(await open(place, [things])).toEqual({ things: 0 });
  });

  test("the answer of its parent, come anew, resolves a detail's reject; those of other parents stay open", async () => {
    const subjects = { a: "x", b: "x" };
    let bad: object[] = [{ subject: "no id" }];
    let gone = false;
    const place = await told(
      make,
      [mails, notes],
      {
        "/mails": () => ({
          mails: Object.entries(subjects)
            .filter(([key]) => key !== "b" || !gone)
            .map(([key, about]) => ({ id: key, subject: about })),
        }),
        "/mails/a/notes": () => ({ notes: bad }),
        "/mails/b/notes": () => ({ notes: bad }),
      },
      { ...config, deletes: { min_rows: 50 } },
    );
    await nights(place, 1);
    expect(await open(place, [mails, notes])).toEqual({ mails: 0, mail_notes: 2 });
    bad = [];
    subjects.a = "y";
    await nights(place, 1);
    expect(await open(place, [mails, notes])).toEqual({ mails: 0, mail_notes: 1 });
    gone = true;
    await nights(place, 3);
    expect(await place.count("mails", "_deleted_at is null")).toBe(1);
    expect(await open(place, [mails, notes])).toEqual({ mails: 0, mail_notes: 0 });
  });
});
