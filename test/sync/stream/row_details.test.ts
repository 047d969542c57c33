import { describe, expect, test } from "vitest";
import { count, id, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, type Stream } from "../../../src/catalog/stream.ts";
import { StoppedError } from "../../../src/errors.ts";
import { streamOf } from "../../catalog/streams.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, noSuch, page, type Say, type Told, told } from "../answers.ts";

const mails = streamOf("mails", { id: id(), subject: text().nullable() });
const noteRow = record("A note.", {
  note_id: id().describe("Its id."),
  said: text().nullable().describe("What it says."),
});
const notes = defineStream({
  name: "mail_notes",
  path: "/mails/{id}/notes",
  mode: detail({
    of: "mails",
    rows: "found.notes",
    pageColumns: [{ name: "found_in", kind: "text", field: "found.in", description: "The folder they were found in." }],
  }),
  row: noteRow,
  key: ["mail_id", "note_id"],
  preset: "core",
});
const tags = streamOf(
  "mail_tags",
  { tag: text() },
  { path: "/mails/{id}/tags", mode: detail({ of: "mails", rows: "", scalar: "tag" }), key: ["mail_id", "_index"] },
);
const lines = streamOf(
  "mail_lines",
  { number: count() },
  { path: "/mails/{id}/lines", mode: detail({ of: "mails", rows: "lines", paged: true }), key: ["mail_id", "_index"] },
);
const lineages = streamOf(
  "note_lineages",
  { step: text() },
  {
    path: "/lineage/{noteId}",
    mode: detail({ of: "mail_notes", by: "note_id", rows: "steps" }),
    key: ["note_id", "_index"],
  },
);

const noAudit = { streams: { defaults: { details: { audit: 0 } } } };
const mailed = (...ids: string[]) => ({ mails: ids.map(each => ({ id: each, subject: `on ${each}` })) });
const noted = (...ids: string[]) => ({
  found: { in: "inbox", notes: ids.map(each => ({ note_id: each, said: `says ${each}` })) },
});
const live = "_deleted_at is null";

async function rowsOf(place: Told, table: string, columns: string, where = live): Promise<string[]> {
  const rows = await place.warehouse.query<Record<string, unknown>>(
    `select ${columns} from procurement.${table} where ${where} order by ${columns}`,
  );
  return rows.map(row => Object.values(row).join(" "));
}

