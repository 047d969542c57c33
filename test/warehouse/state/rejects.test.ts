import { describe, expect, test } from "vitest";
import { FURTHER } from "../../../src/rows/reject.ts";
import { forgetDigests, rejectsAfter } from "../../../src/warehouse/state/rejects.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { warehouses } from "../warehouses.ts";

describe.each(warehouses)("$name", ({ make }) => {
  test("an example of many stays one when digests are forgotten: it can't be tried again for all of them", async () => {
    const destination = await make();
    const { db, dialect, stateSchema } = destination;
    await ensureState(db, dialect, stateSchema);
    const at = "2026-03-15T12:00:00.000Z";
    const of = { company: "acme", stream: "items" };
    const row = { ...of, run_id: "r1", raw: "1", reason: "no", key: null, field: null, context: null, scan: "s1" };
    const seen = { seen_at: at, first_seen_at: at, times: 1, parent_key: null, resolved_at: null };
    const example = `${FURTHER}0cc175b9`;
    await db
      .insertInto("rejects")
      .values([
        { ...row, ...seen, digest: "92eb5ffe", rows: 1 },
        { ...row, ...seen, digest: example, rows: 24_000 },
      ])
      .execute();
    await forgetDigests(db, "items");
    const open = await rejectsAfter(destination, of, 0, 10);
    expect(open).toHaveLength(1);
    expect(open[0]!.digest).not.toBe("92eb5ffe");
    const left = await db.selectFrom("rejects").select("rows").where("digest", "=", example).execute();
    expect(left).toEqual([{ rows: 24_000 }]);
    await destination.close();
  });
});
