import { describe, expect, test } from "vitest";
import { id, record, text } from "../../../schemas/fields.ts";
import { defineStream, detail, list } from "../../../src/catalog/stream.ts";
import { StoppedError } from "../../../src/errors.ts";
import { type NamedRows, refreshOrder } from "../../../src/operations/refresh.ts";
import { type RunReport, runSync } from "../../../src/sync/run/run.ts";
import { refused } from "../../support/interposed.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { type Told, told } from "../../sync/answers.ts";

const mails = defineStream({
  name: "mails",
  path: "/mails",
  mode: list({ rows: "mails" }),
  row: record("A mail.", { id: id(), subject: text().nullable() }),
  key: ["id"],
  preset: "core",
});
const details = defineStream({
  name: "mail_details",
  path: "/mails/{id}",
  mode: detail({ of: "mails" }),
  row: record("All of a mail.", { id: id(), body: text().nullable() }),
  key: ["id"],
  preset: "core",
});
const notes = defineStream({
  name: "mail_notes",
  path: "/mails/{id}/notes",
  mode: detail({ of: "mails", rows: "notes" }),
  row: record("A note.", { note_id: id(), said: text().nullable() }),
  key: ["mail_id", "note_id"],
  preset: "core",
});
const lineages = defineStream({
  name: "note_lineages",
  path: "/lineage/{noteId}",
  mode: detail({ of: "mail_notes", by: "note_id", rows: "steps" }),
  row: record("A step.", { step: text() }),
  key: ["note_id", "_index"],
  preset: "core",
});
const off = defineStream({
  name: "mail_headers",
  path: "/mails/{id}/headers",
  mode: detail({ of: "mails" }),
  row: record("Its headers.", { id: id(), sent_by: text().nullable() }),
  key: ["id"],
  preset: "all",
});
const catalogue = [mails, details, notes, lineages, off];
const live = "_deleted_at is null";

interface Service extends Told {
  /** What a mail says: its body, and its one note. */
  readonly bodies: Record<string, string>;
  isHint: boolean;
  refresh(rows: readonly string[], more?: { readonly waitMs?: number }, signal?: AbortSignal): Promise<RunReport>;
}

/** Mails with a detail and a note each, all of them loaded. */
async function loaded(
  make: () => Promise<Warehouse>,
  ids = ["a", "b", "c"],
  settings: object = {},
  load = true,
): Promise<Service> {
  let named: NamedRows | undefined;
  const bodies = Object.fromEntries(ids.map(each => [each, "1"]));
  const place = await told(
    make,
    catalogue,
    {
      "/mails": () => ({ mails: ids.map(each => ({ id: each, subject: `on ${each}` })) }),
      ...Object.fromEntries(
        ids.flatMap(each => [
          [`/mails/${each}`, () => ({ id: each, body: bodies[each] })] as const,
          [`/mails/${each}/notes`, () => ({ notes: [{ note_id: `${each}${bodies[each]}`, said: "x" }] })] as const,
          [`/lineage/${each}1`, () => ({ steps: [{ step: "made" }] })] as const,
        ]),
      ),
    },
    { api: { max_concurrency: 1 }, streams: { defaults: { details: { audit: 0 } }, settings } },
    {
      run: (order, tools) =>
        runSync(
          named === undefined
            ? order
            : refreshOrder({ ...order, command: "tributary refresh" }, named, undefined, service.isHint),
          tools,
        ),
    },
  );
  const service: Service = Object.assign(place, {
    bodies,
    isHint: false,
    async refresh(keys: readonly string[], more = {}, signal?: AbortSignal) {
      named = { list: "mails", keys };
      place.asked.length = 0;
      return place.sync({ catalogue, ...more }, signal).finally(() => {
        named = undefined;
      });
    },
  });
  if (load) expect(await service.run()).toMatchObject({ exit_code: 0 });
  place.clock.advance(60_000);
  return service;
}

const bodiesOf = async (place: Told): Promise<string[]> =>
  (
    await place.warehouse.query<{ id: string; body: string }>(
      `select id, body from procurement.mail_details where ${live} order by id`,
    )
  ).map(row => `${row.id} ${row.body}`);

