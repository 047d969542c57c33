import { lookupOf } from "../../catalog/lookup.ts";
import type { Detail, Feed, Scan, Stream } from "../../catalog/stream.ts";
import type { Query } from "../../source/api.ts";
import { askedBy, type StreamSync, type SyncContext } from "../../sync/context.ts";
import { syncDetails } from "../../sync/stream/details.ts";
import { type ReadBefore, reloadScans } from "../../sync/stream/reloading.ts";
import { type Sitting, takeSnapshots } from "../../sync/stream/snapshot.ts";
import type { StreamProgress } from "../../sync/stream_progress.ts";
import {
  type ArchiveContents,
  type ArchivedFile,
  type ArchivedScan,
  firstPages,
  requestKey,
} from "./archive_contents.ts";
import { type ArchivedAnswer, answersIn, sittingsIn, workOf } from "./archived_answers.ts";
import type { Answers, Piece } from "./plan.ts";
import type { ScanGroup, Span } from "./scan_choice.ts";
import { archivedApi, type Lines } from "./source.ts";

/** Between an answer and the note that it was fetched. */
const NOTED_WITHIN_MS = 30_000;

export async function loadPiece(sync: StreamSync, piece: Piece, completeTo: string | null, span: Span): Promise<void> {
  const { stream } = sync;
  const { mode } = stream;
  if (piece.kind === "scans") {
    if (mode.kind === "detail" || mode.kind === "snapshot") return;
    for (const group of piece.groups) await loadScans({ ...sync, mode }, piece.contents, group, completeTo);
    return;
  }
  if (mode.kind === "snapshot") return loadSittings(sync, piece, completeTo, span);
  if (mode.kind === "detail") return loadAnswers({ ...sync, mode }, piece, completeTo, span);
}

async function loadScans(
  sync: StreamSync<Scan | Feed>,
  contents: ArchiveContents,
  { scans, full, seen, stale }: ScanGroup,
  completeTo: string | null,
): Promise<void> {
  const { context, stream, mode } = sync;
  const last = scans.at(-1)!;
  const again = scans.map(scan => readBefore(contents, scan));
  // What a scan was not asked for it cannot miss, whatever the config says by now.
  const start = later(context.policy.start, full ? startOf(mode, again.at(-1)!) : undefined);
  const statuses = statusesIn(stream, again);
  const ofStream = (name: string) => ({
    ...context.policy.ofStream(name),
    ...(name === stream.name ? { statuses } : {}),
  });
  const policy = { ...context.policy, confirmDeletes: last.accepted, start, ofStream };
  const earlier = { at: Date.parse(last.endedAt), completeTo, scan: [...last.ids].at(-1)! };
  try {
    await reloadScans({ ...sync, context: { ...context, policy, earlier } }, again, {
      full,
      run: last.run,
      seen,
      stale,
    });
  } finally {
    for (const { api } of again) await api.close();
  }
}

function readBefore(lines: Lines, scan: ArchivedScan): ReadBefore {
  const { requests, confirms, windows } = scan;
  const wanted = new Map([...requests, ...confirms].map(([key, { ordinal }]) => [key, ordinal]));
  const asked = windows
    ? [...requests.values()]
    : [...firstPages(requests)].sort(([a], [b]) => a - b).map(([, held]) => held);
  return {
    api: archivedApi(lines, wanted, windows),
    path: asked[0]?.path ?? "",
    queries: asked.map(({ query }) => withoutLimit(query)),
    questions: asked.map(({ path, query, context }) => ({ path, query, context })),
  };
}

/** The day from which on a scan asked for rows: one that is whole was narrowed by nothing but `start`. */
function startOf(mode: Scan | Feed, { queries }: ReadBefore): string | undefined {
  const from = mode.kind === "feed" && mode.narrow.by === "dates" ? queries[0]?.[mode.narrow.from] : undefined;
  return from === undefined ? undefined : String(from);
}

const later = (a: string | undefined, b: string | undefined) =>
  [a, b]
    .filter(day => day !== undefined)
    .sort()
    .at(-1);

/** The further statuses that scans asked for: their rows came by these. */
function statusesIn(stream: Stream, scans: readonly ReadBefore[]): readonly string[] {
  // What a lookup asks with is no part of a list.
  if (lookupOf(stream) !== undefined) return [];
  const asked = scans.flatMap(({ queries }) => queries.flatMap(({ status }) => (status === undefined ? [] : [status])));
  return [...new Set(asked.map(String))].filter(status => status !== stream.query?.["status"]);
}

