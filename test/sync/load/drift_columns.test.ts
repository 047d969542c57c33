import { describe, expect, test } from "vitest";
import { anyJson, id, table, text } from "../../../schemas/fields.ts";
import { detail, type Stream } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";
import { refused } from "../../support/interposed.ts";
import { lineOf } from "../../support/run.ts";
import { contents } from "../../support/tables.ts";
import { eitherWarehouse, warehouses } from "../../support/warehouse.ts";
import { type Told, told } from "../answers.ts";

/** Mails and their details as a version knows them. */
const version = (more: object = {}): readonly Stream[] => [
  streamOf("mails", { id: id(), ...more }),
  streamOf(
    "mail_details",
    {
      id: id(),
      body: text().nullable(),
      parts: table("mail_parts", "A part.", { name: text().nullable() }),
    },
    { path: "/mails/{id}", mode: detail({ of: "mails" }) },
  ),
];

const policy = (unknown_fields: string) => ({ streams: { defaults: { details: { audit: 0 }, unknown_fields } } });
const NIGHT = 86_400_000;

const details = (id: string) => () => ({
  id,
  body: `of ${id}`,
  sender: { name: `n${id}`, "e-mail": "x" },
  parts: [{ name: "p", id: "own", size: 1.5 }],
});

interface Mail {
  readonly id: string;
  readonly [field: string]: unknown;
}

async function started(make: Parameters<typeof told>[0], mails: Mail[], unknown = "column"): Promise<Told> {
  const says = {
    "/mails": () => ({ mails }),
    ...Object.fromEntries(mails.map(({ id }) => [`/mails/${id}`, details(id)])),
  };
  return told(make, version(), says, policy(unknown));
}

const columnsOf = async ({ warehouse }: Told, name: string) =>
  (
    await warehouse.query<{ name: string; type: string }>(
      `select column_name as name, data_type as type from information_schema.columns
        where table_schema = 'procurement' and table_name = '${name}' and column_name not like '\\_%' escape '\\' order by 1`,
    )
  ).map(({ name: column, type }) => `${column} ${/json/i.test(type) ? "json" : "text"}`);

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("new fields get columns from the next run on, filled for old rows, and nothing is fetched or changed for it", async () => {
    const mails: Mail[] = [
      { id: "1", colour: "red", weight: 1.25, open: true, select: "s", tree: { a: [1, 0.5] }, mixed: "m" },
      { id: "2", colour: null, weight: 10, open: false, mixed: [1] },
    ];
    const place = await started(make, mails);
    const first = await place.run();
    const fields = { as_columns: true, nameless: [] };
    expect(first.warnings[0]).toMatchObject({ code: "schema.unknown_fields", fields });
    const before = await contents(place.warehouse, version());
    place.clock.advance(NIGHT);
    place.configure(policy("keep"));
    expect(await place.run()).toMatchObject({ status: "succeeded" });
    expect(await columnsOf(place, "mails")).toEqual(["id text"]);
    place.configure(policy("column"));
    place.clock.advance(NIGHT);
    const report = await place.run();
    expect(report).toMatchObject({ status: "succeeded", warnings: [] });
    expect(place.asked).toEqual(["/mails"]);
    expect(lineOf(report, "mails")).toMatchObject({ inserted: 0, updated: 0, unchanged: 2 });
    expect(await columnsOf(place, "mails")).toEqual([
      "colour text",
      "id text",
      "mixed json",
      "open text",
      "select_ text",
      "tree json",
      "weight text",
    ]);
    const named = `"colour", "weight", "open", "select_", "tree", "mixed", "_extra"`;
    const rows = await place.warehouse.query(`select ${named} from procurement.mails order by id`);
    const one = { colour: "red", weight: "1.25", open: "true", select_: "s", tree: { a: [1, 0.5] }, mixed: "m" };
    const two = { colour: null, weight: "10", open: "false", select_: null, tree: null, mixed: [1] };
    expect(rows).toEqual([one, two].map(row => ({ ...row, _extra: null })));
    expect(await columnsOf(place, "mail_details")).toEqual(["body text", "id text", "sender json"]);
    expect(await columnsOf(place, "mail_parts")).toEqual(["id text", "id_ text", "name text", "size text"]);
    expect(await place.warehouse.query("select id, id_, size, _extra from procurement.mail_parts order by id")).toEqual(
      ["1", "2"].map(mail => ({ id: mail, id_: "own", size: "1.5", _extra: null })),
    );
    const after = await contents(place.warehouse, version());
    for (const [key, row] of after) expect(JSON.parse(row)._changed_at).toBe(JSON.parse(before.get(key)!)._changed_at);
    // They stay, whatever the policy says, and a change of their value is one of the row.
    place.configure(policy("keep"));
    place.clock.advance(NIGHT);
    mails[0] = { ...mails[0]!, open: false, colour: 5 };
    const fourth = await place.run();
    expect(lineOf(fourth, "mails")).toMatchObject({ updated: 1, unchanged: 1 });
    expect(place.asked).toEqual(["/mails", "/mails/1"]);
    const [changed] = await place.warehouse.query("select colour, open, _extra from procurement.mails where id = '1'");
    expect(changed).toEqual({ colour: "5", open: "false", _extra: null });
  });
});

