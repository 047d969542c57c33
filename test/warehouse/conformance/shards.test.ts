import { createHash } from "node:crypto";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { countWork, openWorkList, type WorkRequest } from "../../../src/warehouse/details/work_list.ts";
import { everything, store } from "../../rows/store.ts";
import { warehouses } from "../warehouses.ts";

/** As it is documented. */
const shardOf = (text: string, of: number): number =>
  Number.parseInt(createHash("md5").update(text, "utf8").digest("hex").slice(0, 8), 16) % of;

describe.each(warehouses)("$name", ({ make }) => {
  test("a text's shard is the same in every database", async () => {
    const { db, dialect } = await make();
    const texts = fc.array(
      fc.string({ unit: "binary" }).filter(text => !text.includes("\0")),
      { minLength: 1 },
    );
    const property = fc.asyncProperty(texts, fc.integer({ min: 1, max: 1_000 }), async (some, of) => {
      const rows = some.map((text, i) => sql`(${sql.lit(i)}, cast(${text} as varchar))`);
      const found = await sql<{ shard: number }>`select ${dialect.shardOf(sql`v.text`, of)} as shard
        from (values ${sql.join(rows)}) as v(i, text) order by i`.execute(db);
      expect(found.rows.map(({ shard }) => Number(shard))).toEqual(some.map(text => shardOf(text.toWellFormed(), of)));
    });
    await fc.assert(property, { numRuns: 30 });
  });

  test("the shards of a work list are all of it, each once; the limit is never passed in all, and each audits its share", async () => {
    const destination = await make();
    const keys = Array.from({ length: 97 }, (_, i) => `key ${i}`);
    await store(
      destination,
      keys.map(id => ({ id, text: id })),
    );
    const parents = {
      kind: "rows",
      stream: "things",
      tables: everything,
      on: [["id", "id"]],
      only: undefined,
    } as const;
    const stage = await destination.stage("acme", everything);
    await stage.begin({ scan: "2" });
    const request: Parameters<typeof openWorkList>[1] = {
      ...{ company: "acme", stream: "details", parents, stage, columns: ["id"], open: undefined, newest: undefined },
      ...{
        start: undefined,
        audit: 0.1,
        fresh: { withinMs: 1, share: 1 },
        force: false,
        limit: undefined,
      },
      now: "2026-03-15T12:00:00.000Z",
    };
    const listed = async (some: Partial<WorkRequest>) => {
      await using list = await openWorkList(destination, { ...request, ...some });
      const items = await list.next(1_000);
      expect(list.total).toBe(items.length);
      return items.map(({ parentKey }) => parentKey);
    };
    const shards = (of: number) => Array.from({ length: of }, (_, index) => ({ index, of }));
    for (const of of [1, 2, 8]) {
      const found = [];
      for (const shard of shards(of)) {
        const items = await listed({ shard });
        expect(items.every(key => shardOf(key, of) === shard.index)).toBe(true);
        expect(await countWork(destination, { ...request, shard })).toMatchObject({ new: items.length });
        found.push(...items);
      }
      expect(found.sort()).toEqual(keys.toSorted());
    }
    for (const limit of [0, 1, 3, 8, 50]) {
      const sizes = [];
      for (const shard of shards(8)) sizes.push((await listed({ shard, limit })).length);
      const shares = shards(8).map(({ index }) => Math.floor(limit / 8) + (index < limit % 8 ? 1 : 0));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(limit);
      expect(sizes.every((size, at) => size <= shares[at]!)).toBe(true);
      expect(sizes.slice(0, 3).reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(Math.min(3, limit));
    }
    await sql`insert into _tributary.details (company, stream, parent_key, parent_hash, fetched_at, outcome, attempts)
      select 'acme', 'details', id, hash, current_timestamp, 'ok', 0 from _tributary.rows_things`.execute(
      destination.db,
    );
    let audited = 0;
    for (const shard of shards(8)) {
      const own = keys.filter(key => shardOf(key, 8) === shard.index).length;
      const items = await listed({ shard });
      expect(items).toHaveLength(Math.ceil(own * 0.1));
      audited += items.length;
    }
    expect(audited - Math.ceil(97 * 0.1)).toBeLessThan(8);
  });
});
