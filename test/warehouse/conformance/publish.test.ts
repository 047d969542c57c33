import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { isoUtc } from "../../../src/rows/moment.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { loadStreamState, saveStreamState } from "../../../src/warehouse/state/run_log.ts";
import { noState } from "../../../src/warehouse/state/stream_state.ts";
import { store } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";

const NOW = "2026-03-16T12:00:00.000Z";

async function everythingIn({ db }: Destination): Promise<unknown[]> {
  const questions = [
    sql`select * from procurement.things order by id`,
    sql`select * from procurement.thing_lines order by id, _index`,
    sql`select id, cast(hash as varchar) as hash, first_seen_at from _tributary.rows_things order by id`,
  ];
  const contents: unknown[] = [];
  for (const question of questions) contents.push((await question.execute(db)).rows);
  return [...contents, await loadStreamState(db, "acme", "things")];
}

describe.each(warehouses)("$name", ({ make }) => {
  test("a publish that fails at its last step leaves rows, row state and high-water marks as they were", async () => {
    const destination = await make();
    await store(destination, [
      { id: "a", text: "one", lines: [{ line_no: 1, price: 1 }] },
      { id: "b", text: "two", lines: [] },
    ]);
    const before = await everythingIn(destination);
    const changed = [
      { id: "a", text: "three", lines: [{ line_no: 1, price: 2 }, { line_no: 2 }] },
      { id: "c", text: "four", lines: [] },
    ];
    const failing = store(destination, changed, isoUtc, 16, async trx => {
      await saveStreamState(trx, "acme", "things", { ...noState, publishedScan: "1" }, NOW);
      throw new Error("the last step");
    });
    await expect(failing).rejects.toThrow("the last step");
    expect(await everythingIn(destination)).toEqual(before);
    await store(destination, changed, isoUtc, 17);
    expect(await everythingIn(destination)).not.toEqual(before);
  });

  test("of a row that came more than once in a scan the last one stays, with its children", async () => {
    const destination = await make();
    const came = (text: string) => [
      { id: "a", text: `${text} at first`, lines: [{ line_no: 1 }, { line_no: 2 }] },
      { id: "b", text: "b" },
      { id: "a", text: `${text} in the end`, lines: [{ line_no: 3 }] },
    ];
    for (const [day, text] of ["new", "changed"].entries()) {
      await store(destination, came(text), isoUtc, 15 + day);
      const rows = await sql`select id, text from procurement.things order by id`.execute(destination.db);
      expect(rows.rows).toEqual([
        { id: "a", text: `${text} in the end` },
        { id: "b", text: "b" },
      ]);
      const lines = await sql`select line_no from procurement.thing_lines where _deleted_at is null`.execute(
        destination.db,
      );
      expect(lines.rows).toEqual([{ line_no: "3" }]);
    }
  });

  test("few changed rows among many become what they are, whatever their texts hold", async () => {
    const destination = await make();
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      id: `id ${i}`,
      text: i % 3 === 0 ? `one "of"\n${i + 2},"many"\n` : "plain",
      lines:
        i % 5 === 0
          ? [
              { line_no: 1, price: i },
              { line_no: 2, price: 1e20 },
            ]
          : [],
    }));
    await store(destination, rows);
    const changed = rows.map((row, i) =>
      i % 100 === 7 ? { ...row, text: `${row.text}\nnow`, lines: [{ line_no: i }] } : row,
    );
    await store(destination, changed, isoUtc, 16);
    const all = sql<{ id: string; text: string }>`select id, text from procurement.things`.execute(destination.db);
    const texts = new Map((await all).rows.map(row => [row.id, row.text]));
    expect(texts).toEqual(new Map(changed.map(row => [row.id, row.text])));
    const lines = await sql<{ id: string; n: number }>`select id, count(*) as n from procurement.thing_lines
      where _deleted_at is null group by id`.execute(destination.db);
    const counts = new Map(lines.rows.map(row => [row.id, Number(row.n)]));
    expect(counts).toEqual(new Map(changed.flatMap(({ id, lines: l }) => (l.length > 0 ? [[id, l.length]] : []))));
    const touched = await sql<{ n: number }>`select count(*) as n from procurement.things
      where _changed_at >= '2026-03-16T00:00:00Z'`.execute(destination.db);
    expect(Number(touched.rows[0]?.n)).toBe(200);
  });
});
