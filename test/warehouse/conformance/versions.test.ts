import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { dropTables } from "../../../src/warehouse/schema/removal.ts";
import { warehouses } from "../warehouses.ts";
import {
  type Copy,
  copyOf,
  keep,
  lived,
  logs,
  makeTables,
  notes,
  publishAt,
  type Row,
  strictThings,
  things,
} from "./lived.ts";

const START = Date.parse("2026-03-01T06:00:00Z");
const SEED = 1;
const at = (hour: number) => new Date(START + hour * 3_600_000).toISOString();

/** Whole numbers below a limit, the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** A service whose things, with their notes and logs, come, change, go and come back. */
function village(roll: (below: number) => number) {
  let rank = 0;
  const labels = new Map<string, string>();
  const ids = Array.from({ length: 12 }, (_, i) => `t${i}`);
  /** What a place says: mostly what it said before; `still`: nothing changes by itself meanwhile. */
  const told = (place: string): Row => {
    if (!labels.has(place) || roll(6) === 0) labels.set(place, `label ${roll(4)}`);
    return { label: labels.get(place), rank, x_seen: rank };
  };
  const several = (place: string) => Array.from({ length: roll(4) }, (_, i) => told(`${place} ${i}`));
  return {
    tick: () => void rank++,
    list: (): Row[] => ids.filter(() => roll(5) > 0).map(id => ({ id, ...told(id), lines: several(`line ${id}`) })),
    notes: () =>
      new Map(
        ids
          .filter(() => roll(2) > 0)
          .map(id => [id, roll(6) === 0 ? undefined : [{ id, ...told(`note ${id}`), parts: several(`part ${id}`) }]]),
      ),
    logs: () =>
      new Map(
        ids
          .filter(() => roll(2) > 0)
          .map(id => [
            id,
            roll(8) === 0 ? undefined : several(`log ${id}`).map((row, no) => ({ id, no: `${no}`, ...row })),
          ]),
      ),
  };
}

const live = (destination: Destination) =>
  copyOf(
    destination,
    ({ name }) => `select * from procurement.${name} where _deleted_at is null and _company = 'acme'`,
  );
const asOf = (destination: Destination, moment: string) =>
  copyOf(destination, ({ name }) => `select * from procurement.${name}_as_of('${moment}')`);

/**
 * What the versions are to say from now on: what changes by itself stays as it was when the row last changed, and fields that
 * nobody documented are the row's own as long as the version is the present one, for every moment of it.
 */
function carried(before: Copy, now: Copy, changed: (key: string) => boolean): Copy {
  return new Map(
    [...now].map(([key, { stable, own }]) => {
      const kept = before.get(key);
      if (kept === undefined || changed(key)) return [key, { stable, own, changedAt: undefined }];
      const [rank] = JSON.parse(kept.own) as unknown[];
      const [, extra] = JSON.parse(own) as unknown[];
      return [key, Object.assign(kept, { own: JSON.stringify([rank, extra]) })];
    }),
  );
}

async function one(destination: Destination, query: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`${sql.raw(query)}`.execute(destination.db);
  return Number(rows[0]!.n);
}

