import { createHash } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { learn } from "../../../src/warehouse/details/learner.ts";
import { divide, longestWait, type NightPlan, planNight, type Why } from "../../../src/warehouse/details/planner.ts";
import type { SampleRow } from "../../../src/warehouse/details/wrong_estimate.ts";
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
  readonly changed?: number;
  readonly caused?: number;
  readonly factor: string | null;
}

interface ChosenRow {
  readonly parent_key: string;
  readonly why: Why;
  readonly rank: number;
  readonly stratum: string;
  readonly factor: string | null;
  readonly u: number;
  readonly rate: number;
  readonly p: number;
}

/** Every mixture of what decides; keys whose order depends on a collation. */
const many: readonly Candidate[] = Array.from({ length: 1_000 }, (_, i) => ({
  key: `${"äZa-"[i % 4]}${i}`,
  open: i % 5 === 0,
  newest: i % 11 === 0 ? null : (i * 37) % 900,
  fetched: 1 + ((i * 61) % 997) / 7,
  ...(i % 40 === 0 ? { since: (i * 13) % 17 } : {}),
  ...(i % 3 === 0 ? { changed: 1 + ((i * 17) % 200) } : {}),
  ...(i % 13 === 0 ? { caused: 1 + ((i * 7) % 60) } : {}),
  factor: i % 29 === 0 ? null : `V${i % 7}`,
}));

