import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import { StoppedError } from "../../../src/errors.ts";
import { runSync } from "../../../src/sync/run/run.ts";
import type { PartResult } from "../../../src/sync/stream/details.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { openPostgres } from "../../../src/warehouse/postgres/open.ts";
import { historyOf } from "../../../src/warehouse/read/run_history.ts";
import { beginRun, COUNTERS } from "../../../src/warehouse/state/run_log.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence } from "../../support/log.ts";
import { lineOf } from "../../support/run.ts";
import { passing, postgresWarehouse } from "../../support/warehouse.ts";
import { instead, type Told, told } from "../answers.ts";
import { answer, type Doing, inParts, mailbox, mailsOf, sameInParts, valuesOf } from "../parted.ts";

const opener = (runId: string) => ({
  runId,
  holder: { pid: process.pid, host: "here", command: "sync", startedAt: "2026-03-15T12:00:00Z" },
  clock: stillClock(),
});

const make = () => passing(postgresWarehouse(inject("postgresUrl")));
const config = { streams: { defaults: { audit: 0 } }, destination: { publish_every: "1s" } };

const lax = {
  ...config,
  streams: { defaults: { audit: 0, history: true } },
  deletes: { max_share: 1, min_rows: 1_000 },
};
const tables = mailbox.flatMap(({ tables }) => [tables.main, ...tables.children].map(({ name }) => name));

/** What is left of parts when a run is over. */
async function leftOf({ warehouse }: Pick<Told, "warehouse">): Promise<readonly unknown[]> {
  return warehouse.query(`select run_id from _tributary.stream_runs where run_id like '%/%'
    union all select relname::text from pg_class where relname like 'stage\\_part%'
    union all select family from _tributary.holders`);
}

test("what parts fetch and publish side by side, early ones too, is what one session would: rows, children, versions and counters", async () => {
  await sameInParts(make, lax, { rounds: 2, mails: 90 }, async places => {
    const [parted] = places;
    for (const name of tables) {
      const [mine, theirs] = await Promise.all(places.map(place => place.count(`${name}_versions`)));
      expect([name, mine]).toEqual([name, theirs]);
    }
    expect(await leftOf(parted!)).toEqual([]);
    // Times of publishes never go back, also where the last one changes nothing.
    const [row] = await parted!.warehouse.query<{ state: { lastMoment: string }; latest: Date }>(
      `select state, (select max(_changed_at) from procurement.mail_threads) as latest from _tributary.stream_state
        where stream = 'mail_threads'`,
    );
    expect(row!.state.lastMoment).toBe(row!.latest.toISOString());
  });
});

const nothing: PartResult = { ok: 0, absent: 0, failed: 0, firstFailure: undefined, blocked: undefined };
const strict = (min_rows: number, most: number) => ({
  deletes: { max_share: 0.1, min_rows },
  streams: { defaults: { audit: 0 }, settings: { mail_threads: { max_details: most } } },
});

test("the deletion guard counts what all parts delete: each may take so many, together they may not", async () => {
  const taken: number[] = [];
  const meanwhile = async ({ fetch, destination, part }: Doing) => {
    const result = await fetch();
    const { rows } = await sql<{ deleted: number }>`select deleted from _tributary.stream_runs
      where run_id like ${`%/${part.name}`} and stream = 'mail_threads'`.execute(destination.db);
    taken.push(...rows.map(({ deleted }) => deleted));
    return result;
  };
  const place = await told(
    make,
    mailbox.slice(0, 2),
    mailsOf(40, (path, at) => answer(path, at)),
    strict(20, 40),
    {
      run: inParts(3, meanwhile),
    },
  );
  await place.run();
  taken.length = 0;
  Object.assign(
    place.says,
    mailsOf(40, (path, at) => answer(path, at, 2, 1), 1),
  );
  place.clock.advance(60_000);
  const line = lineOf(await place.run(), "mail_threads");
  // Those that were blocked are due, but max_details leaves them to the next run.
  expect(line).toMatchObject({ status: "failed", requests: 40 });
  expect(line.error).toMatch(/of \d+ live rows are in no answer any more/);
  expect(Math.max(...taken)).toBeGreaterThan(0);
  expect(line.deleted).toBe(taken.reduce((sum, each) => sum + each));
  expect(line.deleted).toBeLessThanOrEqual(20);
  // Each answer that lost a row is held back whole, or published whole.
  expect(await place.count("mail_threads", "_deleted_at is not null")).toBe(line.deleted);
  expect(await place.count("mail_threads", "_deleted_at is null and version = 1")).toBe(2 * line.deleted);
  const confirmed = lineOf(await place.run({ confirmDeletes: true }), "mail_threads");
  expect(confirmed).toMatchObject({ status: "succeeded", deleted: 40 - line.deleted });
});

