import { expect, test } from "vitest";
import { id, record } from "../../schemas/fields.ts";
import { asksNothing } from "../../src/catalog/lookup.ts";
import { defineStream, detail, list, lookup, type Stream } from "../../src/catalog/stream.ts";
import { readPartData, runDataOf } from "../../src/fleet/job_data.ts";
import { partsOf } from "../../src/fleet/parts.ts";
import { LEAST_OF_LISTS, listPriority, shardPriority } from "../../src/fleet/priority.ts";
import { asDue, type SyncContext } from "../../src/sync/context.ts";
import type { Job } from "../../src/sync/run/report.ts";
import { StreamProgress } from "../../src/sync/stream_progress.ts";

const facts = (name: string) => ({
  ...{ name, preset: "core" as const, key: ["id"] },
  row: record("A row.", { id: id().describe("Its id.") }),
});
const listed = (name: string): Stream =>
  defineStream({ ...facts(name), path: `/${name}`, mode: list({ rows: "rows" }) });
const detailed = (name: string, of: string): Stream =>
  defineStream({ ...facts(name), path: `/${of}/{id}`, mode: detail({ of }) });
/** A lookup that asks with the ids of another table. */
const asking = (name: string, of: string): Stream =>
  defineStream({
    ...facts(name),
    path: `/${name}/{id}`,
    mode: lookup({ rows: "rows", from: { id: [`${of}.id`] } }),
    key: ["id"],
  });

const policy = { ofStream: () => asksNothing } as unknown as SyncContext["policy"];

/** Names of the streams of each part, in the order of the parts; `known`: what each stream took last. */
function cut(
  streams: readonly Stream[],
  known: Readonly<Record<string, number>> = {},
  waits: Readonly<Record<string, readonly string[]>> = {},
) {
  const jobs = streams.map(stream => ({ company: "acme", stream, progress: new StreamProgress("2026-01-01") }));
  const related = (job: Job) => jobs.filter(other => waits[job.stream.name]?.includes(other.stream.name));
  const parts = partsOf(jobs, streams, policy, new Map(Object.entries(known)), related);
  return parts.map(({ jobs: own, after, weight }) => ({
    ...{ weight, streams: own.map(({ stream }) => stream.name) },
    after: after.map(({ name }) => name),
  }));
}

test("a list and its details are one part, and each list that nobody has read yet is its own", () => {
  const parts = cut([listed("a"), detailed("a_details", "a"), listed("b")]);
  expect(parts.map(({ streams }) => streams)).toEqual([["a", "a_details"], ["b"]]);
});

test("streams that ask for each other's rows are one part, however long the circle", () => {
  const parts = cut([asking("a", "c"), asking("b", "a"), asking("c", "b"), asking("d", "b")]);
  expect(parts.map(({ streams, after }) => ({ streams, after }))).toEqual([
    { streams: ["a", "b", "c"], after: [] },
    { streams: ["d"], after: ["a"] },
  ]);
});

test("details that wait for lists of others are a part of their own, after these and their own list", () => {
  const streams = [listed("a"), detailed("a_details", "a"), listed("b"), detailed("b_details", "b")];
  const known = { a: 50, a_details: 90, b: 50, b_details: 10 };
  expect(cut(streams, known, { a_details: ["a", "b"], b_details: ["a", "b"] })).toEqual([
    { streams: ["a"], after: [], weight: 140 },
    { streams: ["b"], after: [], weight: 140 },
    { streams: ["a_details"], after: ["a", "b"], weight: 90 },
    { streams: ["b_details"], after: ["b", "a"], weight: 10 },
  ]);
});

test("lists that took few requests go together, up to thirty; those that others wait for stand alone", () => {
  const streams = ["a", "b", "c", "d", "e"].map(listed);
  const known = { a: 20, b: 10, c: 8, d: 31, e: 0, f: 1, g: 1 };
  const parts = cut([...streams, listed("f"), asking("g", "f")], known);
  expect(parts.map(({ streams: names, weight }) => ({ names, weight }))).toEqual([
    { names: ["d"], weight: 31 },
    { names: ["a", "b"], weight: 30 },
    { names: ["c", "e"], weight: 8 },
    { names: ["f"], weight: 2 },
    { names: ["g"], weight: 1 },
  ]);
});

test("what begins the longest chain goes first, of all that wait for it one after another", () => {
  const known = { long: 60, first: 1, second: 1, third: 100 };
  const streams = [listed("long"), listed("first"), asking("second", "first"), asking("third", "second")];
  expect(cut(streams, known)).toEqual([
    { streams: ["first"], after: [], weight: 102 },
    { streams: ["second"], after: ["first"], weight: 101 },
    { streams: ["third"], after: ["second"], weight: 100 },
    { streams: ["long"], after: [], weight: 60 },
  ]);
  const unknown = cut([listed("long"), listed("new"), asking("second", "new")], { long: 60 });
  expect(unknown.map(({ streams: names }) => names[0])).toEqual(["new", "second", "long"]);
});

test("companies take turns, lists go before shards of details, and the kept place takes lists alone", () => {
  const [acme, globex] = [0, 1].map(() => [0, 1, 2].map(turn => listPriority(turn)));
  expect(acme).toEqual(globex);
  expect(acme).toEqual(acme!.toSorted((a, b) => b - a));
  const manyJobs = 250_000;
  for (const turn of [0, 1, manyJobs]) {
    expect(listPriority(turn)).toBeGreaterThanOrEqual(LEAST_OF_LISTS);
    expect(shardPriority(turn)).toBeLessThan(LEAST_OF_LISTS);
    expect(shardPriority(turn)).toBeGreaterThan(0);
  }
  expect(shardPriority(0)).toBeGreaterThan(shardPriority(1));
});

test("what was asked for travels as JSON, and nothing of a configuration or its keys does", () => {
  const selection = { names: ["a"], named: ["a"], company: "acme" };
  const limits = { maxTimeMs: 1_000, maxRequests: undefined, waitMs: 5 };
  const order = { command: "sync", selection, refresh: { ...asDue, full: true }, limits, config: { secret: "key" } };
  const data = runDataOf(order as never, { runId: "r", startedAt: "2026-01-01", isRetry: false });
  expect(JSON.parse(JSON.stringify(data))).toEqual({
    ...{ runId: "r", startedAt: "2026-01-01", askedAt: "2026-01-01", command: "sync", selection, waitMs: 5 },
    ...{ refresh: { full: true, allDetails: false, confirmDeletes: false, resume: false }, maxTimeMs: 1_000 },
  });
  expect(() => readPartData(data)).toThrow("company");
});
