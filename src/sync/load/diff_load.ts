import { detailsOf, mayWiden, type Stream } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { reworded } from "../../message.ts";
import { schemaFingerprint } from "../../rows/schema_fingerprint.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { takeTurn } from "../../warehouse/merge/apply.ts";
import type { DetailGuard } from "../../warehouse/merge/deletion_limits.ts";
import { compare } from "../../warehouse/merge/diff.ts";
import type { Diff, LoadTarget } from "../../warehouse/merge/load_target.ts";
import { causesOfChange } from "../../warehouse/merge/mass_change_causes.ts";
import type { Absent } from "../../warehouse/merge/outcomes.ts";
import { rowStateRef, summedRows } from "../../warehouse/sql_fragments.ts";
import { hasReplaced } from "../../warehouse/state/rejects.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import type { StreamSync, SyncContext } from "../context.ts";
import { boundOf } from "../extract/scan_plan.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { childStreamOf, loadCausesOf, parentsOf, valueDrivenBy } from "./child_streams.ts";
import { HeldStage } from "./held_stage.ts";
import { problemsMessages, rejectsMessages, rowsMessages, schemaMessages } from "./messages.ts";
import { changesOf, first, recordDrift } from "./schema_drift.ts";
import { SETTLES_AFTER_MS } from "./soft_delete_decision.ts";

const DAY = 86_400_000;

/** A stage that has been filled, and what becomes true with its rows. */
export interface Load {
  readonly stream: Stream;
  readonly stage: Stage;
  readonly record: ScanRecord;
  readonly progress: StreamProgress;
  readonly state: StreamState;
  /** How far the tables are complete with it; null: unchanged. */
  readonly completeTo: string | null;
  /** The scan showed every row that the stream has: rejects that it did not meet are over. */
  readonly showsAll?: boolean;
  /** Nothing else of the stream is left to do in this run. */
  readonly isLast?: boolean;
  readonly details?: {
    readonly absent: Absent;
    readonly guard: DetailGuard | undefined;
    readonly parentsComplete: boolean;
    /** The work list that was worked through. */
    readonly work: LoadTarget["work"];
  };
  /** Digests of rejects whose rows these are: they came one by one, not as what their parents have, and are resolved. */
  readonly rejects?: readonly string[];
}

export interface LoadDiff {
  readonly target: LoadTarget;
  readonly diff: Diff;
}

/** First step of a load: compares stage and tables; `withMissing` looks for live rows that the scan did not see, too. Throws, and forgets the scan, when too much is unusable. */
export async function diffLoad(context: SyncContext, load: Load, withMissing: boolean): Promise<LoadDiff> {
  const { stream, stage, record, progress } = load;
  progress.activity.state = "publishing";
  context.log.debug("publishing", { stream: stream.name, rows: record.rows });
  try {
    checkQuality(context, load);
    await refuseUnknown(context, load);
  } catch (error) {
    // Kept, it would be judged again in every run to come, however good the service's answers are by then.
    await stage.drop();
    progress.run.rejected += record.rejected;
    progress.run.repeated += record.rows - record.rejected;
    throw error;
  }
  const target = loadTargetOf(context, load);
  const same = await sameAsBefore(context, target, load.state, withMissing);
  if (same !== undefined) return { target, diff: same };
  if (stage instanceof HeldStage) await stage.store();
  const diff = await compare(context.destination, target, withMissing);
  await noteConflicts(context, load, diff);
  await explainMassChange({ context, stream, mode: stream.mode, progress }, target, diff);
  return { target, diff };
}

/** Between the pages of a scan a row may change; within one answer two rows of one key mean that it is no key. */
async function noteConflicts(context: SyncContext, load: Load, { conflicting }: Diff): Promise<void> {
  if (conflicting === undefined) return;
  const { destination, company, streams } = context;
  const { stream, record, progress } = load;
  const of = { company, stream: stream.name };
  const at_once = record.oneAnswer || (await hasReplaced(destination, of, record.scan));
  const widens = mayWiden(streams.catalogue, stream);
  const fields = { stream: stream.name, columns: stream.key, ...conflicting, at_once, widens };
  progress[at_once ? "warnings" : "notes"].push(rowsMessages.conflicting(fields));
}

/** Of all that a comparison reads of a scan; undefined where no batch holds it whole. */
export const digestOf = ({ stage, schemaFingerprint }: LoadTarget): string | undefined =>
  stage instanceof HeldStage && stage.digest !== undefined ? `${schemaFingerprint} ${stage.digest}` : undefined;

/** What comparing would find where the scan is, by its digest, the one that was published last, and the row state has not been touched since. */
async function sameAsBefore(
  { destination, company }: SyncContext,
  target: LoadTarget,
  { lastKeys }: StreamState,
  withMissing: boolean,
): Promise<Diff | undefined> {
  const { staged } = target.stage;
  const digest = digestOf(target);
  if (digest === undefined || digest !== lastKeys?.digest) return undefined;
  const rowState = rowStateRef(destination, target.tables.main);
  const { known, live, sums } = await summedRows(destination.db, rowState, company);
  if (sums !== lastKeys.rowState || (withMissing && live !== staged)) return undefined;
  const nothing = { inserted: 0, updated: 0, refreshed: 0, touched: 0, missing: 0, missedBefore: 0 };
  return { ...nothing, staged, distinct: staged, known, live, isSame: true };
}

