import type { Config } from "../config/config.ts";
import type { StreamSync } from "../sync/context.ts";
import { type RunSource, runCompany } from "../sync/run/jobs.ts";
import { runPart } from "../sync/run/run.ts";
import type { Attempt, RunDefaults, RunTools } from "../sync/run/run_order.ts";
import type { PartOutcome } from "../sync/run/streams.ts";
import { fetchPart, type Gathered, type PartResult, syncDetails } from "../sync/stream/details.ts";
import { type StreamWork, syncByMode } from "../sync/stream/sync_stream.ts";
import { Awaiting, unlessLeft } from "./awaiting.ts";
import { orderOfPart, type PartData, readPartData } from "./job_data.ts";
import { shardPriority } from "./priority.ts";
import { type JobQueue, jobId } from "./queue.ts";

/** What a part's job is done with. */
export interface PartTools {
  readonly queue: JobQueue;
  readonly config: Config;
  readonly defaults: RunDefaults;
  readonly run: RunTools;
  readonly attempt: Attempt;
  /** Waits for other workers without keeping a place at this one. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isRetry: boolean;
  /** Aborted when this process has to leave the part to another one. */
  readonly leaving: AbortSignal;
}

/** What came of a part; of a shard also how its requests ended. */
export type PartOutput = PartOutcome & { readonly counts?: PartResult };

/** Details that one worker asks for: more of them are cut into shards. */
const SHARD_DETAILS = 500;
const MOST_SHARDS = 64;

/** Works on a part of a run. @throws DestinationError, LockedError: another try may go better */
export async function workOnPartJob(data: PartData, tools: PartTools): Promise<PartOutput> {
  const { config, defaults, run, attempt, isRetry } = tools;
  const order = orderOfPart(data, config, defaults, isRetry);
  const { shard, part: name, companyId } = data;
  let counts: PartResult | undefined;
  const work: StreamWork = async sync => {
    const { mode } = sync.stream;
    if (mode.kind !== "detail") return syncByMode(sync);
    if (shard === undefined)
      return syncDetails({ ...sync, mode }, undefined, (_, due) => gather({ data, sync, due }, tools));
    counts = await fetchPart({ ...sync, mode });
  };
  const source: RunSource = {
    ...{ asksService: true, givesWay: false },
    runCompany: (context, service, company) => runCompany(context, service, { ...company, work }),
  };
  const outcome = await runPart({ ...order, source }, { name, companyId, shard }, run, attempt);
  return counts === undefined ? outcome : { ...outcome, counts };
}

/** Details of a stream, as many as are due. */
interface Many {
  readonly data: PartData;
  readonly sync: StreamSync;
  readonly due: number;
}

/** Has other workers fetch details that are many; undefined: they are few. */
async function gather(
  { data, sync, due }: Many,
  { queue, run, aside, leaving }: PartTools,
): Promise<Gathered | undefined> {
  const { runId, company } = data;
  const { stream, progress, context } = sync;
  const { signal } = context;
  // As it was decided when the list was published, whatever has been fetched since: their stages are by these names.
  const [known] = await queue.about("parts", { runId, company, streams: [stream.name], shard: {} });
  if (known === undefined && due <= SHARD_DETAILS) return undefined;
  const decided = known === undefined ? undefined : readPartData(known).shard?.of;
  const of = decided ?? Math.min(MOST_SHARDS, Math.ceil(due / SHARD_DETAILS));
  const shards = Array.from({ length: of }, (_, index) => {
    const part = `${stream.name} ${index + 1} of ${of}`;
    const own: PartData = { ...data, part, streams: [stream.name], shard: { index, of } };
    return { id: jobId("part", runId, company, part), data: own, priority: shardPriority(index) };
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
      progress.warnings.push(...warnings.filter(text => !progress.warnings.includes(text)));
      progress.notes.push(...notes.filter(text => !progress.notes.includes(text)));
    }
    return { parts: shards.map(shard => shard.data.part), counts: outputs.flatMap(({ counts }) => counts ?? []) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
