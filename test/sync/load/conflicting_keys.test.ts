import { describe, expect, test } from "vitest";
import { id, text } from "../../../schemas/fields.ts";
import { list, scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { page, told } from "../answers.ts";

const row = { id: id(), state: text().nullable() };
const things = streamOf("things", row, { mode: list({ rows: "things" }) });
const paged = streamOf("things", row, { mode: scan({ rows: "things" }) });

describe.each(warehouses)("$name", ({ make }) => {
  test("one answer with different rows under one key is a warning with the key, and the proof does not say equal", async () => {
    const answer = [
      { id: "A", state: "1" },
      { id: "B", state: "1" },
      { id: "A", state: "2" },
      { id: "B", state: "1" },
    ];
    const place = await told(make, [things], { "/things": () => page({ things: answer }, null) });
    for (const _ of [1, 2]) {
      const report = await place.run();
      expect(report).toMatchObject({ status: "warning", exit_code: 0 });
      expect(report.warnings).toMatchObject([
        { code: "rows.conflicting", fields: { columns: ["id"], keys: 1, example: "A", at_once: true } },
      ]);
      expect(lineOf(report, "things")).toMatchObject({ repeated: 2, difference_reason: "different rows have one key" });
    }
    expect(await place.count("things", "state = '2'")).toBe(1);
    answer.splice(0, 1);
    expect(await place.run()).toMatchObject({ status: "succeeded", warnings: [] });
  });

  test("a row that changes between two pages of a scan is a note", async () => {
    const place = await told(make, [paged], {
      "/things": ({ query }) =>
        query.get("cursor") === null
          ? page({ things: [{ id: "A", state: "1" }] }, "next")
          : page({ things: [{ id: "A", state: "2" }] }, null),
    });
    const report = await place.run();
    expect(report).toMatchObject({ status: "succeeded", warnings: [] });
    expect(report.notes).toMatchObject([{ code: "rows.conflicting", fields: { keys: 1, at_once: false } }]);
  });
});
