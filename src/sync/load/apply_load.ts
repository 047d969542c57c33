import type { TableSet } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import type { Db } from "../../warehouse/database.ts";
import { applyDiff, inPublish, openPublish, type Published } from "../../warehouse/merge/apply.ts";
import type { LoadTarget } from "../../warehouse/merge/load_target.ts";
import { tablesMessages } from "../../warehouse/schema/messages.ts";
import { rowStateRef, summedRows } from "../../warehouse/sql_fragments.ts";
import { saveProblems } from "../../warehouse/state/problems.ts";
import { resolveRejects, resolveUnseen } from "../../warehouse/state/rejects.ts";
import {
  lastPublish,
  PUBLISHING_COUNTERS,
  saveStreamState,
  streamStatesOf,
  writeStreamRun,
} from "../../warehouse/state/run_log.ts";
import { noState, readScanRecord, type ScanRecord, type StreamState } from "../../warehouse/state/stream_state.ts";
import { publishedAmong, recountDetail, saveDashboard } from "../../warehouse/state/table_counts.ts";
import type { SyncContext } from "../context.ts";
import { boundOf } from "../extract/scan_plan.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { askedWith } from "./child_streams.ts";
import { diffLoad, digestOf, type Load, type LoadDiff } from "./diff_load.ts";
import { deletesMessages } from "./messages.ts";
import { proofOf } from "./row_count_proof.ts";
import { recordDrift, reportDrift } from "./schema_drift.ts";
import type { DeleteDecision } from "./soft_delete_decision.ts";

/** Loads a stage whose missing rows are nobody's business: compares and applies. @throws TributaryError where too much of it is unusable */
export async function publishStage(context: SyncContext, load: Load): Promise<Published> {
  return applyLoad(context, load, await diffLoad(context, load, false));
}

/** Last step of a load: tables, high-water mark and counters become true in one transaction. Empties the stage. */
export async function applyLoad(
  context: SyncContext,
  load: Load,
  compared: LoadDiff,
  decided?: DeleteDecision,
): Promise<Published> {
  const { destination, log } = context;
  const { stream, stage, progress } = load;
  const { target, diff } = compared;
  const { absent = "believed", guard } = load.details ?? {};
  const { confirmDeletes, deletes } = context.policy;
  const lineLimits = confirmDeletes ? undefined : deletes;
  const before = Object.fromEntries(PUBLISHING_COUNTERS.map(name => [name, progress.run[name]]));
  const { published, fresh } = await context.inTurn(() =>
    inPublish(destination, target, diff, async trx => {
      const open = await openPublish(trx, destination, target, diff);
      const { timestamp, known } = await nextTimestamp(context, target, trx);
      const published = await applyDiff({ ...open, timestamp }, diff, {
        verdict: decided?.verdict,
        absent,
        guard,
        lineLimits,
      });
      // A transaction that has to be done again counts once; requests go on meanwhile.
      Object.assign(progress.run, before);
      const drift = await keepBooks(context, load, { ...compared, decided, published, timestamp, known }, trx);
      return { published, fresh: drift.fresh };
    }),
  );
  progress.published = true;
  const told = reportDrift(stream, fresh, context.policy.ofStream(stream.name).unknownFields);
  progress.warnings.push(...told.warnings);
  progress.notes.push(...told.notes);
  const { unknown } = published;
  if (unknown > 0)
    progress.warnings.push(
      tablesMessages.state_older({
        ...{ stream: stream.name, table: stream.tables.main.name, company: context.company, rows: unknown },
      }),
    );
  await stage.drop();
  const changed = published.inserted + published.updated + published.refreshed + published.deleted;
  if (changed > 0) await destination.afterPublish(stream.tables, changed);
  log.debug("published", { stream: stream.name, ...published });
  if (load.details === undefined) throwBlockedLines(context, stream, published.blockedLines);
  return published;
}

/** @throws TributaryError where rows were not published because too many of their lines would be deleted */
export function throwBlockedLines(context: SyncContext, stream: Stream, blocked: Published["blockedLines"]): void {
  if (blocked === undefined) return;
  const { maxShare: max_share, minRows: min_rows } = context.policy.deletes;
  throw new TributaryError(deletesMessages.lines_blocked({ stream: stream.name, ...blocked, max_share, min_rows }), 1);
}

interface Applied extends LoadDiff {
  readonly decided: DeleteDecision | undefined;
  readonly published: Published;
  readonly timestamp: string;
  /** The stream's state before. */
  readonly known: StreamState;
}