test("the deletion guard counts what parts deleted for what the run fetches itself, too", async () => {
  let isFirst = true;
  const meanwhile = async ({ fetch, part }: Doing) => (part.index === 0 && !isFirst ? nothing : fetch());
  const says = (rows: number, version: number) => mailsOf(40, (path, at) => answer(path, at, rows, version), version);
  const place = await told(make, mailbox.slice(0, 2), says(3, 0), strict(30, 100), { run: inParts(3, meanwhile) });
  await place.run();
  isFirst = false;
  Object.assign(place.says, says(2, 1));
  place.clock.advance(60_000);
  const line = lineOf(await place.run(), "mail_threads");
  // Neither what two parts delete nor what the run itself would delete is too much alone.
  expect(line.deleted).toBeGreaterThan(10);
  expect(line.deleted).toBeLessThanOrEqual(30);
  expect(line).toMatchObject({ status: "failed", requests: 40 });
  expect(line.error).toContain(`: ${40 - line.deleted} of ${120 - line.deleted} live rows are in no answer any more`);
});

test("404s of parts mark nothing deleted before all of them are known: few are believed then, many are not", async () => {
  let during = 0;
  let lost = 0;
  const meanwhile = async ({ fetch, destination }: Doing) => {
    const result = await fetch();
    const { rows } = await sql`select from procurement.mail_facts where _deleted_at is not null`.execute(
      destination.db,
    );
    during += rows.length;
    return result;
  };
  const say = (path: string, at: number) => (at < lost && path === "" ? undefined : answer(path, at));
  const of = { ...config, deletes: { max_share: 0.1, min_rows: 5 } };
  const place = await told(make, [mailbox[0]!, mailbox[2]!], mailsOf(40, say), of, { run: inParts(3, meanwhile) });
  await place.run();
  for (const [few, version] of [
    [4, 1],
    [24, 2],
  ] as const) {
    lost = few;
    Object.assign(place.says, mailsOf(40, say, version));
    place.clock.advance(60_000);
    const line = lineOf(await place.run(), "mail_facts");
    expect(line).toMatchObject(
      few === 4 ? { status: "succeeded", requests: 40, deleted: 4 } : { status: "failed", requests: 40, deleted: 0 },
    );
    if (few === 24) expect(line.error).toMatch(/24 of 40 details answered 404, too many to be believed/);
    expect(await place.count("mail_facts", "_deleted_at is null")).toBe(36);
    const outcome = few === 4 ? "absent" : "failed";
    expect(await place.count("_tributary.details", `outcome = '${outcome}'`)).toBe(few);
    expect(await leftOf(place)).toEqual([]);
    // Each part sees what the run before has deleted, and nothing of this one.
    expect(during).toBe(few === 4 ? 0 : 3 * 4);
  }
});