const start = (make: Parameters<typeof told>[0], catalogue: readonly Stream[], says: Record<string, Say>) =>
  told(make, catalogue, says, noAudit);

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("the rows of an answer are its parent's, replaced as a whole: what it no longer has is gone", async () => {
    const place = await start(make, [mails, notes], {
      "/mails": () => mailed("a", "b", "c"),
      "/mails/a/notes": () => noted("1", "2", "3"),
      "/mails/b/notes": () => noted("1"),
      "/mails/c/notes": () => noted(),
    });
    expect(lineOf(await place.run(), "mail_notes")).toMatchObject({ status: "succeeded", rows_read: 4, inserted: 4 });
    const columns = "mail_id, note_id, said, found_in";
    const first = ["a 1 says 1 inbox", "a 2 says 2 inbox", "a 3 says 3 inbox", "b 1 says 1 inbox"];
    expect(await rowsOf(place, "mail_notes", columns)).toEqual(first);
    expect(lineOf(await place.run(), "mail_notes")).toMatchObject({ requests: 0, inserted: 0, updated: 0, deleted: 0 });
    const again = await place.run({ allDetails: true });
    expect(lineOf(again, "mail_notes")).toMatchObject({
      requests: 3,
      inserted: 0,
      updated: 0,
      deleted: 0,
      unchanged: 4,
    });

    place.clock.advance(60_000);
    place.says["/mails/a/notes"] = () => noted("2", "4");
    place.says["/mails/b/notes"] = () => noted();
    const changed = await place.run({ allDetails: true });
    expect(lineOf(changed, "mail_notes")).toMatchObject({ inserted: 1, updated: 0, unchanged: 1, deleted: 3 });
    expect(await rowsOf(place, "mail_notes", "mail_id, note_id, found_in")).toEqual(["a 2 inbox", "a 4 inbox"]);
    expect(await place.count("mail_notes", "note_id = '2' and _changed_at = _first_seen_at")).toBe(1);

    place.says["/mails/b/notes"] = () => noted("1");
    expect(lineOf(await place.run({ allDetails: true }), "mail_notes")).toMatchObject({ updated: 1, deleted: 0 });
    expect(await place.count("mail_notes", `mail_id = 'b' and ${live}`)).toBe(1);
  });

  test("an answer without its array, or with another parent's rows, changes nothing; nor is it known what a refused row was", async () => {
    const place = await start(make, [mails, notes], {
      "/mails": () => mailed(...Array.from({ length: 30 }, (_, i) => `m${i}`)),
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`/mails/m${i}/notes`, () => noted("1", "2")] as const),
      ),
    });
    await place.run();
    place.says["/mails/m3/notes"] = () => ({ found: { in: null, notes: { 1: {} } } });
    place.says["/mails/m4/notes"] = () => ({ found: { notes: [{ note_id: "1", said: "says 1" }, { said: "who?" }] } });
    const line = lineOf(await place.run({ allDetails: true }), "mail_notes");
    expect(line).toMatchObject({ deleted: 0, rejected: 1 });
    expect(await place.count("mail_notes", live)).toBe(60);
    const why = "outcome = 'failed' and reason like '%data.found.notes, got an object'";
    expect(await place.count("_tributary.details", `${why} and parent_key = 'm3'`)).toBe(1);
  });

  test("null for an array is an empty one, up to as many rows as the deletion guard allows", async () => {
    const ids = Array.from({ length: 30 }, (_, i) => `m${i}`);
    const place = await start(make, [mails, notes], {
      "/mails": () => mailed(...ids),
      ...Object.fromEntries(ids.map(each => [`/mails/${each}/notes`, () => noted("1", "2")] as const)),
    });
    await place.run();
    const none = () => ({ found: { in: null, notes: null } });
    place.says["/mails/m3/notes"] = none;
    const one = await place.run({ allDetails: true });
    expect(lineOf(one, "mail_notes")).toMatchObject({ status: "succeeded", deleted: 2 });
    for (const each of ids) place.says[`/mails/${each}/notes`] = none;
    const all = await place.run({ allDetails: true });
    expect(all.exit_code).toBe(1);
    expect(lineOf(all, "mail_notes")).toMatchObject({ deleted: 0 });
    expect(await place.count("mail_notes", live)).toBe(58);
  });

  test("an answer that begins to come in pages without an end is no answer: what it lacks is not gone", async () => {
    const place = await start(make, [mails, notes], {
      "/mails": () => mailed("a"),
      "/mails/a/notes": () => noted("1", "2", "3"),
    });
    await place.run();
    place.says["/mails/a/notes"] = () => page(noted("1"), "c2");
    const line = lineOf(await place.run({ allDetails: true }), "mail_notes");
    expect(line).toMatchObject({ status: "failed", deleted: 0 });
    expect(line.error).toContain("next_cursor");
    expect(await place.count("mail_notes", live)).toBe(3);
    place.says["/mails/a/notes"] = () => page(noted("1"), null);
    expect(lineOf(await place.run({ allDetails: true }), "mail_notes")).toMatchObject({ deleted: 2 });
  });

  test("bare values in a bare array are told apart by their place", async () => {
    const place = await start(make, [mails, tags], {
      "/mails": () => mailed("a"),
      "/mails/a/tags": () => ["x", "y", "x"],
    });
    await place.run();
    expect(await rowsOf(place, "mail_tags", "mail_id, _index, tag")).toEqual(["a 0 x", "a 1 y", "a 2 x"]);
    place.says["/mails/a/tags"] = () => ["x", "z"];
    await place.run({ allDetails: true });
    expect(await rowsOf(place, "mail_tags", "mail_id, _index, tag")).toEqual(["a 0 x", "a 1 z"]);
  });

  describe("answers in pages", () => {
    const PAGES = 14;
    const size = 40;
    const pages =
      (last: number, stop?: (number: number) => unknown): Say =>
      ({ query }) => {
        const number = Number(query.get("cursor") ?? 0);
        const stopped = stop?.(number);
        if (stopped !== undefined) return stopped;
        const numbers = Array.from({ length: size }, (_, i) => ({ number: number * size + i }));
        return page({ lines: numbers }, number === last - 1 ? null : String(number + 1));
      };

    test("count when they have come to their end", async () => {
      const broken = instead(400, { error: { code: "BROKEN", message: "no" } });
      const place = await start(make, [mails, lines], {
        "/mails": () => mailed("a", "b"),
        "/mails/a/lines": pages(PAGES),
        "/mails/b/lines": pages(PAGES, number => (number === PAGES - 1 ? broken : undefined)),
      });
      expect(lineOf(await place.run(), "mail_lines")).toMatchObject({ status: "failed", inserted: PAGES * size });
      expect(await place.count("mail_lines", "mail_id = 'b'")).toBe(0);
      expect(await place.count("mail_lines", `mail_id = 'a' and _index = number`)).toBe(PAGES * size);
      place.says["/mails/b/lines"] = pages(3);
      place.clock.advance(3_600_000);
      expect(lineOf(await place.run(), "mail_lines")).toMatchObject({ status: "succeeded", inserted: 3 * size });
      // Broken off at its end, an answer says nothing about the rows of the one before.
      place.says["/mails/a/lines"] = pages(2, number => (number === 1 ? broken : undefined));
      await place.run({ allDetails: true });
      expect(await place.count("mail_lines", `mail_id = 'a' and ${live}`)).toBe(PAGES * size);
      place.says["/mails/a/lines"] = pages(2);
      place.clock.advance(3_600_000);
      const confirmed = await place.run({ confirmDeletes: true });
      expect(lineOf(confirmed, "mail_lines")).toMatchObject({ deleted: (PAGES - 2) * size });
      expect(await place.count("mail_lines", live)).toBe(5 * size);
    });

    test("leave memory to the one that is read on, however many parents' wait with a large page", async () => {
      const ids = Array.from({ length: 32 }, (_, i) => `m${i}`);
      const large = "x".repeat(1_200_000);
      const said: Say = ({ query }) => {
        const number = Number(query.get("cursor") ?? 0);
        return page({ lines: [{ number, said: large }] }, number === 3 ? null : String(number + 1));
      };
      const config = { ...noAudit, memory: "64MB", api: { max_concurrency: 16 } };
      const says = Object.fromEntries(ids.map(each => [`/mails/${each}/lines`, said] as const));
      const place = await told(make, [mails, lines], { "/mails": () => mailed(...ids), ...says }, config);
      expect(lineOf(await place.run(), "mail_lines")).toMatchObject({ status: "warning", inserted: 4 * ids.length });
    });

    test("are no 404 when only a further page is: what an earlier answer brought stays", async () => {
      const place = await start(make, [mails, lines], { "/mails": () => mailed("a"), "/mails/a/lines": pages(3) });
      await place.run();
      place.says["/mails/a/lines"] = pages(3, number => (number === 1 ? noSuch : undefined));
      const line = lineOf(await place.run({ allDetails: true }), "mail_lines");
      expect(line).toMatchObject({ status: "failed", deleted: 0 });
      expect(await place.count("mail_lines", live)).toBe(3 * size);
      expect(await place.count("_tributary.details", "outcome = 'failed'")).toBe(1);
    });

    test("are read anew after a run was killed in them, and nothing of the old ones is left", async () => {
      const place = await start(make, [mails, lines], { "/mails": () => mailed("a") });
      const ending = new AbortController();
      place.says["/mails/a/lines"] = pages(PAGES + 6, number => {
        // Every page is stored as soon as it is read.
        place.clock.advance(5_000);
        if (number !== PAGES + 3) return undefined;
        ending.abort(new StoppedError(sentence("the end"), 130));
        return new Promise(resolve => setTimeout(resolve, 200));
      });
      const stopped = await place.sync({ catalogue: [mails, lines] }, ending.signal);
      expect(lineOf(stopped, "mail_lines").status).toBe("stopped");
      expect(await place.count("mail_lines")).toBe(0);
      place.says["/mails/a/lines"] = pages(2);
      const line = lineOf(await place.run(), "mail_lines");
      expect(line.carried).toBeGreaterThan(2 * size);
      expect(line).toMatchObject({ status: "succeeded", inserted: 2 * size, repeated: line.carried });
      expect(await place.count("mail_lines", live)).toBe(2 * size);
      expect(lineOf(await place.run(), "mail_lines")).toMatchObject({ requests: 0, inserted: 0, deleted: 0 });
    });
  });

  /** Sixty mails whose notes take two seconds each. */
  async function sixty() {
    const ids = Array.from({ length: 60 }, (_, i) => `m${String(i).padStart(2, "0")}`);
    const place = await start(make, [mails, notes], { "/mails": () => mailed(...ids) });
    const says = (...numbers: string[]) => {
      for (const each of ids) {
        place.says[`/mails/${each}/notes`] = () => {
          place.clock.advance(2_000);
          return noted(...numbers);
        };
      }
    };
    return { place, says };
  }

  test("what is published while the rest is fetched is whole, and ends as if it had been published at once", async () => {
    const { place, says } = await sixty();
    place.configure({ ...noAudit, destination: { publish_every: "10s" } });
    says("1", "2", "3");
    expect(lineOf(await place.run(), "mail_notes")).toMatchObject({ inserted: 180, updated: 0, deleted: 0 });
    says("2", "4");
    const line = lineOf(await place.run({ allDetails: true, confirmDeletes: true }), "mail_notes");
    expect(line).toMatchObject({ inserted: 60, updated: 0, unchanged: 60, deleted: 120 });
    expect(await place.count("mail_notes", live)).toBe(120);
    expect(await place.count("mail_notes", "_deleted_at is not null and _deleted_at <> _changed_at")).toBe(0);
    const moments = await place.warehouse.query("select distinct _deleted_at from procurement.mail_notes");
    expect(moments.length).toBeGreaterThan(3);
  });

  test("answers that lack too much at once take nothing, however few each publish has, until that is confirmed", async () => {
    const { place, says } = await sixty();
    says("1", "2", "3");
    await place.run();
    says("2", "4");
    const line = lineOf(await place.run({ allDetails: true }), "mail_notes");
    expect(line).toMatchObject({ status: "failed", inserted: 0, unchanged: 0, repeated: 120, deleted: 0 });
    expect(line.error).toMatch(/120 of 180 live rows .*sync mail_notes --confirm-deletes/);
    expect(await place.count("mail_notes", live)).toBe(180);
    // The same answers are asked for again, so that the order has something to confirm.
    expect(lineOf(await place.run(), "mail_notes")).toMatchObject({ status: "failed", requests: 60, deleted: 0 });
    const confirmed = await place.run({ names: ["mail_notes"], confirmDeletes: true });
    expect(lineOf(confirmed, "mail_notes")).toMatchObject({ status: "succeeded", inserted: 60, deleted: 120 });
    expect(lineOf(await place.run(), "mail_notes")).toMatchObject({ status: "succeeded", requests: 0 });

    place.configure({ ...noAudit, destination: { publish_every: "10s" } });
    says();
    const slow = lineOf(await place.run({ allDetails: true }), "mail_notes");
    expect(slow.status).toBe("failed");
    expect(slow.deleted).toBeLessThanOrEqual(50);
  });

  test("details of details are asked for in the same run, by the values that their parents carry", async () => {
    const steps = (each: string) => ({ steps: [{ step: `${each} read` }, { step: `${each} understood` }] });
    const place = await start(make, [mails, notes, lineages], {
      "/mails": () => mailed("a", "b"),
      "/mails/a/notes": () => noted("1", "2"),
      "/mails/b/notes": () => noted("2"),
      "/lineage/1": () => steps("1"),
      "/lineage/2": () => steps("2"),
    });
    expect(lineOf(await place.run(), "note_lineages")).toMatchObject({ status: "succeeded", requests: 2, inserted: 4 });
    expect(lineOf(await place.run(), "note_lineages")).toMatchObject({ requests: 0, inserted: 0, updated: 0 });
    place.says["/mails/a/notes"] = () => noted();
    const one = await place.run({ allDetails: true });
    expect(lineOf(one, "note_lineages")).toMatchObject({ deleted: 2, requests: 1 });
    expect(await rowsOf(place, "note_lineages", "note_id, _index, step")).toEqual(["2 0 2 read", "2 1 2 understood"]);
    expect(await place.count("_tributary.details", "stream = 'note_lineages'")).toBe(1);
    place.says["/mails/a/notes"] = () => noted("1");
    const back = lineOf(await place.run({ allDetails: true }), "note_lineages");
    expect(back).toMatchObject({ updated: 2, deleted: 0, requests: 2 });
    expect(await place.count("note_lineages", live)).toBe(4);
  });
});
