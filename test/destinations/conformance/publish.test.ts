import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Destination } from "../../../src/destinations/destination.ts";
import { loadStreamState, saveStreamState } from "../../../src/destinations/run_log.ts";
import { isoUtc } from "../../../src/encode/moment.ts";
import { noState } from "../../../src/state.ts";
import { store } from "../../encode/store.ts";
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
  test("a publish that fails at its last step leaves rows, ledger and marks as they were", async () => {
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
});
