import { describe, expect, test } from "vitest";
import { count, id, table, text } from "../../../schemas/fields.ts";
import { detail } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { type Told, told } from "../answers.ts";

const mails = streamOf("mails", { id: id() });
const threads = streamOf(
  "mail_threads",
  {
    thread_id: id(),
    version: count(),
    words: table("mail_thread_words", "Its words.", { word: text() }),
  },
  { path: "/mails/{id}/threads", mode: detail({ of: "mails", rows: "threads" }), key: ["mail_id", "thread_id"] },
);

const mailed = (...ids: string[]) => ({ mails: ids.map(each => ({ id: each })) });
const threaded = (version: number, rows: number) => ({
  threads: Array.from({ length: rows }, (_, i) => ({
    thread_id: String(i),
    version,
    words: [{ word: `v${version}` }, { word: `v${version}` }],
  })),
});

async function rowsOf(place: Told, name: string, columns: string): Promise<string[]> {
  const rows = await place.warehouse.query<Record<string, unknown>>(
    `select ${columns} from procurement.${name} where _deleted_at is null order by ${columns}`,
  );
  return rows.map(row => Object.values(row).join(" "));
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("an answer that may not take rows away is held back whole, beside others that are published", async () => {
    const place = await told(
      make,
      [mails, threads],
      {
        "/mails": () => mailed("a", "b", "c", "d"),
        ...Object.fromEntries(["a", "b", "c"].map(each => [`/mails/${each}/threads`, () => threaded(0, 5)] as const)),
        "/mails/d/threads": () => threaded(0, 1),
      },
      { streams: { defaults: { details: { audit: 0 } } }, deletes: { max_share: 0.1, min_rows: 2 } },
    );
    await place.run();
    place.clock.advance(60_000);
    for (const each of ["a", "b"]) place.says[`/mails/${each}/threads`] = () => threaded(1, 2);
    place.says["/mails/c/threads"] = () => threaded(1, 6);
    place.says["/mails/d/threads"] = () => threaded(1, 1);
    const line = lineOf(await place.run({ allDetails: true }), "mail_threads");
    expect(line).toMatchObject({ status: "failed", rows_read: 11, inserted: 1, updated: 6, unchanged: 0, deleted: 0 });
    expect(line).toMatchObject({ carried: 0, rejected: 0, repeated: 4 });
    expect(line.error).toContain("6 of 16 live rows");
    const columns = "mail_id, version";
    const versions = (...now: [string, number, number][]) =>
      now.flatMap(([mail, version, rows]) => Array.from({ length: rows }, () => `${mail} ${version}`));
    const held = versions(["a", 0, 5], ["b", 0, 5], ["c", 1, 6], ["d", 1, 1]);
    expect(await rowsOf(place, "mail_threads", columns)).toEqual(held);
    // Each row has two words of its own version.
    expect(await rowsOf(place, "mail_thread_words", "mail_id, word")).toEqual(
      held.flatMap(each => [each, each]).map(each => each.replace(" ", " v")),
    );
    const due = "stream = 'mail_threads' and outcome = 'failed' and parent_key in ('a', 'b')";
    expect(await place.count("_tributary.details", due)).toBe(2);
    expect(await place.count("_tributary.details", "stream = 'mail_threads' and outcome = 'ok'")).toBe(2);
    const confirmed = lineOf(await place.run({ confirmDeletes: true }), "mail_threads");
    expect(confirmed).toMatchObject({ status: "succeeded", requests: 2, updated: 4, deleted: 6 });
    expect(await rowsOf(place, "mail_threads", columns)).toEqual(
      versions(["a", 1, 2], ["b", 1, 2], ["c", 1, 6], ["d", 1, 1]),
    );
  });
});