function loadTargetOf(context: SyncContext, { stream, stage, record, details, rejects }: Load): LoadTarget {
  const { catalogue } = context.streams;
  const { mode } = stream;
  const start = boundOf(stream, context.policy.start);
  return {
    company: context.company,
    stream: stream.name,
    tables: stream.tables,
    stage,
    schemaFingerprint: schemaFingerprint(stream.tables, context.encoding.hasher),
    parent: mode.kind === "detail" ? parentsOf(catalogue, stream, mode) : undefined,
    many: mode.kind === "detail" && mode.rows !== undefined && rejects === undefined,
    parentsComplete: details?.parentsComplete ?? false,
    details: detailsOf(catalogue, stream).map(detail => childStreamOf(detail, stream)),
    valueDriven: valueDrivenBy(catalogue, stream),
    causes: rejects === undefined ? loadCausesOf(context.streams, stream) : [],
    work: details?.work,
    missedBy: context.earlier === undefined ? agoIso(record.startedAt, SETTLES_AFTER_MS) : undefined,
    scope:
      mode.kind === "feed" && start !== undefined ? { column: mode.highWaterColumn, from: surelyIn(start) } : undefined,
  };
}

const agoIso = (moment: string, ms: number): string => new Date(Date.parse(moment) - ms).toISOString();

/** A day of slack: which zone the service cuts its days in is not known, and the first hours may be the day before to it. */
const surelyIn = (start: string): string => new Date(Date.parse(start) + DAY).toISOString();

function rowsOf(table: string, { tables }: Stream, { rows, presence }: ScanRecord): number {
  return table === tables.main.name ? rows : (presence[table]?.rows ?? rows);
}

function checkQuality(context: SyncContext, { stream, record, progress }: Load): void {
  const { maxRejectShare } = context.policy.ofStream(stream.name);
  const { rejected, rows } = record;
  if (rows > 0 && rejected / rows > maxRejectShare) {
    const refused = { stream: stream.name, rejected, rows, max_share: maxRejectShare };
    throw new TributaryError(rejectsMessages.too_many(refused), 1);
  }
  const { maxShare, onExceed } = context.policy.problems;
  // What a field that no document names holds is nobody's loss: it is kept, if with an escape.
  const documented = record.problems.filter(({ column }) => column !== "_extra");
  const all = (table: string): number => Math.max(1, rowsOf(table, stream, record));
  const columns = [...Map.groupBy(documented, ({ table, column }) => `${table}.${column}`).values()]
    .map(reasons => {
      const { table, column } = reasons[0]!;
      const unread = reasons.reduce((sum, each) => sum + each.rows, 0);
      return { table, column, unread, rows: all(table), reason: reasons.map(({ reason }) => reason).join("; ") };
    })
    .filter(({ unread, rows }) => unread / rows > maxShare);
  if (columns.length === 0) return;
  const refused = onExceed === "fail";
  const message = problemsMessages.too_many({ stream: stream.name, max_share: maxShare, columns, refused });
  if (refused) throw new TributaryError(message, 1);
  progress.warnings.push(message);
}

/** Where fields that the documents don't name are a failure they are told all the same, though nothing else is written. */
async function refuseUnknown(context: SyncContext, { stream, record, progress }: Load): Promise<void> {
  if (context.policy.ofStream(stream.name).unknownFields !== "fail") return;
  const drift = record.drift.filter(({ sort }) => sort !== "type");
  if (drift.length === 0) return;
  const now = new Date(context.clock.now()).toISOString();
  const only = { ...record, drift, presence: {} };
  const since = progress.run.started_at;
  await context.destination.db.transaction().execute(async trx => {
    await takeTurn(trx, context.destination, [stream.tables.main.name]);
    return recordDrift(trx, context, { stream, record: only }, {}, { now, since });
  });
  throw new TributaryError(
    schemaMessages.unknown_fields_refused({ stream: stream.name, ...first(changesOf(drift)) }),
    1,
  );
}

/** More known rows than this share never change in a day by people's work alone. */
const MASS_SHARE = 0.3;
/** Fewer rows cost too little to be worth a word. */
const LEAST_ROWS = 50;
const NAMED = 5;

/** Says which columns did it when so many rows changed that fetching their details again will cost: before it does. */
async function explainMassChange(sync: StreamSync, target: LoadTarget, diff: Diff): Promise<void> {
  const { context, stream, progress } = sync;
  const asked = [...target.details, ...(target.valueDriven ?? [])];
  const details = asked.filter(detail => context.streams.wanted.has(detail.stream));
  const isMassChange = (rows: number) => rows >= LEAST_ROWS && rows > MASS_SHARE * diff.live;
  if (details.length === 0 || !isMassChange(diff.updated)) return;
  const causes = await causesOfChange(context.destination, target);
  // Rows that came back count as updated too, but no column made them.
  if (!isMassChange(causes.changed)) return;
  const most = details.map(({ stream: name }) =>
    Math.min(causes.changed, context.policy.ofStream(name).maxDetails ?? Infinity),
  );
  const { changed, columns, estimated } = causes;
  const { live } = diff;
  const message = rowsMessages.mass_change({
    ...{ stream: stream.name, changed, live, estimated },
    ...{ columns: columns.slice(0, NAMED), count: columns.length },
    requests: most.reduce((sum, requests) => sum + requests, 0),
  });
  context.log.warn(reworded(message, `${stream.name}: ${message.message}`), { stream: stream.name, changed, live });
  progress.warnings.push(message);
  progress.announced.push(message);
}
