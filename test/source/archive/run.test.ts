import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { id } from "../../../schemas/fields.ts";
import { defineStream, list, scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { page, told } from "../../sync/answers.ts";
import { archived, filesBelow, temporaryFolder } from "./folder.ts";

const things = streamOf("things", { thing: id() }, { mode: list({ rows: "" }) });
const make = () => passing(duckdbWarehouse());

test("a run without an archive keeps nothing; with one, files older than keep go at its end", async () => {
  const path = await temporaryFolder();
  const place = await told(make, [things], { "/things": () => [{ thing: 1 }] });
  await place.run();
  expect(await filesBelow(path)).toEqual([]);
  place.configure({ archive: { path, keep: "2d" } });
  await place.run();
  place.clock.advance(86_400_000);
  await place.run();
  expect(await filesBelow(path)).toHaveLength(2);
  place.clock.advance(1.5 * 86_400_000);
  await place.run();
  expect(await filesBelow(path)).toHaveLength(2);
  expect((await archived(path)).lines.map(({ head }) => head.at)).toEqual([
    "2026-03-16T12:00:00.000Z",
    "2026-03-18T00:00:00.000Z",
  ]);
});

test("an archive that cannot be written fails the streams before anything of them is stored, or is a warning of each", async () => {
  const file = join(await temporaryFolder(), "taken");
  await writeFile(file, "");
  const place = await told(make, [things], { "/things": () => [{ thing: 1 }] }, { archive: { path: file } });
  const failed = await place.run();
  const reason = expect.stringContaining("ENOTDIR");
  expect(failed).toMatchObject({
    exit_code: 1,
    errors: [{ code: "archive.not_written", fields: { stream: "things", reason } }],
  });
  expect(lineOf(failed, "things")).toMatchObject({ status: "failed", inserted: 0 });
  place.configure({ archive: { path: file, on_error: "warn" } });
  const warned = await place.run();
  expect(warned).toMatchObject({ exit_code: 0, warnings: [{ code: "archive.incomplete", fields: { reason } }] });
  expect(warned.warnings[0]?.message).toMatch(/^things: /);
  expect(lineOf(warned, "things")).toMatchObject({ status: "warning", inserted: 1 });
});

test("pages are kept with the cursor of the next", async () => {
  const path = await temporaryFolder();
  const listed = defineStream({ ...things, mode: scan({ rows: "" }) });
  const says = {
    "/things": ({ query }: { query: URLSearchParams }) =>
      page([{ thing: query.get("cursor") ?? "0" }], query.has("cursor") ? null : "c"),
  };
  const place = await told(make, [listed], says, { archive: { path } });
  await place.run();
  const { lines } = await archived(path);
  expect(lines.map(({ head: { request, next } }) => [request.query["cursor"], next])).toEqual([
    [undefined, "c"],
    ["c", null],
  ]);
});
