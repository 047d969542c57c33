import { describe, expect, test } from "vitest";
import { count, whole } from "../../../schemas/fields.ts";
import { snapshot } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { instead, told } from "../answers.ts";

const figures = streamOf(
  "figures",
  { orders: count() },
  {
    query: { detail: "full" },
    mode: snapshot({ parameters: { period: ["30"], side: ["buy", "sell"] } }),
    key: ["observed_on", "period", "side"],
  },
);
const answer = ({ query }: { query: URLSearchParams }) => ({
  orders: Number(query.get("period")) + (query.get("side") === "buy" ? 1 : 2),
});
const settings = (parameters: object) => ({ streams: { settings: { figures: { parameters } } } });
const rows = "select period, side, orders from procurement.figures order by period, side";

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a row a day for each combination of the parameters' values", async () => {
    const place = await told(make, [figures], { "/figures": answer });
    expect(lineOf(await place.run(), "figures")).toMatchObject({ status: "succeeded", inserted: 2, requests: 2 });
    expect(place.asked).toEqual([
      "/figures?detail=full&period=30&side=buy",
      "/figures?detail=full&period=30&side=sell",
    ]);
    expect(lineOf(await place.run(), "figures")).toMatchObject({ inserted: 0, updated: 0, unchanged: 2 });

    place.configure(settings({ period: [7, 90], side: ["buy"] }));
    expect(lineOf(await place.run(), "figures")).toMatchObject({ inserted: 2, deleted: 0, missing: 0 });
    expect(await place.warehouse.query(rows)).toMatchObject([
      { period: "30", side: "buy", orders: 31 },
      { period: "30", side: "sell", orders: 32 },
      { period: "7", side: "buy", orders: 8 },
      { period: "90", side: "buy", orders: 91 },
    ]);
    expect(await place.count("figures", "_deleted_at is null")).toBe(4);
  });

  test("one combination that fails fails the stream, and the others are stored", async () => {
    const broken = instead(400, { error: { code: "BAD_PERIOD", message: "no such period", request_id: "r" } });
    const say = (passing: Parameters<typeof answer>[0]) =>
      passing.query.get("period") === "7" ? broken : answer(passing);
    const place = await told(make, [figures], { "/figures": say }, settings({ period: [30, 7, 90] }));
    const line = lineOf(await place.run(), "figures");
    expect(line).toMatchObject({ status: "failed", inserted: 4, requests: 6 });
    expect(line.error).toContain("/figures");
    place.says["/figures"] = answer;
    expect(lineOf(await place.run(), "figures")).toMatchObject({ status: "succeeded", inserted: 2, unchanged: 4 });
  });

  test("a combination that this key may not read is a failure beside others, and hides none that is worse", async () => {
    const refused = instead(403, { error: { code: "FORBIDDEN", message: "not yours", request_id: "r" } });
    const broken = instead(400, { error: { code: "BAD_PERIOD", message: "no such period", request_id: "r" } });
    const says = ({ query }: { query: URLSearchParams }) => (query.get("side") === "buy" ? refused : answer({ query }));
    const place = await told(make, [figures], { "/figures": says });
    expect(lineOf(await place.run(), "figures")).toMatchObject({ status: "failed", inserted: 1 });
    place.says["/figures"] = ({ query }) => (query.get("side") === "buy" ? refused : broken);
    expect(lineOf(await place.run(), "figures").error).toContain("BAD_PERIOD");
    place.says["/figures"] = () => refused;
    expect(await place.run()).toMatchObject({ exit_code: 1, errors: [{ code: "run.nothing_available" }] });
  });

  test("an answer whose fields are not known is kept whole, but for what is left out of it", async () => {
    const start = streamOf(
      "start",
      { data: whole() },
      { mode: snapshot({ omit: ["internal"] }), key: ["observed_on"] },
    );
    const plain = { user: { id: 1.0, roles: ["a"] }, big: "x", internal: "hidden", api_key: "k" };
    const place = await told(make, [start], { "/start": () => plain });
    expect(lineOf(await place.run(), "start")).toMatchObject({ status: "succeeded", inserted: 1 });
    const read = async () => {
      const [row] = await place.warehouse.query("select cast(data as varchar) as data, _extra from procurement.start");
      return { data: JSON.parse(String(row!["data"])), extra: row!["_extra"] };
    };
    expect(await read()).toEqual({ data: { user: { id: 1, roles: ["a"] }, big: "x" }, extra: null });
    expect(lineOf(await place.run(), "start")).toMatchObject({ unchanged: 1, updated: 0 });
    place.says["/start"] = () => ["now", "a", "list"];
    expect(lineOf(await place.run(), "start")).toMatchObject({ updated: 1, rejected: 0 });
    expect((await read()).data).toEqual(["now", "a", "list"]);
    place.says["/start"] = () => "text";
    await place.run();
    expect((await read()).data).toBe("text");
  });
});

test("the parameters' columns are in the key, and begin it after the day", () => {
  const { main } = figures.tables;
  expect(main.columns.slice(0, 3).map(({ name, kind }) => [name, kind])).toEqual([
    ["observed_on", "date"],
    ["period", "id"],
    ["side", "id"],
  ]);
});
