import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { isFile, isLake } from "../config/destination.ts";
import { ConfigError } from "../errors.ts";
import { openSharedState, type SharedState } from "../warehouse/postgres/shared_state.ts";
import { addStop } from "./conducting.ts";
import { runData } from "./job_data.ts";
import { workersMessages } from "./messages.ts";
import { JobQueue } from "./queue.ts";
import type { WorkerDoing, WorkerRow } from "./worker_row.ts";

/** A worker as the others see it. */
export interface SeenWorker extends Omit<WorkerRow, "isStopped"> {
  readonly started_at: Date;
  /** How long ago it said something, by the server's clock. */
  readonly ageMs: number;
}

/** A worker that said nothing for so long is not up any more. */
export const SILENT_MS = 15_000;

/** What all workers of a warehouse share: the queue of jobs, and who is up. */
export class Fleet implements AsyncDisposable {
  readonly queue: JobQueue;
  readonly #state: SharedState;

  constructor(state: SharedState, queue: JobQueue) {
    this.#state = state;
    this.queue = queue;
  }

  readonly beat = (row: WorkerRow) => this.#state.beat(row);

  /** The workers that are up. */
  readonly workers = async (): Promise<readonly SeenWorker[]> => {
    const rows = await this.#state.workers();
    return rows.filter(({ ageMs }) => ageMs < SILENT_MS).map(row => ({ ...row, doing: row.doing as WorkerDoing }));
  };

  /** Whether this process leads, from now on until its connection is lost: one of all that ask does. */
  lead(): Promise<boolean> {
    return this.#state.lead();
  }

  /** The ids of the runs that the workers have. */
  readonly openRuns = async (): Promise<ReadonlySet<string>> =>
    new Set((await this.queue.open("runs")).map(({ data }) => runData.parse(data).runId));

  forget(worker: string): Promise<void> {
    return this.#state.forget(worker);
  }

  /** Asks a worker, or all, to leave when it is done with what it has. Answers who was asked. */
  async drain(worker: string | undefined): Promise<readonly string[]> {
    const asked = (await this.workers()).filter(({ id }) => worker === undefined || id === worker).map(({ id }) => id);
    await this.#state.drain(asked);
    return asked;
  }

  /** Ends a run at its next safe point. @throws ConfigError for one that is not under way */
  async stop(runId: string): Promise<void> {
    const runs = [...(await this.openRuns())];
    if (!runs.includes(runId)) throw new ConfigError(workersMessages.unknown_run({ run_id: runId, runs }));
    await addStop(this.queue, {
      runId,
      reason: "Stopped by `tributary work --stop`: what was read is stored.",
      exitCode: 5,
    });
  }

  async close(): Promise<void> {
    await this.queue.close();
    await this.#state.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @throws ConfigError where the configuration has no workers, or the warehouse has one writer; DestinationError */
export async function openFleet(
  config: Config,
  tools: { readonly clock: Clock },
  { supervises = true } = {},
): Promise<Fleet> {
  const { destination, workers } = config;
  if (workers === undefined) throw new ConfigError(workersMessages.not_configured());
  const state = await openSharedState({ ...sharedPlace(config), clock: tools.clock });
  try {
    const queue = await JobQueue.open(state, destination.stateSchema, { supervises });
    return new Fleet(state, queue);
  } catch (error) {
    await state.close();
    throw error;
  }
}

/** Of the state schema: pg-boss takes names of 50 bytes, and `_jobs` follows. */
const MOST_LETTERS = 45;

/** The PostgreSQL that the workers share. @throws ConfigError where the warehouse has one writer, or its state a long name */
export function sharedPlace({ destination }: Config) {
  if (isFile(destination)) throw new ConfigError(workersMessages.one_writer());
  const letters = destination.stateSchema.length;
  if (letters > MOST_LETTERS)
    throw new ConfigError(workersMessages.long_state_schema({ letters, max_letters: MOST_LETTERS }));
  const url = isLake(destination) ? destination.catalog : destination.url;
  return { ...destination, url };
}
