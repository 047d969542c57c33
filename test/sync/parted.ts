import { expect } from "vitest";
import { count, id, record, table, text } from "../../schemas/fields.ts";
import { type Detail, defineStream, detail, list, type Stream } from "../../src/catalog/stream.ts";
import type { StreamSync, SyncContext } from "../../src/sync/context.ts";
import { fromService, runCompany } from "../../src/sync/run/jobs.ts";
import { runSync } from "../../src/sync/run/run.ts";
import { fetchPart, type Gathered, type PartResult, syncDetails } from "../../src/sync/stream/details.ts";
import { syncStream } from "../../src/sync/stream/sync_stream.ts";
import { StreamProgress } from "../../src/sync/stream_progress.ts";
import { openDestination } from "../../src/warehouse/connect/open.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { COUNTERS } from "../../src/warehouse/state/run_log.ts";
import type { Part } from "../../src/warehouse/state/stream_state.ts";
import { lineOf, type Setting } from "../support/run.ts";
import { contents } from "../support/tables.ts";
import type { Warehouse } from "../support/warehouse.ts";
import { type Say, type Told, told } from "./answers.ts";

const mailList = defineStream({
  name: "mails",
  path: "/mails",
  mode: list({ rows: "mails" }),
  row: record("A mail.", { id: id().describe("Its id."), version: count().describe("Which version it is.") }),
  key: ["id"],
  preset: "core",
});
const words = table("mail_thread_words", "Its words.", { word: text().describe("A word.") });
const threads = defineStream({
  name: "mail_threads",
  path: "/mails/{id}/threads",
  mode: detail({ of: "mails", rows: "threads" }),
  row: record("A thread.", {
    thread_id: id().describe("Its id."),
    version: count().describe("Which version it is."),
    words,
  }),
  key: ["mail_id", "thread_id"],
  preset: "core",
});
const facts = defineStream({
  name: "mail_facts",
  path: "/mails/{id}",
  mode: detail({ of: "mails" }),
  row: record("What is known of a mail.", {
    id: id().describe("Its id."),
    size: count().describe("Its size."),
    marks: table("mail_marks", "Its marks.", { mark: text().describe("A mark.") }),
  }),
  key: ["id"],
  preset: "core",
});

/** A list with details of one row each, and of many. */
export const mailbox: readonly Stream[] = [mailList, threads, facts];

/** What a test does to one part of a stream. */
export interface Doing {
  readonly part: Part;
  readonly stream: string;
  readonly destination: Destination;
  /** Fetches it, in a session of its own. */
  readonly fetch: (context?: Partial<SyncContext>) => Promise<PartResult>;
}