function withoutLimit({ limit: _limit, ...query }: Query): Query {
  return query;
}

async function loadSittings(sync: StreamSync, piece: Answers, completeTo: string | null, span: Span): Promise<void> {
  const { context, progress } = sync;
  const { runs, known } = piece;
  const day = new Intl.DateTimeFormat("sv-SE", { timeZone: context.encoding.formats.timezone, dateStyle: "short" });
  const dayOf = (date: string): string => day.format(Date.parse(date));
  const sittings: Sitting[] = [];
  let scan = "";
  for (const files of runs) {
    const held = (await sittingsIn(files, span)).filter(
      // Of a day whose later figures the tables know earlier ones would be a step back.
      ({ date }) => !known || completeTo === null || date >= completeTo || dayOf(date) !== dayOf(completeTo),
    );
    if (held.length === 0) continue;
    const wanted = new Map(held.map(each => [requestKey(each.path, each.query), each.ordinal]));
    const choices = held.map(each => each.context);
    sittings.push({ api: archivedApi({ files }, wanted), choices });
    ({ scan } = held.at(-1)!);
  }
  if (sittings.length === 0) return endWithNothing(progress);
  try {
    const earlier = { at: context.clock.now(), completeTo, scan };
    await takeSnapshots({ ...sync, context: { ...context, earlier } }, sittings);
  } finally {
    for (const { api } of sittings) await api.close();
  }
}

type DetailSync = StreamSync<Detail>;

async function loadAnswers(sync: DetailSync, piece: Answers, completeTo: string | null, span: Span): Promise<void> {
  const { context, stream, progress } = sync;
  const { runs, known } = piece;
  const rowState = known ? await fetchedAt(context, stream) : new Map<string, number>();
  const done = new Set<string>();
  // The newest first: each parent's last answer is the one that counts.
  for (const files of runs.toReversed()) {
    const answers = (await answersIn(files, span)).filter(answer => {
      const { key } = answer.parent;
      return !done.has(key) && !isKnownLater(rowState.get(key), answer);
    });
    for (const { parent } of answers) done.add(parent.key);
    if (answers.length > 0) await loadRun(sync, files, answers, completeTo);
  }
  if (done.size === 0) endWithNothing(progress);
}

const isKnownLater = (fetched: number | undefined, { at }: ArchivedAnswer): boolean =>
  fetched !== undefined && fetched > Date.parse(at) + NOTED_WITHIN_MS;

async function loadRun(
  sync: StreamSync<Detail>,
  files: readonly ArchivedFile[],
  answers: readonly ArchivedAnswer[],
  completeTo: string | null,
): Promise<void> {
  const { context, stream } = sync;
  const wanted = new Map(
    answers.flatMap(({ requests }) => [...requests].map(([key, { ordinal }]) => [key, ordinal] as const)),
  );
  const times = new Map(answers.map(({ parent, at }) => [parent.key, at]));
  const latest = [...times.values()].reduce((a, b) => (a > b ? a : b));
  const api = archivedApi({ files }, wanted);
  const before = {
    work: workOf(answers),
    at: ({ parentKey }: { readonly parentKey: string }) => times.get(parentKey) ?? latest,
  };
  const { scan, accepted } = answers.at(-1)!;
  try {
    const earlier = { at: Date.parse(latest), completeTo, scan };
    const policy = { ...context.policy, confirmDeletes: accepted };
    context.log.debug("loading details again", { stream: stream.name, details: answers.length, to: latest });
    await syncDetails({ ...sync, context: { ...askedBy(context, api), policy, earlier } }, before);
  } finally {
    await api.close();
  }
}

async function fetchedAt({ destination, company }: SyncContext, { name }: Stream): Promise<Map<string, number>> {
  const rows = await destination.db
    .selectFrom("details")
    .select(["parent_key", "fetched_at"])
    .where(({ and }) => and({ company, stream: name }))
    .execute();
  return new Map(rows.map(row => [row.parent_key, new Date(row.fetched_at).getTime()]));
}

function endWithNothing(progress: StreamProgress): void {
  progress.published = true;
}
