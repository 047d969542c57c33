import { describe, expect, test } from "vitest";
import { count, id, moment, money, notGiven, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, feed, list, lookup, type Stream, scan, snapshot } from "../../../src/catalog/stream.ts";
import { replayRejects } from "../../../src/operations/replay/rejects.ts";
import { createRedactor } from "../../../src/secrets.ts";
import { fromService, type RunSource, runCompany } from "../../../src/sync/run/jobs.ts";
import { runSync } from "../../../src/sync/run/run.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { instead, page, type Told, told } from "../answers.ts";

const subject = text().nullable().describe("What it is about.");
const keyed = (field: string) => ({ [field]: id().meta({ kind: "id", column: "id" }) });

/** Mails and their notes; a later version knows that their ids stand in another field. */
const version = (field: string): readonly Stream[] => [
  streamOf(
    "mails",
    { ...keyed(field), subject, worth: money(notGiven).nullable() },
    {
      mode: list({
        rows: "mails",
        pageColumns: [{ name: "folder", kind: "text", field: "of.folder", description: "Where they lie." }],
      }),
      key: ["id"],
    },
  ),
  streamOf(
    "mail_notes",
    { ...keyed(field), subject },
    { path: "/mails/{id}/notes", mode: detail({ of: "mails", rows: "notes" }), key: ["mail_id", "id"] },
  ),
];

const config = { streams: { defaults: { details: { audit: 0 }, max_reject_share: 1 } } };
const again: RunSource = {
  ...fromService,
  runCompany: (context, service, run) => runCompany(context, service, { ...run, work: replayRejects }),
};

const kept = ({ warehouse }: Told) =>
  warehouse.query<{ stream: string; key: string | null; field: string | null; raw: unknown; context: unknown }>(
    `select stream, key, field, raw, context from _tributary.rejects
      where resolved_at is null order by stream, cast(raw as varchar)`,
  );

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("rejects say their key, field and context, and are loaded by them once they can be", async () => {
    const digits = "12345678901234567890.123456789";
    const mails = [
      { id: "a", subject: "first" },
      { ref: "b", subject: "second", worth: JSON.rawJSON(digits) },
      { ref: "c", subject: "third" },
      { id: "c", subject: "third again" },
      { subject: "nobody's" },
    ];
    const place = await told(
      make,
      version("id"),
      {
        "/mails": () => ({ mails, of: { folder: "inbox" } }),
        "/mails/a/notes": () => ({
          notes: [
            { id: "1", subject: "one" },
            { ref: "2", subject: "two" },
          ],
        }),
        "/mails/c/notes": () => ({ notes: [] }),
      },
      config,
    );
    const report = await place.run();
    expect(report).toMatchObject({ exit_code: 0, status: "warning" });
    await place.run();
    const first = await kept(place);
    expect(first.map(({ stream }) => stream)).toEqual(["mail_notes", ...Array(3).fill("mails")]);
    expect(first[0]).toMatchObject({ key: "mail_id=a", field: "id", context: { context: { mail_id: "a" } } });
    expect(first.at(-1)).toMatchObject({ key: null, field: "id", context: { page: { of: { folder: "inbox" } } } });
    const rowState = () =>
      place.warehouse.query(
        "select parent_key, outcome, fetched_at, cast(parent_hash as varchar) as hash from _tributary.details order by 1",
      );
    const before = await rowState();
    place.clock.advance(60_000);
    const tried = await place.run({ catalogue: version("ref"), source: again });
    expect(tried).toMatchObject({ exit_code: 0, status: "succeeded" });
    expect(place.asked).toEqual([]);
    expect(lineOf(tried, "mails")).toMatchObject({ rows_read: 1, inserted: 1, rejected: 0 });
    expect(lineOf(tried, "mail_notes")).toMatchObject({ rows_read: 1, inserted: 1, deleted: 0 });
    expect(await kept(place)).toMatchObject([{ stream: "mails", raw: { subject: "nobody's" } }]);
    expect(await rowState()).toEqual(before);
    const rows = await place.warehouse.query(
      "select id, subject, folder, cast(worth as varchar) as worth from procurement.mails where _deleted_at is null order by id",
    );
    expect(rows).toEqual([
      { id: "a", subject: "first", folder: "inbox", worth: null },
      { id: "b", subject: "second", folder: "inbox", worth: digits },
      { id: "c", subject: "third again", folder: "inbox", worth: null },
    ]);
    expect(await place.count("mail_notes", "_deleted_at is null and mail_id = 'a'")).toBe(2);
    const third = await place.run({ catalogue: version("ref"), source: again });
    expect(lineOf(third, "mails")).toMatchObject({ inserted: 0, updated: 0 });
    expect(await kept(place)).toHaveLength(1);
  });
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("what no database can hold is no value of a row that is tried again: not of its key, nor of its columns", async () => {
    const mails = [
      { id: "a\0", subject: "first" },
      { id: "\ud800b", subject: "second" },
      { id: "c\\u0000", subject: "third" },
      { ref: "d", subject: "a\\\0b" },
      { ref: "e", subject: "a\\u0000b" },
    ];
    const says = { "/mails": () => ({ mails, of: { folder: "inbox" } }) };
    const place = await told(make, version("id").slice(0, 1), says, config);
    await place.run();
    expect((await kept(place)).map(({ raw }) => raw)).toMatchObject([
      { id: "\\ud800b" },
      { id: "a\\u0000" },
      { ref: "d" },
      { ref: "e" },
    ]);
    const tried = await place.run({ source: again });
    expect(lineOf(tried, "mails")).toMatchObject({ inserted: 0 });
    const young = await place.run({ catalogue: version("ref").slice(0, 1), source: again });
    expect(lineOf(young, "mails")).toMatchObject({ inserted: 2 });
    expect(await kept(place)).toHaveLength(2);
    const rows = await place.warehouse.query<{ _problems: object | null }>(
      "select id, subject, _problems from procurement.mails order by id",
    );
    expect(rows.map(({ _problems, ...row }) => ({ ...row, lost: Object.keys(_problems ?? {}) }))).toEqual([
      { id: "c\\u0000", subject: "third", lost: [] },
      { id: "d", subject: null, lost: ["subject"] },
      { id: "e", subject: "a\\u0000b", lost: [] },
    ]);
  });
});

