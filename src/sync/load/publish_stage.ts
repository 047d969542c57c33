import { type Stream, scalarOf } from "../../catalog/stream.ts";
import { TributaryError } from "../../errors.ts";
import { schemaFingerprint } from "../../rows/schema_fingerprint.ts";
import type { Stage } from "../../warehouse/destination.ts";
import { compare } from "../../warehouse/merge/compare.ts";
import type { Absent, Allows } from "../../warehouse/merge/outcomes.ts";
import type { Comparison, Publication } from "../../warehouse/merge/publication.ts";
import { type Published, publish } from "../../warehouse/merge/publish.ts";
import { saveProblems } from "../../warehouse/state/problems.ts";
import { resolveUnseen } from "../../warehouse/state/rejects.ts";
import { lastPublishesOf, loadStreamState, saveStreamState, writeStreamRun } from "../../warehouse/state/run_log.ts";
import { readScanRecord, type ScanRecord, type StreamState } from "../../warehouse/state/stream_state.ts";
import { recountDetail, saveDashboard } from "../../warehouse/state/table_counts.ts";
import type { SyncContext } from "../context.ts";
import { boundOf } from "../extract/scan_plan.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { witnessedTime } from "../witnessed_time.ts";
import { askedWith, childStreamOf, detailsOf, parentsOf, valueDrivenBy } from "./child_streams.ts";
import { explainMassChange } from "./mass_change.ts";
import { proofOf } from "./proof.ts";
import { changesOf, listed, type RecordedDrift, recordDrift, reportDrift } from "./schema_drift.ts";
import type { AbsenceDecision } from "./soft_delete_decision.ts";

const DAY = 86_400_000;

/** The stream's stage, ready to be compared with its tables. */
export function publicationOf(context: SyncContext, stream: Stream, stage: Stage): Publication {
  const { catalogue } = context;
  const { mode } = stream;
  const start = boundOf(stream, context.policy.start);
  return {
    company: context.company,
    stream: stream.name,
    tables: stream.tables,
    stage,
    scalar: scalarOf(stream),
    schemaFingerprint: schemaFingerprint(stream.tables, context.hasher),
    parent: mode.kind === "detail" ? parentsOf(catalogue, stream, mode) : undefined,
    many: mode.kind === "detail" && mode.rows !== undefined,
    details: detailsOf(catalogue, stream).map(detail => childStreamOf(detail, stream)),
    valueDriven: valueDrivenBy(catalogue, stream),
    scope:
      mode.kind === "feed" && start !== undefined ? { column: mode.highWaterColumn, from: surelyIn(start) } : undefined,
  };
}

/** A day of slack: which zone the service cuts its days in is not known, and the first hours may be the day before to it. */
const surelyIn = (start: string): string => new Date(Date.parse(start) + DAY).toISOString();

/** Which missing rows are gone, and what is remembered of those that stay. */
type Decided = Pick<AbsenceDecision, "verdict" | "undecided">;

/** How a stage is to be published. */
export interface PublishPlan {
  readonly stream: Stream;
  readonly stage: Stage;
  readonly record: ScanRecord;
  readonly progress: StreamProgress;
  /** Whether rows that the scan didn't see are looked for. */
  readonly withMissing: boolean;
  readonly decide: (comparison: Comparison, publication: Publication) => Promise<Decided | undefined>;
  readonly absent: Absent;
  /** Whether so many rows of details may go; absent: they may. */
  readonly allows?: Allows;
  /** The rows came one by one, not as what their parents have. */
  readonly apart?: true;
  /** What else becomes true in the same transaction. */
  readonly also?: (trx: SyncContext["destination"]["db"]) => Promise<void>;
  /** A detail's parents are known whole. */
  readonly parentsComplete?: boolean;
  /** The state that becomes true with it. */
  readonly state: StreamState;
  /** How far the tables are complete with it; null: unchanged. */
  readonly completeTo: string | null;
  /** The scan showed every row that the stream has: rejects that it did not meet are over. */
  readonly showsAll?: boolean;
}

/**
 * Compares, decides, publishes and empties the stage. Tables, high-water mark and counters become true in one transaction.
 * When more rows or values are unusable than the config allows nothing is published and the scan forgotten: it throws.
 */
