import { expect, test } from "vitest";
import { id, moment } from "../../schemas/fields.ts";
import { detail, feed } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";
import { lineOf } from "../support/run.ts";
import { warehouses } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { hostile, pageOf } from "./service.ts";
import { listOf, things } from "./things.ts";

const [duckdb, postgres] = warehouses.map(({ make }) => make);
const calmly = '{"data":{"rows":[{"id":1}]}}';
const NUL = "\\u0000";

const events = streamOf(
  "events",
  { id: id(), ts: moment().nullable() },
  {
    mode: feed({
      rows: "things",
      highWaterColumn: "ts",
      narrow: { by: "dates", from: "date_from", to: "date_to" },
      fullScanPages: 0,
      fullScanEveryDays: 3_650,
      lookbackDays: 7,
    }),
  },
);
const details = streamOf("row_details", { id: id() }, { path: "/calm/{id}", mode: detail({ of: "calm" }) });

test("what a database cannot store as text is in no error, no reason and no identity that is stored", async () => {
  const words = `a${NUL}b\\ud800${"w".repeat(100_000)}`;
  const place = await hostile(postgres!, [things, listOf("calm"), details], {
    "/auth/company-settings": () => `{"data":{"company_id":"c${NUL}","company_name":"${words}"}}`,
    "/things": ({ response }) => {
      const envelope = `{"error":{"code":"${words}","message":"${words}","request_id":"${words}"}}`;
      response.writeHead(422, { "content-type": "application/json" }).end(envelope);
      return undefined;
    },
    "/calm": () => calmly,
    "/calm/1": () => `{"data":{"id":"${words}"}}`,
  });
  const report = await place.run();
  expect(report.exit_code, JSON.stringify(report.errors)).toBe(1);
  const runs = await outside(
    place.warehouse,
    "select stream, status, error from _tributary.stream_runs order by stream",
  );
  expect(runs).toMatchObject([
    { stream: "calm", status: "succeeded", error: null },
    { stream: "row_details", status: "failed", error: expect.stringMatching(/expected id 1, got a b/) },
    { stream: "things", status: "failed", error: expect.stringMatching(/status 422 a b/) },
  ]);
  for (const { error } of runs) expect(String(error).length).toBeLessThan(900);
  expect(await outside(place.warehouse, "select status, exit_code from _tributary.runs")).toMatchObject([
    { status: "failed" },
  ]);
});

test("a cursor that no record holds leaves the scan incomplete with the rows that came, and the next run reads the list whole", async () => {
  const place = await hostile(postgres!, [things, listOf("calm")], {
    "/things": ({ query }) => pageOf(['{"id":1}'], query.has("cursor") ? "a\0b" : "c".repeat(7_000)),
    "/calm": () => calmly,
  });
  const line = lineOf(await place.run(), "things");
  expect(line).toMatchObject({
    status: "incomplete",
    inserted: 1,
    error: expect.stringContaining("a next_cursor with a NUL"),
  });
  place.says["/things"] = () => pageOf(['{"id":1}', '{"id":2}']);
  expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", carried: 0, inserted: 1 });
});

test("pages without a row that always name another are given up; a few between others are not", async () => {
  const place = await hostile(duckdb!, [things, listOf("calm")], {
    "/things": ({ nth }) => pageOf([], `c${nth}`),
    "/calm": () => calmly,
  });
  const report = await place.run();
  expect(lineOf(report, "things")).toMatchObject({ status: "incomplete", rows_read: 0 });
  expect(lineOf(report, "things").error).toContain("the 20th page in a row brought no new row");
  expect(place.counts.get("/things")).toBe(20);
  expect(lineOf(report, "calm")).toMatchObject({ status: "succeeded", inserted: 1 });
  const from = place.counts.get("/things")!;
  place.says["/things"] = ({ nth }) =>
    pageOf(nth % 20 === 0 ? [`{"id":${nth}}`] : [], nth < from + 99 ? `d${nth}` : null);
  expect(lineOf(await place.run(), "things")).toMatchObject({ status: "succeeded", inserted: 5 });
});

test("a service that lives in the year 9999 moves no high-water mark beyond our own time", async () => {
  const place = await hostile(duckdb!, [events], {
    "/events": ({ response }) => {
      response.setHeader("date", "Fri, 31 Dec 9999 23:59:59 GMT");
      return pageOf([
        '{"id":1,"ts":"9999-12-31T00:00:00Z"}',
        '{"id":2,"ts":"2026-03-14T00:00:00Z"}',
        '{"id":3,"ts":"0000-01-01T00:00:00Z"}',
      ]);
    },
  });
  await place.run();
  const asked: (string | null)[] = [];
  place.says["/events"] = ({ query }) => {
    asked.push(query.get("date_from"));
    return pageOf([]);
  };
  await place.run();
  expect(asked).toEqual(["2026-03-07"]);
  const found = await outside(
    place.warehouse,
    "select id, cast(ts as varchar) as ts from procurement.events order by id",
  );
  expect(found.map(({ ts }) => String(ts).slice(0, 10))).toEqual(["9999-12-31", "2026-03-14", "null"]);
});
