import { createHash } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { divide, longestWait, planNight, type Why } from "../../../src/warehouse/details/planner.ts";
import { noteLooks } from "../../../src/warehouse/details/samples.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";
import { warehouses } from "../warehouses.ts";

const NOW = "2026-03-15T02:00:00.000Z";
const of = { company: "acme", stream: "words" };
const daysAgo = (days: number) => new Date(Date.parse(NOW) - days * 86_400_000).toISOString();

interface Candidate {
  readonly key: string;
  readonly open: boolean;
  /** Days before now. */
  readonly newest: number | null;
  readonly fetched: number;
  readonly since?: number;
  readonly idle?: boolean;
  readonly changed: number;
}

interface ChosenRow {
  readonly parent_key: string;
  readonly why: Why;
}

/** Every mixture of what decides; keys whose order depends on a collation. */
const many: readonly Candidate[] = Array.from({ length: 1_000 }, (_, i) => {
  const fetched = 1 + ((i * 61) % 997) / 7;
  return {
    key: `${"äZa-"[i % 4]}${i}`,
    open: i % 5 === 0,
    newest: i % 11 === 0 ? null : (i * 37) % 900,
    fetched,
    ...(i % 40 === 0 ? { since: (i * 13) % 17, idle: i % 80 === 0 } : {}),
    changed: fetched + ((i * 17) % 200),
  };
});

async function withCandidates({ db }: Destination, candidates: readonly Candidate[]): Promise<void> {
  const moment = (days: number | undefined) =>
    days === undefined ? sql`cast(null as timestamptz)` : sql`cast(${daysAgo(days)} as timestamptz)`;
  const rows = candidates.map(({ key, open, newest, fetched, since, idle, changed }) => {
    const day = newest === null ? sql`cast(null as date)` : sql`cast(${daysAgo(newest).slice(0, 10)} as date)`;
    return sql`select cast(${key} as varchar) as parent_key, ${sql.lit(open)} as open, ${day} as newest, ${moment(fetched)} as fetched_at,
      ${since === undefined ? sql.lit("audit") : sql.lit("caused")} as reason, ${moment(since)} as since,
      ${sql.lit(idle === true ? 1 : 0)} as idle, ${moment(changed)} as changed_at`;
  });
  await sql`drop table if exists candidates`.execute(db);
  await sql`create temporary table candidates as ${rows[0]!}`.execute(db);
  for (let from = 1; from < rows.length; from += 100)
    await sql`insert into candidates ${sql.join(rows.slice(from, from + 100), sql` union all `)}`.execute(db);
}

async function prepared(make: () => Promise<Destination>): Promise<Destination> {
  const destination = await make();
  await ensureState(destination.db, destination.dialect, destination.stateSchema);
  return destination;
}

async function choose(destination: Destination, budget: number, seed: string, now = NOW) {
  const night = { ...of, candidates: sql`candidates`, budget, now, seed };
  const plan = await destination.db.transaction().execute(trx => planNight(trx, destination, night));
  const { rows } = await sql<ChosenRow>`select parent_key, why from ${plan.table} order by rank`.execute(
    destination.db,
  );
  return { plan, rows };
}

const keysOf = (rows: readonly ChosenRow[], why: Why) => rows.filter(row => row.why === why).map(row => row.parent_key);
const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The index as its formula stands in the planner, open or young rows twice. */
function indexOf({ open, newest, fetched, changed }: Candidate): number {
  const days = Math.max(changed, fetched) + 14;
  const wait = days * Math.sqrt(days);
  const isActive = open || (newest !== null && newest <= 60);
  return Math.floor(wait * (isActive ? 2 : 1) * 1e6 * (1 - (1 + fetched / wait) * Math.exp(-fetched / wait)));
}