test.each(warehouses)("figures beyond 1e21 and below 1e-6 get their column unchanged, in $name", async ({ make }) => {
  const mails: Mail[] = [
    { id: "1", size: 1e21, share: 1e-7 },
    { id: "2", size: -1.25e300, share: 1.5e-9, tree: { a: [1e21, 1e-7] } },
    { id: "3", size: "1e+21", share: 5e-324, note: "1e+21" },
  ];
  const place = await started(make, mails);
  await place.run();
  const changedAt = () => place.warehouse.query("select cast(_changed_at as varchar) as at from procurement.mails");
  const before = await changedAt();
  for (const night of [1, 2]) {
    place.clock.advance(NIGHT);
    const report = await place.run();
    expect(lineOf(report, "mails"), `night ${night}`).toMatchObject({ updated: 0, unchanged: 3 });
    const rows = await place.warehouse.query("select size, share, note, _extra from procurement.mails order by id");
    expect(rows).toEqual([
      { size: `1${"0".repeat(21)}`, share: "0.0000001", note: null, _extra: null },
      { size: `-125${"0".repeat(298)}`, share: "0.0000000015", note: null, _extra: null },
      { size: "1e+21", share: `0.${"0".repeat(323)}5`, note: "1e+21", _extra: null },
    ]);
  }
  expect(await changedAt()).toEqual(before);
});

describe("in one database", () => {
  const { make } = warehouses[0]!;

  test("a version that documents the field takes its column over, and one that means something else is refused", async () => {
    const place = await started(make, [{ id: "1", colour: "red", tree: [1] }]);
    await place.run();
    await place.run();
    const young = version({ colour: text().nullable().describe("Its colour."), tree: anyJson().describe("Its tree.") });
    place.clock.advance(NIGHT);
    const report = await place.run({ catalogue: young });
    expect(report).toMatchObject({ status: "succeeded" });
    expect(lineOf(report, "mails")).toMatchObject({ unchanged: 1 });
    expect(await columnsOf(place, "mails")).toEqual(["colour text", "id text", "tree json"]);
    const other = version({ colour: anyJson().describe("Its colours.") });
    await expect(place.run({ catalogue: other })).rejects.toThrow(
      /mails\.colour is varchar, but jsonb? is wanted.*--drop/,
    );
  });

  test("names that no column can have stay in _extra and are told once", async () => {
    const hostile = {
      Foo: 1,
      foo: 2,
      "a b": 1,
      'x"; drop table mails; --': 1,
      ["long".repeat(16)]: 1,
      _extra: 1,
      _seq: 1,
      __proto: 1,
      ID: "other",
      größe: 1,
      "a.b": 1,
      nothing: null,
      null: 1,
      camelCase: "c",
      xmin: 5,
    };
    const place = await started(make, [{ id: "1", ...hostile }]);
    const first = await place.run();
    const nameless = expect.arrayContaining(["mails._extra"]);
    expect(first.warnings[0]).toMatchObject({ code: "schema.unknown_fields", fields: { nameless } });
    place.clock.advance(NIGHT);
    expect(await place.run()).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await columnsOf(place, "mails")).toEqual([
      "camel_case text",
      "foo text",
      "id text",
      "null_ text",
      "xmin_ text",
    ]);
    const [row] = await place.warehouse.query<{ foo: string; _extra: object }>(
      "select foo, camel_case, null_, xmin_, _extra from procurement.mails",
    );
    const { Foo, camelCase, null: none, xmin, ...rest } = hostile;
    const columns = { foo: String(Foo), camel_case: camelCase, null_: String(none), xmin_: String(xmin) };
    expect(row).toEqual({ ...columns, _extra: rest });
    place.clock.advance(NIGHT);
    expect(await place.run()).toMatchObject({ status: "succeeded", warnings: [] });
    expect(await columnsOf(place, "mails")).toHaveLength(5);
  });

  test("an added column that changes by itself can be called volatile: nothing is fetched for it", async () => {
    const mails: Mail[] = [{ id: "1", asked_at: "1" }];
    const place = await started(make, mails);
    await place.run();
    const settings = { mails: { volatile: ["asked_at"] } };
    place.configure({ streams: { defaults: { details: { audit: 0 }, unknown_fields: "column" }, settings } });
    await place.run();
    mails[0] = { id: "1", asked_at: "2" };
    place.clock.advance(NIGHT);
    expect(lineOf(await place.run(), "mails")).toMatchObject({ updated: 0, unchanged: 1 });
    expect(place.asked).toEqual(["/mails"]);
    expect(await place.warehouse.query("select asked_at from procurement.mails")).toEqual([{ asked_at: "2" }]);
  });

  test("all companies have the columns", async () => {
    const place = await started(make, [{ id: "1", colour: "red" }]);
    const answer = place.look;
    // Both keys belong to one company here, which no key may read.
    place.look = passing => (passing.path in place.says ? answer(passing) : refused(403, "FORBIDDEN"));
    const companies = ["acme", "beta"].map(name => ({ name, key: `\${KEY}` }));
    place.configure({ ...policy("column"), company: undefined, companies });
    expect(await place.run({ company: "acme" })).toMatchObject({ exit_code: 0 });
    await place.run({ company: "acme" });
    place.configure({ company: undefined, companies });
    expect(await place.run({ company: "beta" })).toMatchObject({ status: "succeeded", warnings: [] });
    const rows = await place.warehouse.query("select _company, colour, _extra from procurement.mails order by 1");
    expect(rows).toEqual(["acme", "beta"].map(name => ({ _company: name, colour: "red", _extra: null })));
  });
});