/** Runs whose details other sessions fetch, each so many parts of it; `meanwhile` is done for each part instead of one fetch. */
export function inParts(
  of: number,
  meanwhile: (doing: Doing) => Promise<PartResult> = ({ fetch }) => fetch(),
): NonNullable<Setting["run"]> {
  return (order, tools) => {
    const sessionOf = (runId: string) => {
      const holder = { pid: process.pid, host: "here", command: "worker", startedAt: "2026-03-15T12:00:00Z" };
      return openDestination(order.config.destination, { runId, holder, clock: tools.clock }, 0);
    };
    const fetchOne = async ({ context, stream, mode }: StreamSync, index: number): Promise<PartResult> => {
      const part = { name: `${index + 1} of ${of}`, index, of };
      const destination = await sessionOf(context.runId);
      try {
        await destination.lock(context.company, ["mails"], 0, part.name);
        const own = { ...context, destination, part, inTurn: <T>(publish: () => Promise<T>) => publish() };
        const fetch = async (more: Partial<SyncContext> = {}) => {
          const progress = new StreamProgress(new Date(tools.clock.now()).toISOString());
          let result: PartResult | undefined;
          await syncStream({ context: { ...own, ...more }, stream, mode, progress }, async sync => {
            result = await fetchPart(sync as StreamSync<Detail>);
          });
          return result!;
        };
        return await meanwhile({ part, stream: stream.name, destination, fetch });
      } finally {
        await destination.close();
      }
    };
    const gather = (sync: StreamSync) => async (): Promise<Gathered> => {
      await sync.context.destination.share(`0 of ${of}`).catch(error => {
        if (!(error instanceof TypeError)) throw error;
      });
      const settled = await Promise.allSettled(Array.from({ length: of }, (_, index) => fetchOne(sync, index)));
      const failed = settled.find(each => each.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const results = settled.flatMap(each => (each.status === "fulfilled" ? [each.value] : []));
      return { parts: results.map((_, index) => `${index + 1} of ${of}`), counts: results };
    };
    const source = {
      ...fromService,
      async runCompany(...[context, service, run]: Parameters<typeof runCompany>) {
        const isDetail = ({ stream }: { readonly stream: Stream }) => stream.mode.kind === "detail";
        await runCompany(context, service, { ...run, jobs: run.jobs.filter(job => !isDetail(job)) });
        for (const job of run.jobs.filter(isDetail))
          await runCompany(context, service, {
            ...{ ...run, jobs: [job] },
            work: sync => syncDetails(sync as StreamSync<Detail>, undefined, gather(sync)),
          });
      },
    };
    return runSync({ ...order, source }, tools);
  };
}

/** Every row as it is, but for when it came. */
export async function valuesOf(warehouse: Warehouse): Promise<ReadonlyMap<string, string>> {
  const all = await contents(warehouse, mailbox);
  const timeless = (row: string) => {
    const { _changed_at, _first_seen_at, _deleted_at, ...values } = JSON.parse(row);
    return JSON.stringify({ ...values, isDeleted: _deleted_at !== null });
  };
  return new Map([...all].map(([key, row]) => [key, timeless(row)] as const).sort());
}

/** Numbers that are the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** So many mails, of which `say` tells what their details answer. */
export function mailsOf(many: number, say: (path: string, at: number) => unknown, version = 0): Record<string, Say> {
  const ids = Array.from({ length: many }, (_, i) => `m${i}`);
  return {
    "/mails": () => ({ mails: ids.map(id => ({ id, version })) }),
    ...Object.fromEntries(
      ids.flatMap((id, at) => ["", "/threads"].map(path => [`/mails/${id}${path}`, () => say(path, at)] as const)),
    ),
  };
}

export const answer = (path: string, at: number, rows = 3, version = 0) =>
  path === ""
    ? { id: `m${at}`, size: at + version, marks: Array.from({ length: rows }, (_, i) => ({ mark: `${i}` })) }
    : {
        threads: Array.from({ length: rows }, (_, i) => ({
          thread_id: `${i}`,
          version,
          words: [{ word: `v${version}` }],
        })),
      };

/** Two warehouses of a service whose answers change by chance, one of them filled in parts: after each round both have the same, and say so. */
export async function sameInParts(
  make: () => Promise<Warehouse>,
  config: Readonly<Record<string, unknown>>,
  { rounds, mails }: { readonly rounds: number; readonly mails: number },
  also: (places: readonly Told[]) => Promise<void> = async () => undefined,
): Promise<readonly Told[]> {
  const places = await Promise.all([inParts(3), undefined].map(run => told(make, mailbox, {}, config, run && { run })));
  for (const round of Array.from({ length: rounds }, (_, i) => i + 1)) {
    const chance = numbers(round);
    const drawn = Array.from({ length: mails }, () => ({
      rows: chance(4),
      version: chance(2),
      lost: chance(12) === 0,
    }));
    const says = mailsOf(
      mails,
      (path, at) => {
        const { rows, version, lost } = drawn[at]!;
        return lost && round > 1 ? undefined : answer(path, at, rows, version);
      },
      round,
    );
    for (const place of places) {
      for (const path of Object.keys(place.says)) delete place.says[path];
      const moving = ([path, say]: [string, Say]) =>
        [
          path,
          (passing: Parameters<Say>[0]) => {
            place.clock.advance(1_100);
            return say(passing);
          },
        ] as const;
      Object.assign(place.says, Object.fromEntries(Object.entries(says).map(moving)));
    }
    const [parted, whole] = [await places[0]!.run(), await places[1]!.run()];
    expect(parted.errors).toEqual(whole.errors);
    for (const stream of ["mail_threads", "mail_facts"]) {
      const [mine, theirs] = [parted, whole].map(report => lineOf(report, stream));
      const numbersOf = (line: typeof mine) => COUNTERS.map(name => [name, line![name]]);
      expect(numbersOf(mine)).toEqual(numbersOf(theirs));
      expect(mine).toMatchObject({ status: theirs!.status, table_rows: theirs!.table_rows });
    }
    expect(await valuesOf(places[0]!.warehouse)).toEqual(await valuesOf(places[1]!.warehouse));
    await also(places);
    const publishes = (place: Told) => place.count("(select distinct _changed_at from procurement.mail_threads) x");
    // Three would be the last ones.
    if (round === 1) expect(await publishes(places[0]!)).toBeGreaterThan(3);
    for (const place of places) place.clock.advance(60_000);
  }
  return places;
}