async function withCandidates({ db }: Destination, candidates: readonly Candidate[]): Promise<void> {
  const moment = (days: number | null | undefined) =>
    days == null ? sql`cast(null as timestamptz)` : sql`cast(${daysAgo(days)} as timestamptz)`;
  const rows = candidates.map(({ key, open, newest, fetched, since, changed, caused, factor }) => {
    const day = newest === null ? sql`cast(null as date)` : sql`cast(${daysAgo(newest).slice(0, 10)} as date)`;
    return sql`select cast(${key} as varchar) as parent_key, ${sql.lit(open)} as open, ${day} as newest, ${moment(fetched)} as fetched_at,
      ${since === undefined ? sql.lit("audit") : sql.lit("caused")} as reason, ${moment(since)} as since,
      ${moment(changed)} as changed_at, ${moment(caused)} as caused_at, cast(${factor} as varchar) as factor`;
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

async function rated({ db }: Destination, kind: string, rates: Readonly<Record<string, readonly [number, number]>>) {
  for (const [name, [events, exposure]] of Object.entries(rates))
    await db
      .insertInto("detail_rates")
      .values({ ...of, kind, name, events, exposure, updated_at: daysAgo(1) })
      .execute();
}

async function choose(destination: Destination, budget: number, seed: string, now = NOW) {
  const night = { ...of, candidates: sql`candidates`, budget, now, seed };
  const plan = await destination.db.transaction().execute(trx => planNight(trx, destination, night));
  const { rows } = await sql<ChosenRow>`select * from ${plan.table} order by rank`.execute(destination.db);
  return { plan, rows };
}

const keysOf = (rows: readonly ChosenRow[], why: Why) => rows.filter(row => row.why === why).map(row => row.parent_key);
const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Looks as `learn` reads them: why, stratum, factor, u, rate, found. */
async function looked(
  destination: Destination,
  looks: readonly (readonly [Why, string, string | null, number, number, boolean])[],
  more: Partial<Parameters<typeof learn>[2]> = {},
): Promise<void> {
  const { db } = destination;
  const rows = looks.map(
    ([why, stratum, factor, u, rate, found], i) =>
      sql`select ${sql.lit(`k${i}`)} as parent_key, ${sql.lit(why)} as why, ${sql.lit(stratum)} as stratum,
        cast(${factor} as varchar) as factor, ${sql.lit(stratum === "open")} as active, cast(${u} as double precision) as u, cast(${rate} as double precision) as rate,
        cast(${1 - Math.exp(-rate * u)} as double precision) as p, ${sql.lit(found)} as found`,
  );
  await sql`drop table if exists looks`.execute(db);
  await sql`create temporary table looks as ${sql.join(rows, sql` union all `)}`.execute(db);
  const night = {
    ...of,
    looks: sql`looks`,
    populations: [],
    live: 1_000,
    fetched: 20,
    timestamp: NOW,
    activeLive: 400,
    withinDays: 2,
    ...more,
  };
  await db.transaction().execute(trx => learn(trx, destination, night));
}

async function ratesIn({ db }: Destination): Promise<Readonly<Record<string, readonly [number, number]>>> {
  const rows = await db.selectFrom("detail_rates").selectAll().orderBy("kind", "desc").orderBy("name").execute();
  return Object.fromEntries(rows.map(({ kind, name, events, exposure }) => [`${kind} ${name}`, [events, exposure]]));
}

const samplesIn = ({ db }: Destination): Promise<SampleRow[]> =>
  db
    .selectFrom("detail_samples")
    .select(["planned_at", "bucket", "population", "sampled", "wrong", "behind", "live", "fetched"])
    .select(["active", "active_sampled", "late", "active_live"])
    .orderBy("planned_at")
    .orderBy("bucket")
    .execute();

/** What a find of u days at a rate counts as, in days. */
const until = (u: number, rate: number) => 1 / rate - (u * Math.exp(-rate * u)) / (1 - Math.exp(-rate * u));

describe.each(warehouses)("$name", ({ make }) => {
  test("causes come by their age, then chance, age and index, each with its share of the budget", async () => {
    const destination = await prepared(make);
    await rated(destination, "stratum", { "closed newest <365": [4, 9_000], closed: [90, 30_000], open: [50, 900] });
    await rated(destination, "factor", { V1: [9, 3], V2: [0, 20] });
    await withCandidates(destination, many);
    const { plan, rows } = await choose(destination, 200, "seed");
    const counts = divide(200, 25);
    expect(counts).toEqual({ caused: 25, oldest: 53, sample: 18, index: 104 });
    expect(plan.counts).toEqual(counts);
    expect(rows.map(row => row.rank)).toEqual(rows.map((_, i) => i + 1));
    expect(new Set(rows.map(row => row.parent_key)).size).toBe(200);
    expect(rows.map(row => row.why)).toEqual([
      ...Array(25).fill("caused"),
      ...Array(18).fill("sample"),
      ...Array(53).fill("oldest"),
      ...Array(104).fill("index"),
    ]);
    const hinted = many.filter(candidate => candidate.since !== undefined);
    const older = (age: (c: Candidate) => number) => (a: Candidate, b: Candidate) =>
      age(b) - age(a) || byBytes(a.key, b.key);
    expect(keysOf(rows, "caused")).toEqual(hinted.sort(older(c => c.since!)).map(({ key }) => key));
    const rest = many.filter(({ since }) => since === undefined).sort(older(c => c.fetched));
    expect(keysOf(rows, "oldest")).toEqual(rest.slice(0, 53).map(({ key }) => key));
    const directed = new Set(rows.filter(({ why }) => why !== "sample").map(row => row.parent_key));
    const drawn = many
      .filter(({ key }) => !directed.has(key))
      .sort((a, b) => (md5(`seed ${a.key}`) < md5(`seed ${b.key}`) ? -1 : 1));
    expect(keysOf(rows, "sample")).toEqual(drawn.slice(0, 18).map(({ key }) => key));
    expect(plan.populations.reduce((sum, { population }) => sum + population, 0)).toBe(drawn.length);
  });

  test("the index is w·(1−(1+λu)·e^(−λu))/λ, its rate a stratum's times a factor's", async () => {
    const destination = await prepared(make);
    const stratum = "closed changed_at <30 caused_at <30";
    await rated(destination, "stratum", { [stratum]: [6, 300], open: [10, 1_000] });
    await rated(destination, "factor", { V: [4.5, 1.5] });
    const candidate = (key: string, more: Partial<Candidate>): Candidate => ({
      ...{ key, open: false, newest: 700, fetched: 20, factor: null },
      ...more,
    });
    await withCandidates(destination, [
      candidate("known", { changed: 20, caused: 8, factor: "V" }),
      candidate("open", { open: true, factor: "none" }),
      candidate("young", { newest: 59 }),
      candidate("plain", {}),
    ]);
    const { rows } = await choose(destination, 7, "seed");
    // 17 changes in 1,500 days of the whole stream, the first prior of one in 200 among them.
    const overall = (1 + 16) / (200 + 1_300);
    const posterior = (events: number, exposure: number) => (1.5 + events) / (1.5 / overall + exposure);
    const byKey = new Map(rows.map(row => [row.parent_key, row]));
    expect(byKey.get("known")).toMatchObject({ stratum, factor: "V" });
    expect(byKey.get("known")!.rate).toBeCloseTo(posterior(6, 300) * 2, 12);
    expect(byKey.get("open")!.rate).toBeCloseTo(posterior(10, 1_000), 12);
    expect(byKey.get("young")).toMatchObject({ stratum: "closed newest <60" });
    expect(byKey.get("plain")!.rate).toBeCloseTo(overall, 12);
    for (const { u, p, rate } of rows) {
      expect(u).toBeCloseTo(20, 9);
      expect(p).toBeCloseTo(1 - Math.exp(-rate * 20), 12);
    }
    const index = (rate: number, weight: number) => (weight * (1 - (1 + rate * 20) * Math.exp(-rate * 20))) / rate;
    const order = (["known", "open", "young", "plain"] as const)
      .map(key => ({ key, index: index(byKey.get(key)!.rate, key === "open" || key === "young" ? 2 : 1) }))
      .sort((a, b) => b.index - a.index);
    await withCandidates(destination, [
      ...["known", "open", "young", "plain"].map((key, i) =>
        candidate(
          key,
          [{ changed: 20, caused: 8, factor: "V" }, { open: true, factor: "none" }, { newest: 59 }, {}][i]!,
        ),
      ),
      ...Array.from({ length: 9 }, (_, i) => candidate(`older ${i}`, { fetched: 21 })),
      candidate("sampled", { fetched: 0.001 }),
    ]);
    const night = await choose(destination, 15, "seed");
    const inIndex = keysOf(night.rows, "index").filter(key => byKey.has(key as "known"));
    expect(inIndex).toEqual(order.map(({ key }) => key).filter(key => inIndex.includes(key)));
    expect(inIndex.length).toBe(4);
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
    expect(other.plan.populations).toEqual(first.plan.populations);
  });

  test("each of those that nothing else chose is drawn as often", async () => {
    const destination = await prepared(make);
    await withCandidates(
      destination,
      many.slice(0, 60).map(candidate => ({ ...candidate, key: `k${candidate.key}` })),
    );
    const drawn = new Map<string, number>();
    let rest = 0;
    for (let seed = 0; seed < 100; seed++) {
      const { plan, rows } = await choose(destination, 30, `s${seed}`);
      rest = plan.populations.reduce((sum, { population }) => sum + population, 0);
      for (const key of keysOf(rows, "sample")) drawn.set(key, (drawn.get(key) ?? 0) + 1);
    }
    const expected = (100 * divide(30, 2).sample) / rest;
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
    // The index would go round among those that change most, for 200 nights.
    await rated(destination, "stratum", { open: [5_000, 10_000], closed: [0, 1e7] });
    const { db } = destination;
    const parents = Array.from({ length: 100 }, (_, i) => ({
      ...{ key: `k${i}`, open: i < 50, newest: 400, fetched: 1 + (i % 7), factor: null },
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

  test("an empty night is none", async () => {
    const destination = await prepared(make);
    await withCandidates(destination, many.slice(1, 40));
    await sql`delete from candidates`.execute(destination.db);
    const { plan } = await choose(destination, 4, "seed");
    expect(plan).toMatchObject({ counts: { caused: 0, sample: 0, oldest: 0, index: 0 }, populations: [] });
  });

  test("a find counts as one change after the time that it may be expected in, no find as days without one", async () => {
    const destination = await prepared(make);
    await looked(destination, [
      ["index", "open", "V1", 10, 0.02, true],
      ["oldest", "open", "V2", 30, 0.02, false],
      ["sample", "closed", null, 100, 0.000_000_1, true],
      ["sample", "closed", "V2", 40, 0.001, false],
      ["caused", "open", "V1", 5, 0.02, true],
    ]);
    const found = await ratesIn(destination);
    // Before any look every rate is one in 200 days, and every factor 1.
    const expected = {
      "stratum closed": [1, 100 * (0.5 - 0.000_01 / 12) + 40],
      "stratum open": [1, until(10, 0.02) + 30],
      "factor V1": [1, until(10, 0.02) / 200],
      "factor V2": [0, 30 / 200 + 40 / 200],
    } as const;
    expect(Object.keys(found)).toEqual(Object.keys(expected));
    for (const [name, [events, exposure]] of Object.entries(expected)) {
      expect(found[name]![0]).toBeCloseTo(events, 9);
      expect(found[name]![1]).toBeCloseTo(exposure, 9);
    }
  });

  test("what was seen comes to count half in 30 days, exposure by the factor and by the stratum's rate", async () => {
    const destination = await prepared(make);
    await rated(destination, "stratum", { open: [8, 400], gone: [1e-12, 1e-12] });
    await rated(destination, "factor", { V: [4.5, 1.5] });
    await destination.db
      .updateTable("detail_rates")
      .set({ updated_at: daysAgo(30) })
      .execute();
    await looked(destination, [["index", "open", "V", 12, 0.04, false]]);
    const found = await ratesIn(destination);
    expect(Object.keys(found)).toEqual(["stratum open", "factor V"]);
    const rate = (1.5 + 8) / (1.5 / ((1 + 8) / (200 + 400)) + 400);
    expect(found["stratum open"]![0]).toBeCloseTo(4, 9);
    expect(found["stratum open"]![1]).toBeCloseTo(200 + 12 * 2, 9);
    expect(found["factor V"]![0]).toBeCloseTo(2.25, 9);
    expect(found["factor V"]![1]).toBeCloseTo(0.75 + 12 * rate, 9);
  });

  test("samples hold what was drawn by chance alone, by bucket; parts of a night add up", async () => {
    const destination = await prepared(make);
    const populations: NightPlan["populations"] = [
      { bucket: 0, population: 700, active: 300 },
      { bucket: 3, population: 200, active: 50 },
    ];
    const looks = [
      ["sample", "open", null, 2, 0.02, true],
      ["sample", "open", null, 4, 0.02, false],
      ["sample", "closed", null, 1, 0.001, false],
      ["index", "open", null, 4, 0.02, true],
      ["sample", "open", null, 12, 0.1, true],
    ] as const;
    await looked(destination, looks, { populations });
    // Of 12 days the first five are more than seven ago.
    const behind = (1 - Math.exp(-0.1 * 5)) / (1 - Math.exp(-0.1 * 12));
    const late = (1 - Math.exp(-0.1 * 10)) / (1 - Math.exp(-0.1 * 12));
    const nothing = {
      planned_at: new Date(NOW),
      population: 0,
      sampled: 0,
      wrong: 0,
      behind: 0,
      live: 1_000,
      fetched: 20,
      active: 0,
      active_sampled: 0,
      late: 0,
      active_live: 400,
    };
    const first = [
      { ...nothing, bucket: 0, population: 700, sampled: 1, active: 300 },
      { ...nothing, bucket: 1 },
      { ...nothing, bucket: 2 },
      { ...nothing, bucket: 3, population: 200, sampled: 2, wrong: 1, active: 50, active_sampled: 2 },
      { ...nothing, bucket: 4 },
      {
        ...{ ...nothing, bucket: 5, sampled: 1, wrong: 1, behind: expect.closeTo(behind, 9) },
        ...{ active_sampled: 1, late: expect.closeTo(late, 9) },
      },
    ];
    expect(await samplesIn(destination)).toEqual(first);
    await looked(destination, [["sample", "open", null, 1, 0.001, false]], {
      populations: [{ bucket: 0, population: 5, active: 0 }],
    });
    expect((await samplesIn(destination))[0]).toMatchObject({
      bucket: 0,
      population: 705,
      sampled: 2,
      live: 2_000,
      fetched: 40,
      active_live: 800,
    });
    const later = daysAgo(-401);
    await looked(destination, [["sample", "open", null, 1, 0.001, false]], { populations, timestamp: later });
    expect((await samplesIn(destination)).map(({ planned_at }) => planned_at.toISOString())).toEqual(
      Array(6).fill(later),
    );
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
      await sql`drop table if exists looks`.execute(db);
      await sql`create temporary table looks as select t.*, substr(md5(parent_key), 1, 1) < '4' as found
        from ${plan.table} t`.execute(db);
      const night0 = {
        ...of,
        looks: sql`looks`,
        populations: plan.populations,
        live: 1_000,
        fetched: 120,
        activeLive: 400,
        withinDays: 2,
        timestamp: now,
      };
      await db.transaction().execute(trx => learn(trx, destination, night0));
      await sql`update candidates set fetched_at = cast(${now} as timestamptz), reason = 'audit', since = null,
        changed_at = case when exists (select 1 from looks l where l.parent_key = candidates.parent_key and l.found)
          then cast(${now} as timestamptz) else changed_at end
        where parent_key in (select parent_key from looks)`.execute(db);
      chosen.push({ populations: plan.populations, rows: rows.map(row => [row.parent_key, row.why, row.stratum]) });
    }
    for (const other of chosen) expect(other).toEqual(chosen[0]);
  }
});
