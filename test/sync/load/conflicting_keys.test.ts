import { describe, expect, test } from "vitest";
import { id, text } from "../../../schemas/fields.ts";
import { detail, list, scan } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { warehouses } from "../../support/warehouse.ts";
import { page, type Told, told } from "../answers.ts";

const row = { id: id(), state: text().nullable() };
const things = streamOf("things", row, { mode: list({ rows: "things" }) });
const paged = streamOf("things", row, { mode: scan({ rows: "things" }) });
const parts = streamOf("parts", row, {
  path: "/things/{id}/parts",
  mode: detail({ of: "things", rows: "parts" }),
  key: ["thing_id", "id"],
});

/** Rows that another row of the same key replaced. */
const replaced = ({ warehouse }: Told, where = "resolved_at is null") =>
  warehouse.query(
    `select stream, raw, "key", cast(times as integer) as times from _tributary.rejects
      where reason like 'a later row of the same answer%' and ${where} order by cast(raw as varchar)`,
  );

describe.each(warehouses)("$name", ({ make }) => {
  test("one answer with different rows under one key is a warning with the key, and the rows that are not kept are rejects", async () => {
    const answer = [
      { id: "A", state: "1" },
      { id: "B", state: "1" },
      { id: "A", state: "2" },
      { id: "B", state: "1" },
      { id: "A", state: "3" },
    ];
    const place = await told(make, [things], { "/things": () => page({ things: answer }, null) });
    for (const times of [1, 2]) {
      const report = await place.run();
      expect(report).toMatchObject({ status: "warning", exit_code: 0 });
      expect(report.warnings).toMatchObject([
        {
          code: "rows.conflicting",
          fields: { columns: ["id"], keys: 1, example: "A", at_once: true, widens: true },
        },
      ]);
      expect(lineOf(report, "things")).toMatchObject({
        ...{ repeated: 3, rejected: 0, difference_reason: "different rows have one key" },
      });
      const same = { stream: "things", key: "id=A", times };
      expect(await replaced(place)).toMatchObject([
        { ...same, raw: { id: "A", state: "1" } },
        { ...same, raw: { id: "A", state: "2" } },
      ]);
    }
    expect(await place.count("things", "state = '3'")).toBe(1);
    answer.splice(0, 3);
    expect(await place.run()).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await replaced(place)).toEqual([]);
  });

  test("a row that changes between two pages of a scan is a note, and no reject", async () => {
    const second = [{ id: "A", state: "2" }];
    const place = await told(make, [paged], {
      "/things": ({ query }) =>
        query.get("cursor") === null
          ? page({ things: [{ id: "A", state: "1" }] }, "next")
          : page({ things: second }, null),
    });
    const report = await place.run();
    expect(report).toMatchObject({ status: "succeeded", warnings: [] });
    expect(report.notes).toMatchObject([{ code: "rows.conflicting", fields: { keys: 1, at_once: false } }]);
    expect(await replaced(place)).toEqual([]);
    second.push({ id: "A", state: "3" });
    expect((await place.run()).warnings).toMatchObject([{ code: "rows.conflicting", fields: { at_once: true } }]);
    expect(await replaced(place)).toMatchObject([{ raw: { state: "2" } }]);
  });

  test("a parent's answer with different rows under one key leaves rejects until it shows them no more", async () => {
    const answer = [
      { id: "P", state: "1" },
      { id: "P", state: "2" },
    ];
    const answers = {
      "/things": () => page({ things: [{ id: "A", state: String(answer.length) }] }, null),
      "/things/A/parts": () => ({ parts: answer }),
    };
    const place = await told(make, [things, parts], answers);
    expect((await place.run()).warnings).toMatchObject([{ code: "rows.conflicting", fields: { stream: "parts" } }]);
    expect(await replaced(place)).toMatchObject([{ stream: "parts", raw: { state: "1" } }]);
    answer.pop();
    await place.run();
    expect(await replaced(place)).toEqual([]);
    expect(await replaced(place, "true")).toHaveLength(1);
  });
});
