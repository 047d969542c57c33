import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import type { SyncContext } from "../../sync/context.ts";
import { loadStreamState, type StreamRun } from "../../warehouse/state/run_log.ts";
import { readScanRecord } from "../../warehouse/state/stream_state.ts";
import {
  type ArchiveContents,
  type ArchivedFile,
  archivedFiles,
  type Begin,
  partsOf,
  readArchiveContents,
} from "./archive_contents.ts";
import { replayMessages } from "./messages.ts";
import { chooseScans, gapsIn, isIn, type Knowledge, type ScanGroup, type Span, whyRefused } from "./scan_choice.ts";

export type Piece =
  | { readonly kind: "scans"; readonly contents: ArchiveContents; readonly groups: readonly ScanGroup[] }
  | Answers;

export interface Answers {
  readonly kind: "answers";
  readonly runs: readonly (readonly ArchivedFile[])[];
  /** The tables may know later answers than these. */
  readonly known: boolean;
}

export interface ReplayPlan {
  readonly stream: Stream;
  readonly completeTo: string | null;
  /** What its tables know already, all at once. */
  readonly known: Piece | undefined;
  /** What they don't know, by the run that read it. */
  readonly later: ReadonlyMap<string, Piece>;
  /** Nothing of what the tables know is loaded again, because of this. */
  readonly refused: Message | undefined;
  readonly begun: ReadonlyMap<string, Begin>;
}

export async function planReplay(context: SyncContext, stream: Stream, root: string, span: Span): Promise<ReplayPlan> {
  const { company, log } = context;
  const files = await archivedFiles(root, company, stream.name);
  const knowledge = await knowledgeOf(context, stream);
  const { state, completeTo, loaded } = knowledge;
  const begun = new Map(files.map(file => [file.run, file]));
  const plan = { stream, completeTo, begun, refused: undefined };
  if (files.length === 0) return { ...plan, known: undefined, later: new Map() };
  await reportStage(context, stream, state.publishedScan);
  const { mode } = stream;
  if (mode.kind === "detail" || mode.kind === "snapshot") {
    const runs = [...begun.keys()].map(run => files.filter(file => file.run === run));
    // The lines of a run lie between its beginning and the next one's at the latest.
    const near = runs.filter(([file], index) => mayLieIn(span, file!.begunAt, runs[index + 1]?.[0]?.begunAt));
    log.info(replayMessages.runs_chosen(), {
      stream: stream.name,
      runs: near.length,
      from: near[0]?.[0]?.begunAt,
      to: near.at(-1)?.[0]?.begunAt,
    });
    const gapAfter = gapsIn([...begun.keys()], knowledge);
    // The detail state says which details the tables know later answers of. Where a reset left rows without it, only an archive without gaps does.
    const isReset = state.publishedScan === null && loaded && span.from === undefined && span.to === undefined;
    const gap = mode.kind === "detail" && isReset ? gapAfter(files[0]!.run) : undefined;
    if (gap !== undefined) {
      const refused = whyRefused(stream, files.at(-1)!.date, knowledge, gap);
      return { ...plan, known: undefined, later: new Map(), refused };
    }
    if (state.publishedScan !== null || loaded)
      return { ...plan, known: { kind: "answers", runs: near, known: true }, later: new Map() };
    const later = near.map(run => [run[0]!.run, { kind: "answers", runs: [run], known: false }] as const);
    return { ...plan, known: undefined, later: new Map(later) };
  }
  const contents = await readArchiveContents(files);
  for (const odd of contents.odd) log.warn(odd, { stream: stream.name });
  const { known, later, refused } = chooseScans(stream, contents.scans, knowledge, span);
  const unfinished = contents.scans.filter(scan => !scan.windows && partsOf(scan) === undefined).length;
  log.info(replayMessages.scans_chosen(), {
    stream: stream.name,
    scans: later.length + (known?.scans.length ?? 0),
    unfinished,
    ...spanOf(known, later),
  });
  const byRun = new Map<string, Piece>();
  for (const run of begun.keys()) {
    const groups = later.filter(({ scans }) => scans[0]!.run === run);
    if (groups.length > 0) byRun.set(run, { kind: "scans", contents, groups });
  }
  return { ...plan, refused, known: known && { kind: "scans", contents, groups: [known] }, later: byRun };
}

function mayLieIn(span: Span, begunAt: string, nextAt: string | undefined): boolean {
  if (!isIn({ from: undefined, to: span.to }, begunAt)) return false;
  return nextAt === undefined || span.from === undefined || Date.parse(nextAt) >= span.from;
}

function spanOf(known: ScanGroup | undefined, later: readonly ScanGroup[]) {
  const scans = [...(known?.scans ?? []), ...later.flatMap(group => group.scans)];
  const pages = scans.reduce((sum, { requests }) => sum + requests.size, 0);
  return { pages, from: scans[0]?.begunAt, to: scans.at(-1)?.endedAt };
}

async function knowledgeOf({ destination, company }: SyncContext, { name }: Stream): Promise<Knowledge> {
  const { db } = destination;
  const state = await loadStreamState(db, company, name);
  const row = await db
    .selectFrom("streams")
    .select(["complete_to", "rows"])
    .where(({ and }) => and({ company, stream: name }))
    .executeTakeFirst();
  const rows = await db
    .selectFrom("stream_runs")
    .select(["run_id", "started_at", "status", "inserted", "updated", "deleted", "requests", "pages", "error"])
    .where(({ and }) => and({ company, stream: name }))
    .execute();
  const runs = rows.map(each => ({
    run: each.run_id,
    startedAt: each.started_at.toISOString(),
    hasPublished: hasPublished(each),
  }));
  const completeTo = row?.complete_to?.toISOString() ?? null;
  return { state, completeTo, loaded: completeTo !== null || Number(row?.rows ?? 0) > 0, runs };
}

type Told = Pick<StreamRun, "inserted" | "updated" | "deleted" | "requests" | "pages" | "error"> & {
  readonly status: string;
};

function hasPublished({ status, inserted, updated, deleted, requests, pages, error }: Told): boolean {
  // Without a request it was a replay, or there was nothing to do. What this key may not read brought nothing.
  if (requests === 0 || (error !== null && pages === 0)) return false;
  // One that failed may have published what it read all the same.
  return status === "succeeded" || status === "warning" || inserted + updated + deleted > 0;
}

async function reportStage(
  { destination, company, log }: SyncContext,
  { name, tables }: Stream,
  published: string | null,
): Promise<void> {
  const record = readScanRecord((await destination.stage(company, tables)).record);
  if (record === undefined || record.rows === 0 || record.scan === published) return;
  log.info(replayMessages.scan_given_up(), {
    stream: name,
    rows: record.rows,
  });
}
