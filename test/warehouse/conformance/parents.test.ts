import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { liveParents, type Parents, parentRows, type ValueSource } from "../../../src/warehouse/details/parents.ts";
import { openWorkList } from "../../../src/warehouse/details/work_list.ts";
import { everything, store } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";

const M = 2n ** 63n - 1n;
const from = (column: string, more: Partial<ValueSource> = {}): ValueSource => ({
  stream: "things",
  tables: everything,
  column,
  only: undefined,
  latestBy: undefined,
  ...more,
});
const values = (...sources: ValueSource[]): Parents => ({ kind: "values", own: "word", sources, aged: false });

async function parentsIn(destination: Destination, parents: Parents): Promise<Map<string, bigint>> {
  const { rows } = await sql<{
    parent_key: string;
    hash: string;
  }>`select parent_key, cast(parent_hash as varchar) as hash
    from ${liveParents(destination, "acme", parents)} p`.execute(destination.db);
  return new Map(rows.map(row => [row.parent_key, BigInt(row.hash)]).sort() as [string, bigint][]);
}

/** The row state's hashes by id. */
async function hashesIn({ db }: Destination): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ id: string; hash: string }>`select id, cast(hash as varchar) as hash
    from _tributary.rows_things`.execute(db);
  return new Map(rows.map(row => [row.id, BigInt(row.hash)]));
}

describe.each(warehouses)("$name", ({ make }) => {
  test("a value's hash is the sum of its rows' hashes, whatever their order; deleted rows and empty values count for nothing", async () => {
    const destination = await make();
    const texts = ["a", "b", null, "", "a", "a", "gone", "A"];
    await store(
      destination,
      texts.map((text, i) => ({ id: `r${i}`, text })),
    );
    await sql`update _tributary.rows_things set deleted_at = current_timestamp where id = 'r6'`.execute(destination.db);
    const hashes = await hashesIn(destination);
    const sum = (...ids: string[]) => ((ids.reduce((all, id) => all + hashes.get(id)!, 0n) % M) + M) % M;
    const expected = new Map([
      ["A", sum("r7")],
      ["a", sum("r0", "r4", "r5")],
      ["b", sum("r1")],
    ]);
    expect(await parentsIn(destination, values(from("text")))).toEqual(expected);
    const both = await parentsIn(
      destination,
      values(from("text"), from("id", { only: { column: "text", value: "b" } })),
    );
    expect(both).toEqual(new Map([...expected, ["r1", sum("r1")]]));
    expect(await parentsIn(destination, { ...values(from("text")), aged: true } as Parents)).toEqual(
      new Map([...expected.keys()].map(key => [key, 0n])),
    );
    expect(await parentsIn(destination, values())).toEqual(new Map());
  });

  test("an object's field names are values; other JSON has none; of snapshots the last one's count", async () => {
    const destination = await make();
    const jsons = [{ mail: 1, "a.b": null, "": 2, "ö ü": [] }, ["x"], 7, "text", null, {}, { mail: 3, fax: 1 }];
    await store(
      destination,
      jsons.map((json, i) => ({ id: `r${i}`, json })),
    );
    const names = async (source: ValueSource) => [...(await parentsIn(destination, values(source))).keys()].sort();
    expect(await names(from("json"))).toEqual(["a.b", "fax", "mail", "ö ü"]);
    expect(await names(from("json", { latestBy: "id" }))).toEqual(["fax", "mail"]);
  });

  test("what decides the work is taken from all rows that carry a value", async () => {
    const destination = await make();
    await store(destination, [
      { id: "1", text: "a", flag: false, day: "2026-01-05" },
      { id: "2", text: "a", flag: true, day: "2025-01-05" },
      { id: "3", text: "b", flag: null, day: null },
    ]);
    const columns = { open: "flag", newest: "day", params: ["text"] };
    const { rows } = await sql<Record<string, unknown>>`select parent_key, open, newest, p_text
      from ${parentRows(destination, "acme", values(from("text")), columns)} p order by parent_key`.execute(
      destination.db,
    );
    expect(rows).toEqual([
      { parent_key: "a", open: true, newest: "2026-01-05", p_text: "a" },
      { parent_key: "b", open: false, newest: null, p_text: "b" },
    ]);
  });

  test("a source whose table is not there is left out of the work", async () => {
    const destination = await make();
    await store(destination, [{ id: "1", text: "a" }]);
    const main = { ...everything.main, name: "never_made" };
    const missing = from("text", { stream: "never_made", tables: { main, children: [] } });
    const stage = await destination.stage("acme", everything);
    await stage.begin({ scan: "2" });
    await using work = await openWorkList(destination, {
      company: "acme",
      stream: "words",
      parents: values(from("text"), missing),
      stage,
      columns: ["text"],
      open: undefined,
      newest: undefined,
      start: undefined,
      audit: 0,
      fresh: { withinMs: 1, share: 1 },
      force: false,
      limit: undefined,
      now: "2026-03-15T12:00:00.000Z",
    });
    expect(work).toMatchObject({ total: 1, left: 0, reasons: { new: 1 } });
    expect(await work.next(10)).toMatchObject([{ parentKey: "a", params: { text: "a" }, reason: "new" }]);
  });
});
