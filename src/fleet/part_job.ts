import type { Config } from "../config/config.ts";
import { textsOf } from "../message.ts";
import type { OldRow } from "../rows/old_rows.ts";
import type { StreamSync } from "../sync/context.ts";
import { type RunSource, runCompany } from "../sync/run/jobs.ts";
import { runPart } from "../sync/run/run.ts";
import type { Attempt, RunDefaults, RunTools } from "../sync/run/run_order.ts";
import type { PartOutcome } from "../sync/run/streams.ts";
import { type BackfillPartResult, backfillPart, backfillStream } from "../sync/stream/backfill.ts";
import { fetchPart, type Gather, type Gathered, syncDetails } from "../sync/stream/details.ts";
import { type StreamWork, syncByMode } from "../sync/stream/sync_stream.ts";
import { Awaiting, unlessLeft } from "./awaiting.ts";
import { orderOfPart, type PartData, readPartData } from "./job_data.ts";
import { shardPriority } from "./priority.ts";
import { type JobQueue, jobId } from "./queue.ts";

/** What a job is done with. */
export interface JobTools {
  readonly queue: JobQueue;
  readonly config: Config;
  readonly defaults: RunDefaults;
  readonly run: RunTools;
  readonly isRetry: boolean;
  /** Aborted when this process has to leave the job to another one. */
  readonly leaving: AbortSignal;
}

interface PartTools extends JobTools {
  readonly attempt: Attempt;
  /** Waits for other workers without keeping a place at this one. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What came of a part; of a shard also what it came to. */
export type PartOutput = PartOutcome & { readonly came?: BackfillPartResult };

/** Details that one worker asks for: more of them are cut into shards. */
const SHARD_DETAILS = 500;
/** Windows of a backfill that one worker reads, side by side. */
const SHARD_WINDOWS = 3;
const MOST_SHARDS = 64;

/** Works on a part of a run. @throws DestinationError, LockedError: another try may go better */
export async function workOnPartJob(data: PartData, tools: PartTools): Promise<PartOutput> {
  const { config, defaults, run, attempt, isRetry } = tools;
  const order = orderOfPart(data, config, defaults, isRetry);
  const { shard, part: name, companyId, backfill } = data;
  let came: BackfillPartResult | undefined;
  const work: StreamWork = async sync => {
    const { mode } = sync.stream;
    const details: Gather = async (_, due) => countsOf(await gather({ data, sync, size: due / SHARD_DETAILS }, tools));
    const windows = async (undone: number) =>
      straysOf(await gather({ data, sync, size: undone / SHARD_WINDOWS }, tools));
    if (backfill !== undefined && shard === undefined) return backfillStream(sync, { details, windows });
    if (backfill !== undefined) came = await backfillPart(sync);
    else if (mode.kind !== "detail") return syncByMode(sync);
    else if (shard === undefined) return syncDetails({ ...sync, mode }, undefined, details);
    else came = { counts: await fetchPart({ ...sync, mode }) };
  };
  const source: RunSource = {
    ...{ asksService: true, givesWay: false },
    runCompany: (context, service, company) => runCompany(context, service, { ...company, work }),
  };
  const outcome = await runPart({ ...order, source }, { name, companyId, shard }, run, attempt);
  return came === undefined ? outcome : { ...outcome, came };
}

/** Shards that other workers did, and what those that came to an end came to. */
interface GatheredShards {
  readonly parts: readonly string[];
  readonly came: readonly BackfillPartResult[];
}

const countsOf = (gathered: GatheredShards | undefined): Gathered | undefined =>
  gathered && { parts: gathered.parts, counts: gathered.came.flatMap(came => ("counts" in came ? came.counts : [])) };

const straysOf = (gathered: GatheredShards | undefined): readonly OldRow[] | undefined =>
  gathered?.came.flatMap(came => ("strays" in came ? came.strays : []));

/** Work of a stream, as many shards as it is worth. */
interface Much {
  readonly data: PartData;
  readonly sync: StreamSync;
  readonly size: number;
}

/** Has other workers do what is much; undefined: it is little. */
async function gather(
  { data, sync, size }: Much,
  { queue, run, aside, leaving }: PartTools,
): Promise<GatheredShards | undefined> {
  const { runId, company } = data;
  const { stream, progress, context } = sync;
  const { signal } = context;
  // As it was decided when the stream was turned to, whatever has been done since: their stages are by these names.
  const [known] = await queue.about("parts", { runId, company, streams: [stream.name], shard: {} });
  if (known === undefined && size <= 1) return undefined;
  const decided = known === undefined ? undefined : readPartData(known).shard?.of;
  const of = decided ?? Math.min(MOST_SHARDS, Math.ceil(size));
  const shards = Array.from({ length: of }, (_, index) => {
    const part = `${stream.name} ${index + 1} of ${of}`;
    const own: PartData = { ...data, part, streams: [stream.name], shard: { index, of } };
    return { id: jobId("part", runId, company, part), data: own, priority: shardPriority(index, data) };
  });
  await queue.add("parts", shards);
  const awaiting = new Awaiting(queue, run.clock, "parts");
  const ids = shards.map(({ id }) => id);
  const stop = () => void (leaving.aborted || queue.withdraw("parts", ids).catch(() => undefined));
  signal.addEventListener("abort", stop, { once: true });
  try {
    const ends = await aside(() => unlessLeft(leaving, Promise.all(ids.map(id => awaiting.endOf(id)))));
    const outputs = ends.flatMap(({ state, output }) => (state === "completed" ? [output as PartOutput] : []));
    for (const { warnings, notes } of outputs.flatMap(each => each.streams)) {
      progress.warnings.push(...warnings.filter(({ message }) => !textsOf(progress.warnings).includes(message)));
      progress.notes.push(...notes.filter(({ message }) => !textsOf(progress.notes).includes(message)));
    }
    return { parts: shards.map(shard => shard.data.part), came: outputs.flatMap(({ came }) => came ?? []) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
