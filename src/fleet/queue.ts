import { PgBoss } from "pg-boss";
import { digestOf } from "../digest.ts";
import { DestinationError } from "../errors.ts";
import { quotedName } from "../warehouse/database.ts";
import { queueSchema } from "../warehouse/shared_tables.ts";
import { workersMessages } from "./messages.ts";

/** A PostgreSQL that the workers share; statements go one after another. */
export interface Server {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  /** Work that one process at a time does. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Workers take runs, to conduct them, and companies of runs. Stops are read, not taken: each says that a run is to end. */
export type Kind = "runs" | "companies" | "stops";

/** A job that this process has taken. Another attempt at it, begun after this one was given up, has another number. */
export interface Claim {
  readonly kind: Kind;
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
  /** Since when what it needs is held by others, ms since 1970; undefined: it was not when it was tried last. */
  readonly blockedSince: number | undefined;
}

/** How a job stands: waiting, being worked on, or ended, with what came of it. */
export interface JobState {
  readonly id: string;
  readonly state: "created" | "retry" | "active" | "completed" | "cancelled" | "failed";
  readonly output: unknown;
  readonly data: unknown;
}

/** A job that waits or is worked on, with what it is about. */
export interface OpenJob extends Pick<JobState, "id" | "state"> {
  readonly kind: Kind;
  readonly data: unknown;
}

/** What is to be done. `id` is the same for the same work, so that it is never done twice. */
export interface NewJob {
  readonly id: string;
  readonly data: object;
  /** Higher goes first. */
  readonly priority: number;
}

/** A worker that says nothing for so long is taken for dead, and its jobs are given to others. */
export const HEARTBEAT_S = 10;
/** How often dead workers are looked for. */
const SUPERVISED_S = 2;
/** A job that takes longer than a day is given to another attempt, which goes on where this one was. */
const LONGEST_S = 86_400 - 60;
const KEPT_S = 7 * 86_400;
/** A company whose lock others hold is tried every 40 s, for as long as the run waits. */
const MOST_TRIES = 100_000;

export const jobTable = (stateSchema: string): string => `${quotedName(queueSchema(stateSchema))}.job`;

/** Queues of jobs in PostgreSQL. */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #server: Server;
  readonly #jobs: string;

  private constructor(boss: PgBoss, server: Server, jobs: string) {
    this.#boss = boss;
    this.#server = server;
    this.#jobs = jobs;
  }