/** What becomes true in the same transaction: the stream's state and counters, rejects, problems, schema changes. Answers the drift. */
async function keepBooks(context: SyncContext, load: Load, applied: Applied, trx: Db) {
  const { destination, company, runId, clock } = context;
  const { stream, stage, record, progress } = load;
  const { target, diff, decided, published, timestamp, known } = applied;
  const { parent } = target;
  const of = { company, stream: stream.name };
  const touched = published.inserted + published.updated + published.deleted > 0;
  const drift = await recordDrift(trx, context, load, known.fields, { now: timestamp, since: progress.run.started_at });
  const undecided = decided === undefined ? load.state.undecided : decided.undecided;
  const publishedScan = context.earlier?.scan ?? record.scan;
  const again = context.earlier !== undefined || load.rejects !== undefined;
  const isBlocked = published.blockedLines !== undefined;
  const isWhole = diff.distinct === diff.staged && published.missing === 0 && record.rejected === 0 && !isBlocked;
  // Rows that were withheld are to come again, so the stream goes on from where it was.
  const reached = isBlocked && parent === undefined ? known : load.state;
  const digest = parent === undefined && !again && isWhole ? digestOf(target) : undefined;
  const summed =
    digest === undefined || diff.isSame === true
      ? undefined
      : await summedRows(trx, rowStateRef(destination, stream.tables.main), company);
  const lastKeys =
    digest === undefined ? null : summed === undefined ? known.lastKeys : { digest, rowState: summed.sums };
  const state = {
    ...{ ...reached, publishedScan, undecided, lastKeys },
    lastMoment: touched ? timestamp : known.lastMoment,
    fields: drift.fields,
    filled: [...new Set([...known.filled, ...published.filled.keys()])],
    lineRows: lineRowsAfter(stream.tables, known, published),
    formats: context.encoding.formats,
  };
  await saveStreamState(trx, company, stream.name, state, timestamp);
  // Answers of back then say nothing of what came since.
  const answers =
    parent === undefined || again
      ? undefined
      : { parents: parent, absent: (load.details?.absent ?? "believed") === "believed" };
  const scan = readScanRecord(stage.record)?.scan ?? record.scan;
  const shown = { stage, scan, whole: load.showsAll === true, answers };
  await resolveUnseen(trx, destination, of, shown, timestamp);
  // Rows of details come and go with their parents' publishes too.
  const counted = summed ?? (touched || parent !== undefined ? undefined : diff);
  // What was held back is lacking.
  const completeTo = published.parted.blocked === undefined && !isBlocked ? load.completeTo : null;
  const counts = await saveDashboard(
    trx,
    destination,
    { company, stream, parent },
    { now: timestamp, completeTo, counted },
  );
  const problems = [...record.problems, ...published.problems];
  await saveProblems(trx, destination, { company, stream }, problems, timestamp);
  // A run may end before they are published, and they come and go with these rows.
  const asked = touched ? askedWith(context.streams.catalogue, stream) : [];
  const stored = await publishedAmong(
    trx,
    company,
    asked.map(({ detail }) => detail),
  );
  for (const { detail, parents } of asked.filter(({ detail }) => stored.has(detail.name))) {
    await recountDetail(trx, destination, { company, stream: detail, parent: parents });
    await saveProblems(trx, destination, { company, stream: detail }, [], timestamp);
  }
  count(progress, published, record);
  const { start } = context.policy;
  const dated = stream.mode.kind === "detail" && stream.mode.newest !== undefined;
  const bounded = (dated ? start : boundOf(stream, start)) !== undefined;
  const proof = proofOf({ stream, record, diff, missing: published.missing, counts, bounded, again });
  Object.assign(progress.run, proof);
  // Its end is a transaction of its own only where something is left to do.
  progress.ended = load.isLast === true && !isBlocked ? progress.end(clock.now()) : undefined;
  const row = progress.ended ?? progress.run;
  await writeStreamRun(trx, runId, company, stream.name, row);
  if (load.rejects !== undefined) await resolveRejects(trx, of, load.rejects, new Date(clock.now()).toISOString());
  return drift;
}

/** Rows of the child tables with those that were published; a table whose rows nobody counted yet has none. */
function lineRowsAfter({ children }: TableSet, { lineRows, publishedScan }: StreamState, { filled }: Published) {
  const before = publishedScan === null ? Object.fromEntries(children.map(({ name }) => [name, 0])) : {};
  const known = Object.entries({ ...before, ...lineRows });
  return Object.fromEntries(known.map(([name, rows]) => [name, rows + (filled.get(name) ?? 0)]));
}

/** Later than every publish that touched the same tables, of any company, whatever our clock says. */
async function nextTimestamp(
  { clock, company }: SyncContext,
  { stream, parent, details }: LoadTarget,
  trx: Db,
): Promise<Pick<Applied, "timestamp" | "known">> {
  const related = [...(parent === undefined ? [] : parent.kind === "rows" ? [parent] : parent.sources), ...details];
  const states = await streamStatesOf(trx, [stream, ...related.map(each => each.stream)]);
  // What is remembered may be younger than the load: an early publish of the same details wrote it.
  const known = states.find(each => each.company === company && each.stream === stream)?.state ?? noState;
  const at = Math.max(clock.now(), ...states.map(each => lastPublish(each.state) + 1));
  return { timestamp: new Date(at).toISOString(), known };
}

function count(progress: StreamProgress, published: Published, record: ScanRecord): void {
  const { run } = progress;
  run.inserted += published.inserted;
  run.updated += published.updated;
  run.unchanged += published.unchanged;
  run.repeated += published.repeated;
  run.missing = published.missing;
  run.deleted += published.deleted;
  run.child_deleted += published.linesDeleted;
  run.rejected += record.rejected;
  run.rounded += record.rounded;
  run.before_start += record.beforeStart;
  run.problems += [...record.problems, ...published.problems].reduce((sum, { rows }) => sum + rows, 0);
}