describe("too many problems", () => {
  const { make } = warehouses[0]!;
  const mails = [{ id: "a", subject: "first" }];
  const of = { folder: "inbox" };
  const strict = { ...config, problems: { max_share: 0.5, on_exceed: "fail" } };

  test.each([
    ["a documented field", { subject: { a: 1 } }, 1],
    ["a field that no document names", { colour: "a\0b" }, 0],
  ])("of %s", async (_what, fields, code) => {
    const answer = { mails: mails.map(mail => ({ ...mail, ...fields })), of };
    const place = await told(make, version("id"), { "/mails": () => answer }, strict);
    const report = await place.run({ names: ["mails"] });
    expect(lineOf(report, "mails")).toMatchObject({ problems: code === 0 ? 1 : 0, inserted: 1 - code });
    expect(report.exit_code).toBe(code);
    expect(JSON.stringify(report).includes("problems.max_share")).toBe(code === 1);
  });
});

test("rejects are kept without secrets, also without the beginning of one that is cut", async () => {
  const token = `tok_${"x7Y".repeat(200)}`;
  const redact = createRedactor([token, "hunter22", "87654321"]);
  const mails = [{ id: token }, { subject: 'say "hunter22"', worth: 87654321, hunter22: { toJSON: "hunter22" } }];
  const place = await told(
    warehouses[0]!.make,
    version("id"),
    { "/mails": () => ({ mails, of: { folder: "of hunter22" } }) },
    config,
    { run: (order, tools) => runSync(order, { ...tools, redact }) },
  );
  await place.run({ names: ["mails"] });
  const [first, second] = await kept(place);
  expect(first).toMatchObject({ key: "id=•••", raw: { id: "•••" } });
  const raw = { subject: 'say "•••"', worth: "•••", "•••": { toJSON: "•••" } };
  expect(second).toMatchObject({ key: null, raw, context: { page: { of: { folder: "of •••" } } } });
  expect(JSON.stringify([first, second])).not.toMatch(/hunter|tok_|8765/);
});

