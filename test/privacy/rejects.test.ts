import { describe, expect, test } from "vitest";
import { id, record, text } from "../../schemas/fields.ts";
import { defineStream, detail, list, type Stream, scan } from "../../src/catalog/stream.ts";
import { instead, told } from "../sync/answers.ts";
import { kinds } from "./place.ts";
import { traces } from "./traces.ts";

/** Notes of mails, beside whose rows stands who wrote them. */
const catalogue: readonly Stream[] = [
  defineStream({
    name: "mails",
    path: "/mails",
    mode: list({ rows: "mails" }),
    row: record("A mail.", { id: id().describe("Its id.") }),
    key: ["id"],
    preset: "core",
  }),
  defineStream({
    name: "mail_notes",
    path: "/mails/{id}/notes",
    mode: detail({
      of: "mails",
      rows: "notes",
      pageColumns: [
        { name: "author", kind: "text", field: "of.author", description: "Who wrote them.", personal: true },
        { name: "folder", kind: "text", field: "of.folder", description: "Where they lie." },
      ],
    }),
    row: record("A note.", {
      id: id().describe("Which."),
      said: text().nullable().describe("What it says."),
    }),
    key: ["mail_id", "id"],
    preset: "core",
  }),
];
const config = { streams: { defaults: { details: { audit: 0 }, max_reject_share: 1 } } };

describe.each(kinds)("%s", (_name, make) => {
  test("what stands beside a reject is treated as its columns are, and still tells whose row it is", async () => {
    const beside = { of: { author: "Ada Lovelace", folder: "inbox" } };
    const says = {
      "/mails": () => ({ mails: [{ id: "a" }] }),
      "/mails/a/notes": () => ({ notes: [{ said: "hello" }], ...beside }),
    };
    const place = await told(make, catalogue, says, config);
    await place.run();
    expect(await traces(place.warehouse, [], ["Ada Lovelace"])).not.toEqual([]);
    place.configure({ ...config, privacy: { pii: "exclude", exclude_columns: ["mails._extra"] } });
    expect(await place.run()).toMatchObject({ exit_code: 0 });
    expect(await traces(place.warehouse, [], ["Ada Lovelace"])).toEqual([]);
    place.configure({ ...config, privacy: { pii: "exclude", exclude_columns: ["mail_notes._extra"] } });
    delete place.says["/mails/a/notes"];
    await place.run();
    const kept = await place.warehouse.query("select raw, context from _tributary.rejects");
    expect(kept).toMatchObject([{ raw: { said: "hello" }, context: { context: { mail_id: "a" }, page: { of: {} } } }]);
    expect(JSON.stringify(kept)).toContain("inbox");
  });

  test("the text of a row that is no JSON is kept only where nothing is taken out of answers, and goes once something is", async () => {
    const mode = scan({ rows: "mails" });
    const row = record("A mail.", { id: id().describe("Its id."), sender: text().describe("Who sent it.") });
    const mails = [defineStream({ name: "mails", path: "/mails", mode, row, key: ["id"], preset: "core" })];
    const pagination = '"pagination":{"next_cursor":null,"has_more":false,"limit":1}';
    const body = Buffer.from(`{"data":{"mails":[{"id":"a","sender":"Ada Lovelace","size":NaN}]},${pagination}}`);
    const place = await told(make, mails, { "/mails": () => instead(200, body) }, config);
    const kept = () => place.warehouse.query("select raw from _tributary.rejects where resolved_at is null");
    await place.run();
    expect(JSON.stringify(await kept())).toContain("Ada Lovelace");
    place.configure({ ...config, privacy: { exclude_columns: ["mails.sender"] } });
    await place.run();
    expect(await kept()).toEqual([{ raw: [] }]);
    expect(await traces(place.warehouse, [], ["Ada Lovelace"])).toEqual([]);
  });
});
