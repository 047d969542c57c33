import type { Stream } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
import { lockGroupOf } from "../config/selection.ts";
import { ConfigError } from "../errors.ts";
import type { Log } from "../logging.ts";
import type { Message } from "../message.ts";
import { type ChangeBody, requireReachable, rewriteArchive } from "../source/archive/rewriting.ts";
import { parseJson } from "../source/body.ts";
import type { Envelope } from "../source/envelope.ts";
import { versionsName } from "../warehouse/ddl/as_of.ts";
import { readCatalog } from "../warehouse/ddl/database_catalog.ts";
import { hasState } from "../warehouse/ddl/present_tables.ts";
import type { Destination } from "../warehouse/destination.ts";
import { dropStages } from "../warehouse/state/drop_stages.ts";
import { notedExports } from "../warehouse/state/noted_exports.ts";
import {
  claimRecords,
  type KeptRecord,
  type PrivacyRecord,
  privacyRecords,
  recordClean,
  recordPrivacy,
} from "../warehouse/state/privacy_record.ts";
import { answerTreatment, bodyOf, jsonText } from "./answers.ts";
import { privacyMessages } from "./messages.ts";
import { type Policy, policyOf } from "./policy.ts";
import { rewriteStored } from "./rewrite_stored.ts";
import { differences, excluding, recordedPolicy, transition, treatingStored } from "./transition.ts";
import { createTreat, type Treat } from "./treatment.ts";

/** What a run keeps back of what the service says, and how. */
export interface Privacy {
  readonly policy: Policy;
  readonly treat: Treat;
  /** The catalogue with every column. */
  readonly catalogue: readonly Stream[];
  /** For the client; undefined where nothing is kept back. */
  readonly ofAnswers: ((path: string, envelope: Envelope) => (() => Buffer) | undefined) | undefined;
}

export function privacyOf(catalogue: readonly Stream[], config: Config["privacy"]): Privacy {
  const policy = policyOf(catalogue, config);
  const treat = createTreat(config.key);
  const treatAnswer = answerTreatment(catalogue, policy, treat);
  const ofAnswers =
    treatAnswer &&
    ((path: string, envelope: Envelope) => (treatAnswer(path, envelope.data) ? () => bodyOf(envelope) : undefined));
  return { policy, treat, catalogue, ofAnswers };
}

/**
 * Hashes under two keys never match: a warehouse has one. @throws ConfigError, before anything is asked for or written
 */
export async function requireOwnPolicyKey(destination: Destination, { policy }: Privacy): Promise<void> {
  if (policy.keyId === undefined || !(await hasState(destination))) return;
  const kept = (await privacyRecords(destination.db)).find(({ treatment }) => treatment === "hash");
  if (kept?.keyId === undefined || kept.keyId === null || kept.keyId === policy.keyId) return;
  throw new ConfigError(privacyMessages.other_key({ column: `${kept.table}.${kept.column}` }));
}

/** Whether what is stored is stored under this policy. */
export const isUnder = (records: readonly PrivacyRecord[], policy: Policy): boolean =>
  differences(records, policy).length === 0;

/** Whether what is stored is stored under this policy, and nothing holds what was there before. */
export async function isPolicyApplied(
  reading: Pick<Destination, "db" | "dialect" | "stateSchema">,
  policy: Policy,
): Promise<boolean> {
  const records = (await hasState(reading)) ? await privacyRecords(reading.db) : [];
  return isUnder(records, policy) && records.every(({ isClean }) => isClean);
}

/** What is copied out of a warehouse has to be as the configuration says. @throws ConfigError while no run has made it so */
export async function requirePolicyApplied(
  reading: Pick<Destination, "db" | "dialect" | "stateSchema">,
  policy: Policy,
): Promise<void> {
  if (await isPolicyApplied(reading, policy)) return;
  throw new ConfigError(privacyMessages.not_applied());
}

export interface Settling {
  readonly archive: Config["archive"];
  readonly waitMs: number;
  /** ISO 8601. */
  readonly now: string;
  /** When the configuration was the latest. */
  readonly askedAt: string;
  readonly log: Log;
  /** Lines from elsewhere may have come into the archive. */
  readonly always: boolean;
}

/**
 * Brings what is stored under another policy under this one: tables, rejects and examples in one transaction, then archive and
 * files. Killed in between, the next run goes on. Answers sentences of what was done, and of what is left. @throws ConfigError for a policy that
 * was replaced since it was read
 */