export async function publishStage(context: SyncContext, plan: PublishPlan): Promise<Published> {
  const { destination } = context;
  const { stream, stage, record, progress } = plan;
  progress.activity.state = "publishing";
  context.log.debug({ stream: stream.name, rows: record.rows }, "publishing");
  try {
    checkQuality(context, plan);
    await refuseUnknown(context, plan);
  } catch (error) {
    // Kept, it would be judged again in every run to come, however good the service's answers are by then.
    await stage.drop();
    progress.run.rejected += record.rejected;
    progress.run.repeated += record.rows - record.rejected;
    throw error;
  }
  const whole = publicationOf(context, stream, stage);
  const publication = {
    ...whole,
    many: whole.many === true && plan.apart !== true,
    parentsComplete: plan.parentsComplete ?? false,
  };
  const comparison = await compare(destination, publication, plan.withMissing);
  await explainMassChange(context, stream, publication, comparison, progress);
  const decided = plan.withMissing ? await plan.decide(comparison, publication) : undefined;
  return context.inTurn(() => publishCompared(context, plan, publication, comparison, decided));
}

async function publishCompared(
  context: SyncContext,
  plan: PublishPlan,
  publication: Publication,
  comparison: Comparison,
  decided: Decided | undefined,
): Promise<Published> {
  const { destination, company, runId } = context;
  const { stream, stage, record, progress } = plan;
  const before = { ...progress.run };
  let drift: RecordedDrift | undefined;
  const { start } = context.policy;
  const dated = stream.mode.kind === "detail" && stream.mode.newest !== undefined;
  const bounded = (dated ? start : boundOf(stream, start)) !== undefined;
  const again = context.asOf !== undefined || plan.apart === true;
  const published = await publish(destination, publication, {
    comparison,
    moment: trx => nextMoment(context, publication, trx),
    verdict: decided?.verdict,
    absent: plan.absent,
    allows: plan.allows,
    also: async (trx, result, moment) => {
      const touched = result.inserted + result.updated + result.deleted > 0;
      // What is remembered may be younger than the plan: an early publish of the same details wrote it.
      const { fields } = await loadStreamState(trx, company, stream.name);
      const since = before.started_at;
      drift = await recordDrift(trx, context, stream, record, fields, { now: moment, since });
      const state = {
        ...plan.state,
        publishedScan: record.scan,
        lastMoment: touched ? moment : plan.state.lastMoment,
        fields: drift.fields,
        formats: context.formats,
        undecided: decided === undefined ? plan.state.undecided : decided.undecided,
      };
      await saveStreamState(trx, company, stream.name, state, moment);
      const { parent } = publication;
      // Answers of back then say nothing of what came since.
      const answers =
        parent === undefined || again ? undefined : { parents: parent, absent: plan.absent === "believed" };
      const scan = readScanRecord(stage.record)?.scan ?? record.scan;
      const shown = { stage, scan, whole: plan.showsAll === true, answers };
      await resolveUnseen(trx, destination, { company, stream: stream.name }, shown, moment);
      // Rows of details come and go with their parents' publishes too.
      const counted = touched || publication.parent !== undefined ? undefined : comparison;
      // What was held back is lacking.
      const completeTo = result.parted.held === undefined ? plan.completeTo : null;
      const counts = await saveDashboard(trx, destination, company, stream, moment, completeTo, parent, counted);
      await saveProblems(trx, destination, { company, stream }, record.problems, moment);
      // A run may end before they are published, and they come and go with these rows.
      for (const { detail, parents } of touched ? askedWith(context.catalogue, stream) : []) {
        await recountDetail(trx, destination, company, detail, parents);
        await saveProblems(trx, destination, { company, stream: detail }, [], moment);
      }
      // A transaction that has to be done again counts once.
      Object.assign(progress.run, before);
      count(progress, result, record);
      Object.assign(
        progress.run,
        proofOf({ stream, record, comparison, missing: result.missing, counts, bounded, again }),
      );
      await writeStreamRun(trx, runId, company, stream.name, progress.run);
      await plan.also?.(trx);
    },
  });
  progress.published = true;
  const told = reportDrift(stream, drift?.fresh ?? [], context.policyOf(stream.name).unknownFields);
  progress.warnings.push(...told.warnings);
  progress.notes.push(...told.notes);
  await stage.drop();
  const changed = published.inserted + published.updated + published.refreshed + published.deleted;
  if (changed > 0) await destination.afterPublish(stream.tables, changed);
  context.log.debug({ stream: stream.name, ...published }, "published");
  return published;
}