describe.each(warehouses)("$name", ({ make }) => {
  test("at every moment the versions are the rows that were live then", async () => {
    const destination = await make();
    await makeTables(destination);
    const roll = dice(SEED);
    const { tick, ...read } = village(roll);
    const expected = new Map<string, Copy>();
    let told: Copy = new Map();
    let kept = false;
    let kind = 0;
    await publishAt(destination, things, read.list(), at(0), "beta");
    for (let hour = 0; hour < 40; hour++) {
      if (hour === 6 || hour === 22 || hour === 26) {
        kept = hour !== 22;
        const said = await keep(destination, kept, at(hour));
        expect(said.length).toBeGreaterThan(0);
        expect(await keep(destination, kept, at(hour))).toEqual([]);
        if (kept) {
          const rows = await live(destination);
          told = carried(told, rows, key => told.get(key)?.stable !== rows.get(key)!.stable);
          expected.set(at(hour), told);
        }
        continue;
      }
      // Two publishes may bear the same moment: nothing was ever between them.
      const again = roll(5) === 0 && expected.has(at(hour - 1)) && hour !== 7 && hour !== 27;
      const moment = again ? at(hour - 1) : at(hour);
      if (!again) tick();
      if (!again) kind = roll(4);
      if (kind < 2) await publishAt(destination, things, read.list(), moment);
      else if (kind === 2) await publishAt(destination, notes, read.notes(), moment);
      else await publishAt(destination, logs, read.logs(), moment);
      const rows = await live(destination);
      if (kept) told = carried(told, rows, key => rows.get(key)!.changedAt === moment);
      expected.set(moment, told);
    }
    expect([...expected.values()].filter(copy => copy.size > 20).length).toBeGreaterThan(25);
    for (const [moment, copy] of expected) expect([moment, await asOf(destination, moment)]).toEqual([moment, copy]);
    for (const { name, key } of lived) {
      const versions = `procurement.${name}_versions`;
      expect(await one(destination, `select count(*) as n from ${versions} where _valid_from >= _valid_to`)).toBe(0);
      expect(
        await one(
          destination,
          `select count(*) as n from ${versions} where _is_current <> (_valid_to is null) or _company <> 'acme'`,
        ),
      ).toBe(0);
      const same = key.map(column => `a.${column} = b.${column}`).join(" and ");
      expect(
        await one(
          destination,
          `select count(*) as n from ${versions} a join ${versions} b on ${same} and a._valid_from < b._valid_from
            and (a._valid_to is null or a._valid_to > b._valid_from)`,
        ),
      ).toBe(0);
    }
  });

  test("tables of versions that were lost are begun anew, and go with the tables they belong to", async () => {
    const destination = await make();
    const { db, dialect, schema, stateSchema } = destination;
    const query = (text: string) => sql`${sql.raw(text)}`.execute(db);
    await makeTables(destination);
    await keep(destination, true, at(0));
    const row = (label: string) => ({ id: "a", label, rank: 1, lines: [{ label, rank: 1 }] });
    await publishAt(destination, things, [row("one"), { ...row("other"), id: "b" }], at(1));
    await query(`drop ${dialect.name === "postgres" ? "function" : "macro table"} procurement.thing_lines_as_of`);
    await query("drop table procurement.thing_lines_versions");
    await publishAt(destination, notes, new Map([["a", [{ id: "a", label: "note", rank: 1, parts: [] }]]]), at(2));
    expect(await makeTables(destination)).toEqual(["created table thing_lines_versions"]);
    expect(await keep(destination, true, at(3))).toEqual([
      "things: its history goes on for acme; what changed while it was not kept counts from now on (0 versions ended, 2 began)",
    ]);
    await publishAt(destination, things, [row("two")], at(4));
    expect(await copyOf(destination, ({ name }) => `select * from procurement.${name}_as_of('${at(5)}')`)).toEqual(
      carried(new Map(), await live(destination), () => true),
    );
    expect(await one(destination, `select count(*) as n from procurement.thing_lines_as_of('${at(3)}')`)).toBe(2);
    expect(await one(destination, "select count(*) as n from procurement.thing_lines_as_of('2026-01-01')")).toBe(0);

    await query("create view procurement.then as select * from procurement.things_as_of('2026-03-01')");
    const drop = () => dropTables(db, dialect, { schema, stateSchema, company: "acme", tables: things });
    await expect(drop()).rejects.toThrow(/Nothing was changed/);
    expect(await one(destination, "select count(*) as n from procurement.things_versions")).toBe(3);
    await query("drop view procurement.then");
    expect(await drop()).toEqual(
      expect.arrayContaining(["removed 3 rows of acme from things_versions", "dropped table things_versions"]),
    );
    await expect(query("select * from procurement.things_as_of('2026-03-01')")).rejects.toThrow();
    expect(await one(destination, "select count(*) as n from _tributary.history where stream = 'things'")).toBe(0);
    await makeTables(destination);
    expect(await keep(destination, true, at(6))).toEqual([]);
  });

  test("what a column said while it was volatile is in the versions once it no longer is", async () => {
    const destination = await make();
    await makeTables(destination);
    await keep(destination, true, at(0));
    const row = (id: string, rank: number) => ({ id, label: "one", rank, lines: [{ label: "one", rank }] });
    await publishAt(destination, things, [row("a", 1), row("b", 1)], at(1));
    await publishAt(destination, things, [row("a", 2), row("b", 1)], at(2));
    expect(await keep(destination, true, at(3))).toEqual([]);

    const strict = [strictThings, notes, logs];
    expect(await keep(destination, true, at(4), strict)).toEqual([
      "things: its history for acme follows other columns from now on (2 versions ended, 2 began)",
    ]);
    expect(await keep(destination, true, at(5), strict)).toEqual([]);
    const ranks = (moment: string) =>
      sql<Row>`select id, cast(rank as varchar) as rank from procurement.things_as_of(${sql.lit(moment)}) order by id`
        .execute(destination.db)
        .then(({ rows }) => rows.map(({ id, rank }) => `${id} ${rank}`));
    expect(await ranks(at(3))).toEqual(["a 1", "b 1"]);
    expect(await ranks(at(5))).toEqual(["a 2", "b 1"]);

    await publishAt(destination, strictThings, [row("a", 2), row("b", 3)], at(6));
    expect(await ranks(at(7))).toEqual(["a 2", "b 3"]);
    expect(await one(destination, "select count(*) as n from _tributary.history where stream = 'things'")).toBe(1);
  });
});