describe("too many rejects", () => {
  const { make } = warehouses[0]!;
  const things = record("A thing.", { id: id().describe("Its id."), seen: moment().nullable().describe("When.") });
  const strict = { streams: { defaults: { details: { audit: 0 } } }, destination: { publish_every: "5s" } };
  const cases: readonly (readonly [string, Stream["mode"], string, unknown, object])[] = [
    [
      "a feed",
      feed({
        rows: "things",
        highWaterColumn: "seen",
        narrow: { by: "dates", from: "from", to: "to" },
        fullScanPages: 1,
        fullScanEveryDays: 1,
        lookbackDays: 1,
      }),
      "/things",
      page({ things: [{ id: "1" }, { seen: null }] }, null),
      {},
    ],
    [
      "a lookup",
      lookup({ ask: ["of"], rows: "things" }),
      "/things",
      { things: [{ id: "1" }, {}] },
      { values: [{ of: "x" }] },
    ],
    ["a snapshot", snapshot(), "/things", null, {}],
  ];

  test("a scan that was broken off is gone on with before its rejects are tried", async () => {
    const row = record("A thing.", { id: id().describe("Its id."), subject });
    const stream = defineStream({
      name: "things",
      path: "/things",
      mode: scan({ rows: "things" }),
      row,
      key: ["id"],
      preset: "core",
    });
    let breaks = true;
    const place = await told(
      make,
      [stream],
      {
        "/things": ({ query }) => {
          if (query.get("cursor") === null) return page({ things: [{ id: "1" }, { subject: "x" }] }, "2");
          return breaks
            ? instead(400, { error: { code: "NO", message: "no" } })
            : page({ things: [{ id: "2" }] }, null);
        },
      },
      config,
    );
    expect(await place.run()).toMatchObject({ exit_code: 1 });
    const tried = await place.run({ source: again });
    expect(tried.warnings).toMatchObject([{ message: expect.stringContaining("tributary sync things") }]);
    breaks = false;
    expect(lineOf(await place.run(), "things")).toMatchObject({ carried: 2, rows_read: 1, inserted: 2 });
    expect(await kept(place)).toHaveLength(1);
  });

  test.each(cases)("%s: nothing is published", async (_what, mode, path, answer, settings) => {
    const key = mode.kind === "snapshot" ? ["observed_on"] : mode.kind === "scan" ? ["of", "id"] : ["id"];
    const row =
      mode.kind === "snapshot" ? record("Them.", { number: count().nullable().describe("How many.") }) : things;
    const stream = defineStream({ name: "things", path, mode, row, key, preset: "core" });
    const streams = { ...strict.streams, settings: { things: settings } };
    const place = await told(make, [stream], { [path]: () => answer }, { ...strict, streams });
    const report = await place.run();
    expect(report.exit_code).toBe(1);
    expect(lineOf(report, "things").error).toContain("max_reject_share");
    expect(await place.count("things")).toBe(0);
  });

  test.each(["rejects", "unknown fields"])(
    "details with %s: nothing is published of what was to be shown early",
    async what => {
      const mails = Array.from({ length: 60 }, (_, number) => ({ id: String(number) }));
      const bad = what === "rejects" ? { subject: "no id" } : { id: "2", colour: "red" };
      const notes = Object.fromEntries(
        mails.map(({ id: mail }) => [
          `/mails/${mail}/notes`,
          () => {
            place.clock.advance(1_000);
            return { notes: [{ id: "1" }, broken ? bad : { id: "2" }] };
          },
        ]),
      );
      let broken = true;
      const fail = { defaults: { details: { audit: 0 }, unknown_fields: "fail" } };
      const place = await told(
        make,
        version("id"),
        { "/mails": () => ({ mails }), ...notes },
        { ...strict, streams: fail },
      );
      const report = await place.run();
      expect(report.exit_code).toBe(1);
      expect(lineOf(report, "mail_notes").error).toContain(
        what === "rejects" ? "max_reject_share" : "mail_notes.colour",
      );
      expect(await place.count("mail_notes")).toBe(0);
      broken = false;
      const next = await place.run();
      expect(lineOf(next, "mail_notes")).toMatchObject({ status: "succeeded", carried: 0, inserted: 120 });
    },
  );
});