/**
 * Later than every publish that touched the same tables, of whatever company, also when a clock was set back: a list's
 * publish touches its details' rows too. What another company's run wrote whose clock was ahead is no publish to wait for:
 * its next run mends it.
 */
async function nextMoment(
  { clock, api, company, destination }: SyncContext,
  { stream, parent, details }: Publication,
  trx: SyncContext["destination"]["db"],
): Promise<string> {
  const related = [...(parent === undefined ? [] : parent.kind === "rows" ? [parent] : parent.sources), ...details];
  const before = await lastPublishesOf(trx, [stream, ...related.map(each => each.stream)]);
  const own = Math.max(0, ...before.filter(last => last.company === company).map(({ at }) => at + 1));
  const witnesses = { clock, stats: api.stats, db: trx, dialect: destination.dialect };
  const { at, future = Number.POSITIVE_INFINITY } = await witnessedTime(witnesses, own);
  const others = before.filter(last => last.at <= future).map(last => last.at + 1);
  return new Date(Math.max(at, own, ...others)).toISOString();
}

function count(progress: StreamProgress, published: Published, record: ScanRecord): void {
  const { run } = progress;
  run.inserted += published.inserted;
  run.updated += published.updated;
  run.unchanged += published.unchanged;
  run.repeated += published.repeated;
  run.missing = published.missing;
  run.deleted += published.deleted;
  run.rejected += record.rejected;
  run.rounded += record.rounded;
  run.before_start += record.beforeStart;
  run.problems += record.problems.reduce((sum, problem) => sum + problem.rows, 0);
}

/** Rows of a table that the scan brought; a row may bring many of a child table. */
function rowsOf(table: string, { tables }: Stream, { rows, presence }: ScanRecord): number {
  return table === tables.main.name ? rows : (presence[table]?.rows ?? rows);
}

function checkQuality(context: SyncContext, { stream, record, progress }: PublishPlan): void {
  const { maxRejectShare } = context.policyOf(stream.name);
  if (record.rows > 0 && record.rejected / record.rows > maxRejectShare) {
    throw new TributaryError(
      `${stream.name}: ${record.rejected} of ${record.rows} rows could not be stored, more than max_reject_share (${maxRejectShare}) allows. Nothing of it was published; \`tributary rejects ${stream.name}\` shows them.`,
      1,
    );
  }
  const { maxShare, onExceed } = context.policy.problems;
  // What a field that no document names holds is nobody's loss: it is kept, if with an escape.
  const documented = record.problems.filter(({ column }) => column !== "_extra");
  const all = (table: string): number => Math.max(1, rowsOf(table, stream, record));
  const worst = documented.filter(problem => problem.rows / all(problem.table) > maxShare);
  if (worst.length === 0) return;
  const named = worst
    .map(problem => `${problem.table}.${problem.column} (${problem.rows} of ${all(problem.table)}: ${problem.reason})`)
    .join(", ");
  const message = `${stream.name}: values that could not be read exceed problems.max_share (${maxShare}): ${named}. \`tributary rejects ${stream.name} --problems\` shows them.`;
  if (onExceed === "fail") throw new TributaryError(`${message} Nothing of it was published.`, 1);
  progress.warnings.push(message);
}

/** Where fields that the documents don't name are a failure they are told all the same, though nothing else is written. */
async function refuseUnknown(context: SyncContext, { stream, record, progress }: PublishPlan): Promise<void> {
  if (context.policyOf(stream.name).unknownFields !== "fail") return;
  const drift = record.drift.filter(({ sort }) => sort !== "type");
  if (drift.length === 0) return;
  const now = new Date(context.clock.now()).toISOString();
  const only = { ...record, drift, presence: {} };
  const since = progress.run.started_at;
  await context.destination.db
    .transaction()
    .execute(trx => recordDrift(trx, context, stream, only, {}, { now, since }));
  throw new TributaryError(
    `${stream.name}: the service sends fields that its documents don't name: ${listed(changesOf(drift))}. With unknown_fields: fail nothing of it was published; keep or column would load it.`,
    1,
  );
}