export async function reconcilePrivacy(
  destination: Destination,
  privacy: Privacy,
  settling: Settling,
): Promise<{ readonly done: readonly string[]; readonly warnings: readonly Message[] }> {
  const { db } = destination;
  let records = await privacyRecords(db);
  requireLatest(records, privacy.policy, settling);
  const done: string[] = [];
  let left: string | undefined;
  if (records.some(({ isClean }) => !isClean) && hasKeyOf(records, privacy.policy)) {
    await lockAll(destination, privacy, settling);
    left = await clean(destination, records, privacy, settling);
    records = await privacyRecords(db);
    if (left === undefined)
      done.push("finished what an earlier run had begun: nothing holds the former values of treated columns any more");
  }
  const fresh = differences(records, privacy.policy);
  if (fresh.length > 0) {
    await lockAll(destination, privacy, settling);
    const before = recordedPolicy(records, "treatment");
    const acts = transition(before, privacy.policy);
    const rows = await destination.withRoom("write", () =>
      db.transaction().execute(async trx => {
        // First: who keeps values without a lock on their stream looks at the record, and is over or comes after it.
        if (!(await claimRecords(trx, destination, records))) return undefined;
        await recordPrivacy(trx, fresh, settling.now);
        const treat = treatingStored(privacy.treat, before);
        return rewriteStored(trx, destination, { ...privacy, treat }, acts, settling.now);
      }),
    );
    if (rows === undefined) {
      const again = await reconcilePrivacy(destination, privacy, settling);
      return { ...again, done: [...done, ...again.done] };
    }
    records = await privacyRecords(db);
    left = await clean(destination, records, privacy, settling);
    done.push(...sentences(fresh, rows));
  } else if (settling.always) await cleanArchive(records, privacy, settling);
  const cleansing = left === undefined ? [] : [privacyMessages.not_cleansed({ reason: left })];
  return { done, warnings: [...cleansing, ...(await outdatedExports(destination, privacy.policy))] };
}

/** Exports that hold values of another policy. tributary does not rewrite them: the user exports again. */
async function outdatedExports({ db, stateSchema }: Destination, policy: Policy): Promise<readonly Message[]> {
  if (policy.id === "") return [];
  const outdated = (await notedExports(db)).filter(noted => noted.policy !== policy.id);
  const paths = outdated.map(({ path }) => path);
  return paths.length === 0 ? [] : [privacyMessages.outdated_exports({ paths, state_schema: stateSchema })];
}

/** Who went on while another run changed privacy would put values back as they come. @throws ConfigError */
function requireLatest(records: readonly KeptRecord[], policy: Policy, { askedAt }: Pick<Settling, "askedAt">): void {
  const other = new Set(differences(records, policy).map(({ table, column }) => `${table}.${column}`));
  const later = records.filter(({ since }) => since.getTime() > Date.parse(askedAt));
  const found = later.find(({ table, column }) => other.has(`${table}.${column}`));
  if (found === undefined) return;
  const { since, treatment } = found;
  throw new ConfigError(
    privacyMessages.replaced({ asked_at: askedAt, since: since.toISOString(), column: nameOf(found), treatment }),
  );
}

/** Hashing that was begun with a key that is not used any more can't be finished: what differs now takes its place. */
function hasKeyOf(records: readonly PrivacyRecord[], { keyId }: Policy): boolean {
  const begun = recordedPolicy(records, "treatment");
  return begun.keyId === undefined || begun.keyId === keyId;
}

/** Rows of all companies are rewritten: nobody else may work on them meanwhile. */
async function lockAll(destination: Destination, { catalogue }: Privacy, { waitMs }: Settling): Promise<void> {
  for (const [company, own] of Map.groupBy(await begunStreams(destination), row => row.company)) {
    const names = new Set(own.map(row => row.stream));
    const lockGroups = catalogue.filter(({ name }) => names.has(name)).map(stream => lockGroupOf(catalogue, stream));
    if (lockGroups.length > 0) await destination.lock(company, [...new Set(lockGroups)], waitMs);
  }
}