  /** Makes the queues where there are none yet. `supervises`: looks for workers that died, as each worker does. @throws DestinationError */
  static async open(server: Server, stateSchema: string, { supervises = true } = {}): Promise<JobQueue> {
    const schema = queueSchema(stateSchema);
    // Who may not make schemas is refused also where it is there already.
    const { rows } = await server.query(
      "select count(*)::int as n from information_schema.schemata where schema_name = $1",
      [schema],
    );
    const createSchema = rows[0]?.["n"] === 0;
    const boss = new PgBoss({
      db: { executeSql: async (text, values) => ({ rows: [...(await server.query(text, values)).rows] }) },
      ...{ schema: `"${schema}"`, createSchema, schedule: false, supervise: supervises, registerInstance: false },
      ...{ superviseIntervalSeconds: SUPERVISED_S, monitorIntervalSeconds: SUPERVISED_S },
      openTelemetry: { enabled: false },
    });
    // The statement that failed is tried again with the next look; each job's own statements are awaited where they are sent.
    boss.on("error", () => undefined);
    const make = async () => {
      await boss.start();
      const options = { heartbeatSeconds: HEARTBEAT_S, expireInSeconds: LONGEST_S, deleteAfterSeconds: KEPT_S };
      for (const kind of ["runs", "companies", "stops"] satisfies Kind[])
        await boss.createQueue(kind, {
          ...options,
          retryLimit: MOST_TRIES,
          retryDelay: 1,
          retryBackoff: true,
          retryDelayMax: 40,
        });
    };
    try {
      await server.alone(make);
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined);
      const reason = (error as Error).message;
      throw new DestinationError(workersMessages.queue_unusable({ schema, reason }), error);
    }
    return new JobQueue(boss, server, jobTable(stateSchema));
  }

  /** Those that are there already, at whatever stage, stay as they are. */
  async add(kind: Kind, jobs: readonly NewJob[]): Promise<void> {
    if (jobs.length > 0)
      await this.#boss.insert(
        kind,
        jobs.map(job => ({ ...job })),
      );
  }

  /** The job that is due first; undefined: none of that priority or a higher one. */
  async take(kind: Kind, minPriority?: number): Promise<Claim | undefined> {
    const [job] = await this.#boss.fetch<object>(kind, {
      includeMetadata: true,
      ...(minPriority === undefined ? {} : { minPriority }),
    });
    const { blockedSince } = (job?.output ?? {}) as { readonly blockedSince?: number };
    return job && { kind, id: job.id, retryCount: job.retryCount, data: job.data, blockedSince };
  }

  /** Says that these are being worked on. Answers the ids of those that are still this process's. */
  async touch(kind: Kind, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
    if (claims.length === 0) return new Set();
    const ids = claims.map(({ id }) => id);
    // The type that the package exports is empty. The answer counts the jobs that it found; which ones those are, only the table says.
    const told: { readonly affected?: number } = await this.#boss.touch(kind, claims.map(attemptOf));
    if (told.affected === claims.length) return new Set(ids);
    const { rows } = await this.#server.query(
      `select id, retry_count from ${this.#jobs} where name = $1 and id = any($2::uuid[]) and state = 'active'`,
      [kind, ids],
    );
    const counts = new Map(rows.map(row => [row["id"], Number(row["retry_count"])]));
    return new Set(claims.filter(({ id, retryCount }) => counts.get(id) === retryCount).map(({ id }) => id));
  }

  /** Ends a job with what came of it, unless it is another's by now. */
  async complete(claim: Claim, output: object): Promise<void> {
    await this.#boss.complete(claim.kind, attemptOf(claim), output);
  }

  /** Gives a job back: it is tried again, after a growing pause. */
  async giveBack(claim: Claim, reason: string, blockedSince?: number): Promise<void> {
    await this.#boss.fail(claim.kind, attemptOf(claim), { reason, blockedSince });
  }

  /** How a job stands; undefined: there is none. */
  async stateOf(kind: Kind, id: string): Promise<JobState | undefined> {
    return (await this.#states("name = $1 and id = $2::uuid", [kind, id]))[0];
  }

  /** Those of the jobs that have ended. */
  ended(kind: Kind, ids: readonly string[]): Promise<readonly JobState[]> {
    return this.#states("name = $1 and id = any($2::uuid[]) and state >= 'completed'", [kind, ids]);
  }

  async #states(condition: string, values: readonly unknown[]): Promise<readonly JobState[]> {
    const { rows } = await this.#server.query(
      `select id, state, output, data from ${this.#jobs} where ${condition}`,
      values,
    );
    return rows as unknown as readonly JobState[];
  }

  /** Jobs that wait or are worked on, with what they are about; the first ones to be taken first. */
  async open(kind: Kind): Promise<readonly OpenJob[]> {
    return openJobs(this.#server, this.#jobs, [kind]);
  }

  /** Cancels those of the jobs that no worker has taken. Answers their ids. */
  async withdraw(kind: Kind, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#server.query(
      `update ${this.#jobs} set state = 'cancelled', completed_on = now()
        where name = $1 and id = any($2::uuid[]) and state < 'active' returning id`,
      [kind, ids],
    );
    return new Set(rows.map(row => String(row["id"])));
  }

  async remove(kind: Kind, id: string): Promise<void> {
    await this.#boss.deleteJob(kind, id);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

/** The same of several kinds, for who only reads: the table has to be there. */
export async function openJobs(server: Server, jobs: string, kinds: readonly Kind[]): Promise<readonly OpenJob[]> {
  const { rows } = await server.query(
    `select id, name as kind, state, data from ${jobs} where name = any($1) and state < 'completed' order by priority desc, created_on, id`,
    [kinds],
  );
  return rows as unknown as readonly OpenJob[];
}

const attemptOf = ({ id, retryCount }: Claim) => ({ id, retryCount });

/** The id of a job by what it is about. */
export function jobId(...about: readonly string[]): string {
  const hex = digestOf(about, 32);
  // The form of a UUID of version 8, whose bits are the program's own.
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
