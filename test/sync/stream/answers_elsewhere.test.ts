import { describe, expect, test } from "vitest";
import { documents } from "../../../streams/intake/documents.ts";
import { negotiationDetails } from "../../../streams/intelligence/negotiations.ts";
import { rfqs } from "../../../streams/sourcing/rfqs.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, page, told } from "../answers.ts";

const on = (name: string, more: object = {}) => ({ streams: { preset: "core", include: [name], ...more } });
const rows = [
  { doc_id: "D1", tags: [{ tag: "new" }] },
  { doc_id: "D2", tags: [] },
];

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test.each([
    ["under the list's own name", { documents: rows, total: 2 }],
    ["under another name", { items: rows, names: ["a", "b"], filters: [] }],
    ["within an object", { result: { page: { rows } }, view: {} }],
    ["as the data itself", rows],
  ])("documents are found %s", async (_, data) => {
    const place = await told(make, [documents], { "/documents": () => page(data, null) }, on("documents"));
    expect(lineOf(await place.run(), "documents")).toMatchObject({ status: "succeeded", inserted: 2, rejected: 0 });
    expect(await place.count("documents", "doc_id in ('D1', 'D2')")).toBe(2);
  });

  test("documents in one of two arrays of objects are not guessed at", async () => {
    const says = { "/documents": () => page({ items: rows, others: [{ id: 1 }] }, null) };
    const place = await told(make, [documents], says, on("documents"));
    expect(lineOf(await place.run(), "documents")).toMatchObject({
      status: "incomplete",
      error: expect.stringContaining("expected rows at one array of objects within data, and no second one"),
    });
  });

  test("a list goes on where its data says so, when its envelope doesn't", async () => {
    const rfq = (id: string) => ({ id, vendor_count: 0, response_count: 0, line_count: 0, lane_count: 0 });
    const says = {
      "/rfqs": ({ query }: { query: URLSearchParams }) => {
        const last = query.get("cursor") === "two";
        const own = [rfq(last ? "R2" : "R1")];
        return { data: own, rfqs: own, total: 2, has_more: !last, next_cursor: last ? null : "two" };
      },
    };
    const place = await told(make, [rfqs], says, on("rfqs"));
    expect(lineOf(await place.run(), "rfqs")).toMatchObject({ status: "succeeded", inserted: 2, requests: 2 });
    // Neither says whether there is more: that is no end.
    place.says["/rfqs"] = () => ({ data: [], rfqs: [] });
    expect(lineOf(await place.run(), "rfqs")).toMatchObject({ status: "incomplete", deleted: 0 });
    expect(await place.count("rfqs", "_deleted_at is null")).toBe(2);
  });

  test("an answer that names itself otherwise than asked is a problem, and no row under either name", async () => {
    const said = (id: string) => instead(200, { data: { id, status: "open" } });
    const says = { "/negotiations/N1": () => said("N1"), "/negotiations/N2": () => said("N9") };
    const settings = { negotiation_details: { values: [{ id: "N1" }, { id: "N2" }] } };
    const place = await told(make, [negotiationDetails], says, { streams: { settings } });
    expect(lineOf(await place.run(), "negotiation_details")).toMatchObject({
      status: "failed",
      inserted: 1,
      error: expect.stringContaining("/negotiations/N2: expected id N2, got N9"),
    });
    expect(await place.warehouse.query("select id from procurement.negotiation_details")).toEqual([{ id: "N1" }]);
    place.says["/negotiations/N2"] = () => said("N2");
    expect(lineOf(await place.run(), "negotiation_details")).toMatchObject({ inserted: 1 });
    place.says["/negotiations/N2"] = () => said("N1");
    expect(lineOf(await place.run(), "negotiation_details")).toMatchObject({ status: "failed", deleted: 0 });
    expect(await place.count("negotiation_details", "_deleted_at is null")).toBe(2);
  });
});