/** Answers what still holds something, and keeps the record from being clean. */
async function clean(
  destination: Destination,
  records: readonly PrivacyRecord[],
  privacy: Privacy,
  settling: Settling,
): Promise<string | undefined> {
  const { db, schema, stateSchema } = destination;
  if (settling.archive !== undefined) await requireReachable(settling.archive.path);
  await cleanArchive(records, privacy, settling);
  // Where nothing was ever stored there is nothing to leave behind.
  const [run] = await db.selectFrom("runs").select("run_id").limit(1).execute();
  if (run !== undefined) {
    const names = new Set(records.filter(({ isClean }) => !isClean).map(({ table }) => table));
    const touched = privacy.catalogue
      .flatMap(({ tables: { main, children } }) => [main.name, ...children.map(child => child.name)])
      .filter(name => names.has(name) || names.has("*"));
    const { tables: there } = await readCatalog(db, destination.dialect, [schema]);
    const present = touched
      .flatMap(name => [name, versionsName({ name })])
      .filter(name => there.get(`${schema}.${name}`)?.isTable);
    await dropTreated(destination, privacy, names);
    settling.log.info(privacyMessages.rewriting());
    const left = await destination.cleanse([
      ...present.map(name => ({ schema, name })),
      ...[
        "rejects",
        "problems",
        "schema_changes",
        "runs",
        "stream_runs",
        "stream_state",
        "verification_differences",
      ].map(name => ({ schema: stateSchema, name })),
    ]);
    if (left !== undefined) return left;
  }
  await recordClean(db, settling.now);
  return undefined;
}

/** A stage under way holds values as they came; its scan starts afresh anyway. */
async function dropTreated(
  destination: Destination,
  { catalogue }: Privacy,
  names: ReadonlySet<string>,
): Promise<void> {
  for (const { company, stream: name } of await begunStreams(destination)) {
    const found = catalogue.find(stream => stream.name === name);
    if (found === undefined) continue;
    const own = [found.tables.main, ...found.tables.children];
    if (names.has("*") || own.some(table => names.has(table.name)))
      await dropStages(destination, company, found.tables);
  }
}

/** What a run ever began to read: something of it may lie staged, whether or not it has been published. */
async function begunStreams({
  db,
}: Destination): Promise<readonly { readonly company: string; readonly stream: string }[]> {
  return db
    .selectFrom("streams")
    .select(["company", "stream"])
    .union(db.selectFrom("stream_runs").select(["company", "stream"]))
    .execute();
}

async function cleanArchive(
  records: readonly PrivacyRecord[],
  { catalogue, treat }: Privacy,
  { archive, log }: Settling,
): Promise<void> {
  if (archive === undefined) return;
  const now = recordedPolicy(records, "treatment");
  const was = recordedPolicy(records, "was");
  const from = (acts: Policy, how = treat) => answerTreatment(catalogue, acts, how) ?? (() => false);
  const ways = new Map([
    [was.id, from(transition(was, now), treatingStored(treat, was))],
    ["", from(now)],
  ]);
  const other = from(excluding(now));
  const change: ChangeBody = ({ privacy, request, status }, body) => {
    if (status >= 300) return undefined;
    const answer = parseJson(body) as { readonly data?: unknown };
    const isChanged = (ways.get(privacy) ?? other)(request.path, answer.data);
    return isChanged ? Buffer.from(jsonText(answer)) : undefined;
  };
  // Lines of a policy that nobody knows hold what they hold; under none they are loaded as they are.
  const isOther = (written: string) => written !== now.id && (now.id !== "" || written === was.id);
  const files = await rewriteArchive(archive.path, now.id, isOther, change);
  if (files > 0) log.info(privacyMessages.archive_rewritten(), { files });
}

const nameOf = ({ table, column }: Pick<PrivacyRecord, "table" | "column">): string =>
  table === "*" ? "undocumented fields" : `${table}.${column}`;

function sentences(fresh: readonly PrivacyRecord[], rows: number): readonly string[] {
  const named = (list: readonly PrivacyRecord[]) =>
    `${list.slice(0, 5).map(nameOf).join(", ")}${list.length > 5 ? ` and ${list.length - 5} more` : ""}`;
  const held = fresh.filter(({ treatment }) => treatment !== null);
  const freed = fresh.filter(({ treatment }) => treatment === null);
  return [
    ...(held.length === 0
      ? []
      : [`privacy: ${named(held)} are stored treated from now on; ${rows} stored values were rewritten`]),
    ...(freed.length === 0
      ? []
      : [
          `privacy: ${named(freed)} are stored as they come again; rows get them back as they are read (sync --full --details reads all)`,
        ]),
  ];
}