const completeTo = async (place: Told): Promise<unknown> =>
  place.warehouse.query("select stream, complete_to from _tributary.streams order by stream");

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("only the details of the rows that were named are asked for, and their tables are right at once", async () => {
    const place = await loaded(make, ["a", "b", "c"], { mail_details: { max_details: 1 } }, false);
    // One detail a run at most, which is no limit for rows that somebody names.
    for (let runs = 0; runs < 3; runs++) expect(await place.run()).toMatchObject({ exit_code: 0 });
    for (const each of ["a", "b", "c"]) place.bodies[each] = "2";
    place.clock.advance(60_000);
    const report = await place.refresh(["c", "a", "c"]);
    expect(report).toMatchObject({ exit_code: 0, status: "succeeded", warnings: [], errors: [] });
    expect(place.asked.toSorted()).toEqual(["/mails/a", "/mails/a/notes", "/mails/c", "/mails/c/notes"]);
    expect(report.streams.map(({ stream, requests }) => `${stream} ${requests}`)).toEqual([
      "mail_details 2",
      "mail_notes 2",
    ]);
    expect(lineOf(report, "mail_details")).toMatchObject({ updated: 2, unchanged: 0, deleted: 0 });
    expect(lineOf(report, "mail_notes")).toMatchObject({ inserted: 2, deleted: 2 });
    expect(await bodiesOf(place)).toEqual(["a 2", "b 1", "c 2"]);
    const [run] = await place.warehouse.query(
      "select command, status, exit_code from _tributary.runs order by started_at desc limit 1",
    );
    expect(run).toMatchObject({ command: "tributary refresh", status: "succeeded", exit_code: 0 });
    // What was fetched is due no more than before, and values that came with it are left to a sync.
    await place.run();
    expect(place.asked.filter(path => !path.startsWith("/lineage/"))).toEqual(["/mails"]);
  });

  test("some rows' details make no table complete, and those of others that failed are not its failure", async () => {
    const place = await loaded(make);
    place.says["/mails"] = () => ({
      mails: ["a", "b", "c", "d"].map(each => ({ id: each, subject: `again ${each}` })),
    });
    place.says["/mails/b"] = () => refused(500, "INTERNAL");
    expect(await place.run()).toMatchObject({ exit_code: 1 });
    place.clock.advance(60_000);
    await place.run({ names: ["mails"] });
    const before = await completeTo(place);
    expect(await place.refresh(["a"])).toMatchObject({ exit_code: 0, errors: [] });
    expect(await completeTo(place)).toEqual(before);
  });

  test("keys that no live row has are named, and the others are fetched", async () => {
    const place = await loaded(make);
    place.says["/mails"] = () => ({
      mails: [
        { id: "a", subject: "on a" },
        { id: "b", subject: "on b" },
      ],
    });
    for (let runs = 0; runs < 2; runs++) await place.run();
    place.bodies["a"] = "2";
    const report = await place.refresh(["zz", "a", "c", "it's"]);
    const unknown = { list: "mails", keys: ["zz", "c", "it's"], more: 0 };
    const warnings = [{ code: "refresh.unknown_keys", fields: unknown }];
    expect(report).toMatchObject({ exit_code: 0, status: "warning", warnings });
    expect(place.asked).toEqual(expect.arrayContaining(["/mails/a", "/mails/a/notes"]));
    expect(place.asked).toHaveLength(2);
    expect(await bodiesOf(place)).toEqual(["a 2", "b 1"]);
    await expect(place.refresh(["zz", "c"])).rejects.toMatchObject({
      ...{ name: "ConfigError", code: "refresh.unknown_keys", fields: { list: "mails", keys: ["zz", "c"], more: 0 } },
    });
    place.isHint = true;
    expect(await place.refresh(["zz"])).toMatchObject({ exit_code: 0, warnings: [{ code: "refresh.unknown_keys" }] });
    expect(place.asked).toEqual([]);
  });

  test("a live row without a detail is known, and its detail is fetched", async () => {
    const place = await loaded(make, ["a", "b"], { mail_details: { max_details: 1 } }, false);
    await place.run();
    const [had] = await bodiesOf(place);
    const lacks = had === "a 1" ? "b" : "a";
    expect(await place.refresh([lacks])).toMatchObject({ exit_code: 0, status: "succeeded", warnings: [] });
    expect(await bodiesOf(place)).toEqual(["a 1", "b 1"]);
  });

  test("a 404 takes the row's details with it, a failure fails the run and leaves them", async () => {
    const place = await loaded(make);
    delete place.says["/mails/a"];
    place.says["/mails/a/notes"] = () => refused(500, "INTERNAL");
    const report = await place.refresh(["a"]);
    expect(report).toMatchObject({ exit_code: 1 });
    expect(lineOf(report, "mail_details")).toMatchObject({ status: "succeeded", deleted: 1 });
    expect(lineOf(report, "mail_notes")).toMatchObject({ status: "failed", deleted: 0 });
    expect(await bodiesOf(place)).toEqual(["b 1", "c 1"]);
    expect(await place.count("mail_notes", `mail_id = 'a' and ${live}`)).toBe(1);
  });

  test("more rows at once than the deletion guard allows stay, though answers lack them", async () => {
    const place = await loaded(make);
    place.configure({
      deletes: { max_share: 0.1, min_rows: 1 },
      api: { max_concurrency: 1 },
      streams: { defaults: { details: { audit: 0 } } },
    });
    for (const each of ["a", "b"]) delete place.says[`/mails/${each}`];
    const report = await place.refresh(["a", "b"]);
    expect(lineOf(report, "mail_details")).toMatchObject({ status: "failed", deleted: 0 });
    expect(await bodiesOf(place)).toEqual(["a 1", "b 1", "c 1"]);
  });

  test("what a broken-off run had fetched a moment ago is asked for again, and the rest of it is not lost", async () => {
    const ids = Array.from({ length: 12 }, (_, number) => `m${10 + number}`);
    const place = await loaded(make, ids);
    for (const each of ids) place.bodies[each] = "2";
    const ending = new AbortController();
    const { "/mails/m18": last } = place.says;
    place.says["/mails/m18"] = passing => {
      ending.abort(new StoppedError(sentence("the end"), 130));
      return last!(passing);
    };
    const stopped = await place.sync({ catalogue, names: ["mail_details"], allDetails: true }, ending.signal);
    expect(lineOf(stopped, "mail_details")).toMatchObject({ status: "stopped", updated: 0 });
    place.says["/mails/m18"] = last!;
    place.bodies["m10"] = "3";
    expect(await place.refresh(["m10"])).toMatchObject({ exit_code: 0 });
    expect(place.asked.filter(path => path.startsWith("/mails/m10"))).toHaveLength(2);
    expect(place.asked).toHaveLength(2);
    const now = await bodiesOf(place);
    expect(now[0]).toBe("m10 3");
    expect(now.filter(row => row.endsWith(" 2")).length).toBeGreaterThan(4);
  });

  test("while another run holds the list it is refused with exit code 4, or waits and is next", async () => {
    const place = await loaded(make);
    const { look } = place;
    let refusal: unknown;
    let waiting: Promise<RunReport> | undefined;
    place.look = async passing => {
      if (passing.path === "/mails") {
        refusal = await place.refresh(["a"]).catch(error => error);
        place.bodies["a"] = "2";
        waiting = place.refresh(["a"], { waitMs: 3_600_000 });
      }
      return look(passing);
    };
    expect(await place.sync({ catalogue })).toMatchObject({ exit_code: 0 });
    expect(refusal).toMatchObject({ name: "LockedError", exitCode: 4 });
    expect(await waiting).toMatchObject({ exit_code: 0, status: "succeeded" });
    expect(await bodiesOf(place)).toEqual(["a 2", "b 1", "c 1"]);
  });

  test("where nothing has been loaded yet there is no row to name, and no warehouse is made", async () => {
    const place = await loaded(make, ["a"], {}, false);
    await expect(place.refresh(["a"])).rejects.toMatchObject({
      name: "ConfigError",
      message: "Nothing has been loaded yet, so no row is known: `tributary sync` loads them first.",
    });
    expect(place.asked).toEqual([]);
  });
});