/** A session in which stages are never dropped: it is killed before. */
const killedBeforeDrop = (destination: Destination): Destination => ({
  ...destination,
  async stage(...of) {
    const stage = await destination.stage(...of);
    const drop = () => Promise.reject(new Error("killed"));
    return new Proxy(stage, {
      get: (target, name) => {
        const value = name === "drop" ? drop : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  },
});

/** With no early publish: what is on its way when a session is killed is asked for again. */
const seldom = { streams: config.streams };

test("a part that is killed between its publish and the end of its stage publishes nothing twice, and goes on counting", async () => {
  const attempts: string[] = [];
  const meanwhile = async ({ fetch, destination, part, stream }: Doing) => {
    if (part.index === 1) {
      await expect(fetch({ destination: killedBeforeDrop(destination) })).rejects.toThrow("killed");
      attempts.push(stream);
    }
    return fetch();
  };
  const broken = new Set(["/mails/m3", "/mails/m3/threads", "/mails/m17", "/mails/m17/threads"]);
  const says = mailsOf(40, (path, at) => answer(path, at));
  for (const path of broken) says[path] = () => instead(400, {});
  const places = await Promise.all(
    [inParts(3, meanwhile), undefined].map(run => told(make, mailbox, { ...says }, seldom, run && { run })),
  );
  const [parted, whole] = [await places[0]!.run(), await places[1]!.run()];
  expect(attempts).toEqual(["mail_threads", "mail_facts"]);
  for (const stream of attempts) {
    const [mine, theirs] = [parted, whole].map(report => lineOf(report, stream));
    expect(COUNTERS.map(name => [name, mine![name]])).toEqual(COUNTERS.map(name => [name, theirs![name]]));
  }
  expect(await valuesOf(places[0]!.warehouse)).toEqual(await valuesOf(places[1]!.warehouse));
  expect(await places[0]!.count("_tributary.details", "attempts > 1")).toBe(0);
  expect(await leftOf(places[0]!)).toEqual([]);
});

test("a part that a limit ends publishes what it has and goes on from there, all parts within max_details", async () => {
  let onAsk = () => {};
  const meanwhile = async ({ fetch, part }: Doing) => {
    if (part.index > 0) return nothing;
    const ending = new AbortController();
    let left = 3;
    onAsk = () => {
      if (--left === 0) ending.abort(new StoppedError(sentence("--max-time is over"), 5));
    };
    await expect(fetch({ signal: ending.signal })).rejects.toThrow("--max-time is over");
    const [before] = [await place.count("mail_facts")];
    expect(before).toBeGreaterThan(0);
    const result = await fetch();
    expect(await place.count("mail_facts")).toBe(15);
    return result;
  };
  const say = (path: string, at: number) => {
    onAsk();
    return answer(path, at);
  };
  const limited = { ...config, streams: { defaults: { audit: 0 }, settings: { mail_facts: { max_details: 30 } } } };
  const place = await told(make, [mailbox[0]!, mailbox[2]!], mailsOf(60, say), limited, { run: inParts(2, meanwhile) });
  const line = lineOf(await place.run(), "mail_facts");
  // The other part did nothing, so that the run itself fetched its share.
  expect(line).toMatchObject({ status: "succeeded", requests: 30, inserted: 30, rows_read: 30 });
  expect(await leftOf(place)).toEqual([]);
});

test("--details asks for all once, also where parts do; what they could not do the run does itself, as where no parts are wanted", async () => {
  let doing: (doing: Doing) => Promise<PartResult> = ({ fetch }) => fetch();
  const place = await told(
    make,
    mailbox.slice(0, 2),
    mailsOf(30, (path, at) => answer(path, at)),
    config,
    {
      run: inParts(3, doing => now(doing)),
    },
  );
  const now = (each: Doing) => doing(each);
  expect(lineOf(await place.run(), "mail_threads")).toMatchObject({ requests: 30, inserted: 90 });
  place.clock.advance(60_000);
  expect(lineOf(await place.run({ allDetails: true }), "mail_threads")).toMatchObject({ requests: 30, unchanged: 90 });
  Object.assign(
    place.says,
    mailsOf(30, (path, at) => answer(path, at, 3, 1), 1),
  );
  doing = async ({ part, fetch }) => (part.index === 1 ? nothing : fetch());
  place.clock.advance(60_000);
  expect(lineOf(await place.run(), "mail_threads")).toMatchObject({ status: "succeeded", requests: 30, updated: 90 });
});

test("what parts of a run left that was killed goes with the next run, and counts as the killed one's", async () => {
  let isKilled = true;
  const shown: unknown[] = [];
  const statuses: unknown[] = [];
  const meanwhile = async ({ fetch, part, stream }: Doing) => {
    const result = await fetch();
    // Another run begins, of other lists: this one is none that ended.
    const other = await openPostgres({
      ...opener("run-other"),
      url: String(place.warehouse.destination["url"]),
      schema: "procurement",
      stateSchema: "_tributary",
      grantSelectTo: [],
    });
    const row = {
      run_id: `other-${stream}-${part.index}`,
      command: "x",
      started_at: now(),
      version: "0",
      process: "{}",
    };
    await beginRun(other, row);
    const past = await historyOf(other, 10);
    shown.push(...past.streams.filter(({ stream }) => stream === "mail_threads").flatMap(({ runs }) => runs));
    await other.close();
    statuses.push(
      ...(await place.warehouse.query("select distinct status from _tributary.stream_runs where run_id like '%/%'")),
    );
    if (isKilled) throw new StoppedError(sentence("killed"), 5);
    return result;
  };
  const place = await told(
    make,
    mailbox.slice(0, 2),
    mailsOf(30, (path, at) => answer(path, at, at % 9 === 0 ? 0 : 2)),
    config,
    {
      run: (order, tools) => (isKilled ? inParts(2, meanwhile) : runSync)(order, tools),
    },
  );
  const now = () => place.clock.date().toISOString();
  await place.run();
  const run = (
    await place.warehouse.query<{ run_id: string }>("select run_id from _tributary.runs where command = 'sync'")
  )[0]!;
  const sums = `run_id = '${run.run_id}' and stream = 'mail_threads' and requests = 30 and inserted = 52`;
  expect(await place.count("_tributary.stream_runs", sums)).toBe(0);
  expect([shown, statuses]).toEqual([[], [{ status: "running" }, { status: "running" }]]);
  expect((await leftOf(place)).length).toBeGreaterThan(2);
  isKilled = false;
  place.clock.advance(60_000);
  expect(lineOf(await place.run(), "mail_threads")).toMatchObject({ status: "succeeded", requests: 0 });
  expect(await place.count("_tributary.stream_runs", sums)).toBe(1);
  expect(await leftOf(place)).toEqual([]);
});

test("a part leaves what else is remembered of the stream as another session has written it since", async () => {
  const marked = new Set<string>();
  let onAsk: (() => Promise<unknown>) | undefined;
  const meanwhile = async ({ fetch, part }: Doing) => {
    if (part.index > 0) return nothing;
    onAsk = () =>
      place.warehouse.query(`update _tributary.stream_state set state = state || '{"statuses": ["by another"]}'`);
    const result = await fetch();
    for (const { state } of await place.warehouse.query<{ state: { statuses: string[] } }>(
      "select state from _tributary.stream_state where stream = 'mail_facts'",
    ))
      marked.add(state.statuses.join());
    return result;
  };
  let isFirst = true;
  const place = await told(make, [mailbox[0]!, mailbox[2]!], mailsOf(10, answer), config, {
    run: (order, tools) => (isFirst ? runSync : inParts(2, meanwhile))(order, tools),
  });
  const { look } = place;
  place.look = async passing => {
    if (passing.path.startsWith("/mails/")) await onAsk?.();
    return look(passing);
  };
  await place.run();
  isFirst = false;
  Object.assign(place.says, mailsOf(10, answer, 1));
  await place.run();
  expect([...marked]).toEqual(["by another"]);
});

test("requests that are answered while a publish waits for its turn are counted", async () => {
  const publishing = Promise.withResolvers<void>();
  const inTurn = async <T>(publish: () => Promise<T>) => {
    publishing.resolve();
    await setTimeout(200);
    return publish();
  };
  const place = await told(make, [mailbox[0]!, mailbox[2]!], mailsOf(20, answer), config, {
    run: inParts(1, ({ fetch }) => fetch({ inTurn })),
  });
  const { look } = place;
  let details = 0;
  place.look = async passing => {
    place.clock.advance(1_100);
    if (passing.path.startsWith("/mails/") && ++details > 3) await publishing.promise;
    return look(passing);
  };
  expect(lineOf(await place.run(), "mail_facts")).toMatchObject({ requests: 20, pages: 20, inserted: 20 });
});
