import { isDeepStrictEqual } from "node:util";
import { type Meaning, type MeaningTests, type ReadMeaning, readMeanings, ruleLine } from "../../catalog/meaning.ts";
import type { Stream } from "../../catalog/stream.ts";
import { configSchema } from "../../config/schema.ts";
import type { Message } from "../../message.ts";
import type { Destination } from "../../warehouse/destination.ts";
import {
  type AssumptionShare,
  measureAssumptions,
  recordAssumptions,
  recordedAssumptions,
} from "../../warehouse/read/assumption_shares.ts";
import { assumptionMessages } from "./messages.ts";
import type { Job } from "./report.ts";

/** Fewer rows say nothing about a rule. */
const LEAST_ROWS = 20;
/** A share that moves by more from one run to the next has another reason than business as usual. */
const JUMP = 0.2;

/** A run whose streams are done. */
interface Measuring {
  readonly order: {
    readonly models: { readonly meanings: readonly Meaning[] };
    readonly config: { readonly views: boolean | "materialized"; readonly meanings: MeaningTests };
  };
  readonly destination: Destination;
  readonly catalogue: readonly Stream[];
  readonly jobs: readonly Job[];
}

/**
 * Sentences about rules that take far more rows for something than can be meant, about configured ones that take none, and
 * about those whose share has jumped since the run before. A failure of it joins the `errors`.
 */
export async function doubtfulAssumptions(run: Measuring, errors: unknown[]): Promise<readonly Message[]> {
  const { order, destination, catalogue, jobs } = run;
  if (order.config.views === false || errors.length > 0) return [];
  try {
    const meanings = readMeanings(order.models.meanings, catalogue, order.config.meanings);
    const before = await recordedAssumptions(destination);
    const stale = staleTables(meanings, jobs, before);
    const kept = before.filter(({ table }) => !stale.has(table));
    if (stale.size === 0) return kept.flatMap(each => doubtOf(order, each) ?? []);
    const shares = await measureAssumptions(destination, meanings, stale, catalogue);
    await recordAssumptions(destination, [...kept, ...shares]);
    const jumps = shares.flatMap(each => jumpOf(order, each, before) ?? []);
    return [...[...kept, ...shares].flatMap(each => doubtOf(order, each) ?? []), ...jumps];
  } catch (error) {
    errors.push(error);
    return [];
  }
}

/** Tables that the run changed rows of, or that are read by other lines than when they were measured last. */
function staleTables(
  meanings: readonly ReadMeaning[],
  jobs: readonly Job[],
  before: readonly AssumptionShare[],
): ReadonlySet<string> {
  const isChanged = ({ progress: { run } }: Job) => run.inserted + run.updated + run.deleted > 0;
  const changed = new Set(
    jobs
      .filter(isChanged)
      .flatMap(({ stream: { tables } }) => [tables.main, ...tables.children].map(({ name }) => name)),
  );
  const isStale = (meaning: ReadMeaning) => {
    const last = before.filter(each => each.meaning === meaning.name && each.column !== null);
    const lines = meaning.rules.map(rule => ruleLine(meaning, rule));
    const own = meaning.rules.filter(({ isBeside }) => !isBeside).map(rule => ruleLine(meaning, rule));
    const known = last.map(each => each.config_line);
    const isOther =
      known.length > 0 && (known.some(line => !lines.includes(line)) || own.some(line => !known.includes(line)));
    return isOther || changed.has(meaning.table) || changed.has(meaning.beside ?? "");
  };
  return new Set(meanings.filter(isStale).map(({ table }) => table));
}

function doubtOf({ models, config }: Measuring["order"], share: AssumptionShare): Message | undefined {
  const meaning = models.meanings.find(({ name }) => name === share.meaning);
  if (meaning === undefined || share.column === null || share.rows < LEAST_ROWS) return undefined;
  if (share.touched === 0 && isConfigured(share, config.meanings))
    return assumptionMessages.true_of_none(tested(share, meaning));
  const taken = share.touched / share.rows;
  const { money } = share;
  if (Math.max(taken, money) <= meaning.most) return undefined;
  return assumptionMessages.true_of_many({
    ...tested(share, meaning),
    ...{ share: taken, money_share: money <= taken ? undefined : money, left_out_of: meaning.leftOutOf },
  });
}

function jumpOf(
  { models }: Measuring["order"],
  share: AssumptionShare,
  before: readonly AssumptionShare[],
): Message | undefined {
  const meaning = models.meanings.find(({ name }) => name === share.meaning);
  const last = before.find(each => each.company === share.company && each.config_line === share.config_line);
  if (meaning === undefined || last === undefined || share.column === null) return undefined;
  if (Math.min(last.rows, share.rows) < LEAST_ROWS) return undefined;
  const [was, is] = [last.touched / last.rows, share.touched / share.rows];
  if (Math.abs(is - was) <= JUMP) return undefined;
  return assumptionMessages.share_jumped({ ...tested(share, meaning), share: is, share_before: was });
}

/** Not the program's own: somebody expects rows that it is true of. */
function isConfigured({ meaning, column }: AssumptionShare, tests: MeaningTests): boolean {
  const usual: MeaningTests = configSchema.shape.meanings.parse(undefined);
  return column !== null && !isDeepStrictEqual(tests[meaning]?.[column], usual[meaning]?.[column]);
}

function tested({ company, config_line, rows }: AssumptionShare, { name, table, rows: taken_for }: Meaning) {
  return { company, config_line, table, rows, meaning: name, taken_for };
}