describe.each(warehouses)("$name", ({ make }) => {
  test("causes come by their age, those that find nothing last, then chance, age and index, each with its share of the budget", async () => {
    const destination = await prepared(make);
    await withCandidates(destination, many);
    const { plan, rows } = await choose(destination, 200, "seed");
    const counts = divide(200, 25);
    expect(counts).toEqual({ caused: 25, oldest: 53, sample: 18, index: 104 });
    expect(plan.counts).toEqual(counts);
    expect(new Set(rows.map(row => row.parent_key)).size).toBe(200);
    expect(rows.map(row => row.why)).toEqual([
      ...Array(25).fill("caused"),
      ...Array(18).fill("sample"),
      ...Array(53).fill("oldest"),
      ...Array(104).fill("index"),
    ]);
    const by =
      (...ranks: ((c: Candidate) => number)[]) =>
      (a: Candidate, b: Candidate) =>
        ranks.reduce((order, rank) => order || rank(b) - rank(a), 0) || byBytes(a.key, b.key);
    const hinted = many
      .filter(({ since }) => since !== undefined)
      .sort(
        by(
          c => (c.idle ? 0 : 1),
          c => c.since!,
        ),
      );
    expect(keysOf(rows, "caused")).toEqual(hinted.map(({ key }) => key));
    const rest = many.filter(({ since }) => since === undefined).sort(by(c => c.fetched));
    expect(keysOf(rows, "oldest")).toEqual(rest.slice(0, 53).map(({ key }) => key));
    const best = rest.slice(53).sort(by(indexOf));
    expect(keysOf(rows, "index")).toEqual(best.slice(0, 104).map(({ key }) => key));
    const drawn = best.slice(104).sort((a, b) => (md5(`seed ${a.key}`) < md5(`seed ${b.key}`) ? -1 : 1));
    expect(keysOf(rows, "sample")).toEqual(drawn.slice(0, 18).map(({ key }) => key));
  });

  test("the same seed draws the same parents, another one others; what else is chosen does not depend on it", async () => {
    const destination = await prepared(make);
    await withCandidates(destination, many);
    const [first, again, other] = [
      await choose(destination, 100, "a"),
      await choose(destination, 100, "a"),
      await choose(destination, 100, "b"),
    ];
    expect(again.rows).toEqual(first.rows);
    for (const why of ["caused", "oldest", "index"] as const)
      expect(keysOf(other.rows, why)).toEqual(keysOf(first.rows, why));
    expect(keysOf(other.rows, "sample")).not.toEqual(keysOf(first.rows, "sample"));
  });

  test("each of those that nothing else chose is drawn as often", async () => {
    const destination = await prepared(make);
    await withCandidates(
      destination,
      many.slice(0, 60).map(candidate => ({ ...candidate, key: `k${candidate.key}` })),
    );
    const drawn = new Map<string, number>();
    const shares = divide(30, 2);
    const rest = 60 - shares.caused - shares.oldest - shares.index;
    for (let seed = 0; seed < 100; seed++) {
      const { rows } = await choose(destination, 30, `s${seed}`);
      for (const key of keysOf(rows, "sample")) drawn.set(key, (drawn.get(key) ?? 0) + 1);
    }
    const expected = (100 * shares.sample) / rest;
    expect(drawn.size).toBe(rest);
    const squares = [...drawn.values()].reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0);
    // Chi-square of that many, at five standard deviations.
    expect(squares).toBeLessThan(rest + 5 * Math.sqrt(2 * rest));
  });

  test.each([
    [0, 0],
    [30, 0.6],
  ])("nobody waits longer than the bound, with %d causes a night", async (causes, share) => {
    const destination = await prepared(make);
    const { db } = destination;
    // The index would go round among the open ones.
    const parents = Array.from({ length: 100 }, (_, i) => ({
      ...{ key: `k${i}`, open: i < 50, newest: 400, fetched: 1 + (i % 7), changed: i < 50 ? 8 : 400 },
    }));
    await withCandidates(destination, parents);
    const bound = longestWait(0.1, share);
    let longest = 0;
    for (let night = 0; night < 60; night++) {
      const now = daysAgo(-night);
      await sql`update candidates set reason = 'audit', since = null`.execute(db);
      await sql`update candidates set reason = 'caused', since = fetched_at where parent_key in (select parent_key from candidates
        where open order by md5(parent_key || ${sql.lit(String(night))}) limit ${sql.lit(causes)})`.execute(db);
      const { plan } = await choose(destination, 10, `night ${night}`, now);
      await sql`update candidates set fetched_at = cast(${now} as timestamptz)
        where parent_key in (select parent_key from ${plan.table})`.execute(db);
      const { rows } = await sql<{ oldest: Date }>`select min(fetched_at) as oldest from candidates`.execute(db);
      longest = Math.max(longest, (Date.parse(now) - rows[0]!.oldest.getTime()) / 86_400_000);
    }
    expect(longest).toBeLessThanOrEqual(bound);
    expect(longest).toBeGreaterThan(10);
  });

  test("details that are due are no candidates, and an empty night is none", async () => {
    const destination = await prepared(make);
    await withCandidates(destination, [...many.slice(1, 40), { ...many[41]!, key: "left" }]);
    await sql`update candidates set reason = 'retry' where parent_key <> 'left'`.execute(destination.db);
    expect((await choose(destination, 4, "seed")).rows.map(row => row.parent_key)).toEqual(["left"]);
    await sql`delete from candidates`.execute(destination.db);
    const { plan } = await choose(destination, 4, "seed");
    expect(plan.counts).toEqual({ caused: 0, sample: 0, oldest: 0, index: 0 });
  });

  test("a night's sample holds what was drawn by chance alone, and a week is kept", async () => {
    const destination = await prepared(make);
    const { db } = destination;
    /** Why it is looked at, whether it is open, days since the fetch before, whether the answer was another one. */
    const looks: readonly (readonly [Why | "new", boolean, number, boolean | undefined])[] = [
      ["sample", true, 12, true],
      ["sample", true, 1, true],
      ["sample", false, 10, true],
      ["sample", false, 4, false],
      ["index", true, 4, true],
      ["oldest", false, 40, false],
      ["caused", true, 5, true],
      ["new", true, 0, undefined],
      // Drawn, and not answered.
      ["sample", true, 9, undefined],
    ];
    const note = async (now: string) => {
      for (const name of ["work", "plan"]) await sql`drop table if exists ${sql.id(name)}`.execute(db);
      await db.deleteFrom("details").execute();
      const rows = looks.map(([why, open, days]) => ({ why, open, before: daysAgo(days) }));
      const selected = rows.map(
        (
          { why, open, before },
          i,
        ) => sql`select ${sql.lit(`k${i}`)} as parent_key, ${sql.lit(why)} as why, ${sql.lit(open)} as open,
          cast(null as date) as newest, cast(${before} as timestamptz) as fetched_at`,
      );
      await sql`create temporary table work as ${sql.join(selected, sql` union all `)}`.execute(db);
      await sql`create temporary table plan as select parent_key, why from work where why <> 'new'`.execute(db);
      for (const [i, [, , days, found]] of looks.entries())
        await db
          .insertInto("details")
          .values({
            ...{
              ...of,
              parent_key: `k${i}`,
              parent_hash: 1,
              attempts: 0,
              next_try: null,
              why: null,
              found: found ?? null,
            },
            ...{ outcome: found === undefined ? "failed" : "ok", fetched_at: NOW, changed_at: NOW },
            previous_at: daysAgo(days),
          })
          .execute();
      const plan = { table: sql`plan`, counts: divide(0, 0) };
      const night = { ...of, live: 1_000, activeLive: 400, now };
      await noteLooks(destination, plan, sql`work`, night, { withinMs: 2 * 86_400_000, share: 0.9 });
      const kept = await db.selectFrom("detail_samples").selectAll().orderBy("planned_at").execute();
      return kept.map(({ company: _company, stream: _stream, ...row }) => row);
    };
    const night = {
      planned_at: new Date(NOW),
      ...{ looks: 6, found: 4, sampled: 4, wrong: 3 },
      ...{ live: 1_000, fetched: 9, active_live: 400, active_fetched: 6, active_sampled: 2 },
      // Of twelve days the change came in the last two with a chance of one in six.
      late: expect.closeTo(10 / 12, 9),
    };
    expect(await note(NOW)).toEqual([night]);
    const [six, seven] = [daysAgo(-6), daysAgo(-7)];
    expect((await note(six)).map(row => row.planned_at.toISOString())).toEqual([NOW, six]);
    expect((await note(seven)).map(row => row.planned_at.toISOString())).toEqual([six, seven]);
    const [freshness] = await db.selectFrom("detail_freshness").selectAll().execute();
    expect(freshness).toMatchObject({ within_days: 2, promised: 0.9, sampled: 8, updated_at: new Date(seven) });
    expect(freshness!.wrong).toBeCloseTo((0.991 * 6) / 8, 9);
    expect(freshness!.fresh).toBeCloseTo(1 - ((394 / 400) * (20 / 12)) / 4, 9);
  });
});

test("the databases choose the same from the same state, night after night", async () => {
  const destinations = [];
  for (const { make } of warehouses) destinations.push(await prepared(make));
  for (const destination of destinations) await withCandidates(destination, many);
  for (let night = 0; night < 5; night++) {
    const chosen = [];
    for (const destination of destinations) {
      const now = daysAgo(-night);
      const { plan, rows } = await choose(destination, 120, `night ${night}`, now);
      const { db } = destination;
      await sql`update candidates set fetched_at = cast(${now} as timestamptz), reason = 'audit', since = null,
        changed_at = case when substr(md5(parent_key), 1, 1) < '4' then cast(${now} as timestamptz) else changed_at end
        where parent_key in (select parent_key from ${plan.table})`.execute(db);
      chosen.push(rows);
    }
    for (const other of chosen) expect(other).toEqual(chosen[0]);
  }
});
