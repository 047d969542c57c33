import { createHash, randomUUID } from "node:crypto";
import pg from "pg";
import { LockedError, TributaryError } from "../../errors.ts";
import type { Opener } from "../destination.ts";
import { type LockHolder, lockMessages, runInWords } from "../messages.ts";
import type { Session } from "./session.ts";

const POLL_MS = 200;
// A killed holder's lock may live on for a second: without this patience its restart would be refused.
const LEAST_PATIENCE_MS = 2_500;

interface LockGroup {
  readonly company: string;
  readonly name: string;
  /** Signed 64 bits, as text. */
  readonly key: string;
  /** The lock that whoever waits for this one shares with the others who do. */
  readonly waiting: string;
}

interface LockSettings extends Opener {
  readonly schema: string;
  readonly stateSchema: string;
  readonly mark: string;
}

/**
 * Ends the sessions of the process that worked for this run before: of a machine that is cut off, or a process that was
 * stopped, a server keeps them with their locks and transactions. A role that may not end them waits for the locks.
 */
export async function endFormer(session: Session, { stateSchema, runId, takesOver }: Omit<LockSettings, "mark">) {
  if (takesOver === undefined) return;
  const holders = `${pg.escapeIdentifier(stateSchema)}.holders`;
  const { rows } = await session.turn(() => session.query("select to_regclass($1) is not null as made", [holders]));
  if (rows[0]?.["made"] !== true) return;
  await session
    .turn(() =>
      session.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and exists (select from ${holders}
            where run_id = $1 and company = $2 and right(application_name, 9) = ' ' || (holder ->> 'mark'))`,
        [runId, takesOver],
      ),
    )
    .catch(error => {
      if (!(error instanceof TributaryError)) throw error;
    });
}

/** The session-level advisory locks of one run, each with its row in `holders`. */
export class Locks {
  readonly #session: Session;
  readonly #run: LockSettings;
  readonly #holders: string;
  #held: readonly LockGroup[] = [];

  constructor(session: Session, run: LockSettings) {
    this.#session = session;
    this.#run = run;
    this.#holders = `${pg.escapeIdentifier(run.stateSchema)}.holders`;
  }

  /** All or none. @throws LockedError */
  async take(company: string, lockGroups: readonly string[], waitMs: number): Promise<void> {
    const wanted = [...new Set(lockGroups)]
      .map(name => this.#lock(company, name))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .filter(({ key }) => !this.#held.some(held => held.key === key));
    await this.#takeAll(wanted, waitMs);
    try {
      await this.#session.transaction(() => this.#write(wanted));
    } catch (error) {
      await this.#session.turn(() => this.#unlock(wanted)).catch(() => undefined);
      throw error;
    }
    this.#held = [...this.#held, ...wanted];
    // A run of which no stream is on holds nothing that it could lose.
    if (this.#held.length > 0) this.#session.guardWith(readOnly => this.#check(readOnly));
  }

  #lock(company: string, name: string): LockGroup {
    const { schema } = this.#run;
    return {
      ...{ company, name, key: lockKey(schema, company, name) },
      waiting: lockKey(schema, company, name, "waiting"),
    };
  }

  /** Who waits on purpose says so by locks of its own, which go with its connection. */
  async #takeAll(wanted: readonly LockGroup[], waitMs: number): Promise<void> {
    const deadline = this.#run.clock.now() + Math.max(waitMs, LEAST_PATIENCE_MS);
    const { makesRoom = false } = this.#run;
    let announced = waitMs <= 0 || makesRoom;
    const saying: LockGroup[] = [];
    try {
      for (;;) {
        const left = deadline - this.#run.clock.now();
        // Who makes room lets those who wait go first, also when the lock is free by now.
        const aside = makesRoom && left > 0 && (await this.#isAnyWanted(wanted));
        const blocked = aside ? wanted[0] : await this.#session.turn(() => this.#tryAll(wanted));
        if (blocked === undefined) return;
        if (left <= 0) throw await this.#lockedError(blocked);
        if (!announced) {
          announced = true;
          saying.push(...wanted);
          const { holder = `another session, which holds ${blocked.name} of ${blocked.company}` } =
            await this.#lockedError(blocked);
          this.#run.waiting?.(holder, left);
          await this.#each(saying, ({ waiting }) => ["select pg_advisory_lock_shared($1::bigint)", waiting]);
        }
        await this.#run.clock.sleep(Math.min(POLL_MS, left));
      }
    } finally {
      // A lost connection has done so already, and what is on its way says that it was lost.
      await this.#each(saying, ({ waiting }) => ["select pg_advisory_unlock_shared($1::bigint)", waiting]).catch(
        () => undefined,
      );
    }
  }

  #each(
    lockGroups: readonly LockGroup[],
    statement: (lockGroup: LockGroup) => readonly [string, string],
  ): Promise<void> {
    return this.#session.turn(async () => {
      for (const lockGroup of lockGroups) {
        const [text, key] = statement(lockGroup);
        await this.#session.query(text, [key]);
      }
    });
  }

  async areWanted(): Promise<boolean> {
    return this.#isAnyWanted(this.#held);
  }

  async #isAnyWanted(lockGroups: readonly LockGroup[]): Promise<boolean> {
    if (lockGroups.length === 0) return false;
    const { rows } = await this.#session.turn(() =>
      this.#session.query(
        `select count(*) > 0 as wanted from pg_locks
          where locktype = 'advisory' and granted and objsubid = 1 and pid <> pg_backend_pid()
            and database = (select oid from pg_database where datname = current_database())
            and ((classid::bigint << 32) | objid::bigint) = any($1::bigint[])`,
        [lockGroups.map(lockGroup => lockGroup.waiting)],
      ),
    );
    return rows[0]?.["wanted"] === true;
  }

  async #tryAll(wanted: readonly LockGroup[]): Promise<LockGroup | undefined> {
    const taken: LockGroup[] = [];
    for (const lockGroup of wanted) {
      const { rows } = await this.#session.query("select pg_try_advisory_lock($1::bigint) as taken", [lockGroup.key]);
      if (rows[0]?.["taken"] !== true) {
        await this.#unlock(taken);
        return lockGroup;
      }
      taken.push(lockGroup);
    }
    return undefined;
  }

  async #unlock(lockGroups: readonly LockGroup[]): Promise<void> {
    for (const { key } of lockGroups) await this.#session.query("select pg_advisory_unlock($1::bigint)", [key]);
  }

  /** What was written of these groups before is of killed runs. */
  async #write(lockGroups: readonly LockGroup[]): Promise<void> {
    const [companies, names] = columnsOf(lockGroups);
    await this.#session.query(
      `delete from ${this.#holders} h using unnest($1::text[], $2::text[]) as wanted(company, family)
        where h.company = wanted.company and h.family = wanted.family`,
      [companies, names],
    );
    await this.#session.query(
      `insert into ${this.#holders} (company, family, run_id, holder, since)
       select company, family, $3, $4, $5 from unnest($1::text[], $2::text[]) as wanted(company, family)`,
      [
        companies,
        names,
        this.#run.runId,
        JSON.stringify({ ...this.#run.holder, mark: this.#run.mark }),
        new Date(this.#run.clock.now()).toISOString(),
      ],
    );
  }

  /** The same as the guard of each transaction, in that of another session. @throws LockedError */
  async keepDuring(other: Session): Promise<void> {
    if (this.#held.length > 0) await this.#check(false, other);
  }

  /** FOR SHARE: who takes a lost lock over waits for this transaction before it can name itself. */
  async #check(readOnly: boolean, session = this.#session): Promise<void> {
    const { rows } = await session.query(
      `select (select count(*) from pg_locks
                where locktype = 'advisory' and pid = $5 and granted and objsubid = 1 and mode = 'ExclusiveLock'
                  and ((classid::bigint << 32) | objid::bigint) = any($3::bigint[])) as locks
         from ${this.#holders} as held
        where run_id = $4 and (company, family) in (select * from unnest($1::text[], $2::text[]))
        ${readOnly ? "" : "for share of held"}`,
      [...columnsOf(this.#held), this.#held.map(held => held.key), this.#run.runId, this.#session.backend],
    );
    if (rows.length === this.#held.length && rows[0]?.["locks"] === this.#held.length) return;
    const { company, name } = this.#held[0]!;
    const now = await this.#holderOf(company, name);
    const lock_groups = this.#held.map(held => held.name);
    throw new LockedError(lockMessages.lost({ lock_groups, company, holder: now?.holder }), now);
  }

  async #lockedError({ company, name }: LockGroup): Promise<LockedError> {
    const now = await this.#session.turn(() => this.#holderOf(company, name));
    return new LockedError(lockMessages.held({ lock_group: name, company, holder: now?.holder }), now);
  }

  async #holderOf(
    company: string,
    name: string,
  ): Promise<{ readonly runId: string; readonly holder: LockHolder; readonly who: string } | undefined> {
    const { rows } = await this.#session.query(
      `select family, run_id, since, holder ->> 'pid' as pid, holder ->> 'host' as host, holder ->> 'command' as command
         from ${this.#holders} where company = $1 and family = $2`,
      [company, name],
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const { family, run_id, pid, host, command } = row as Readonly<Record<string, string>>;
    const since = row["since"] instanceof Date ? row["since"].toISOString() : "an unknown time";
    const holder = { run_id: run_id!, pid: Number(pid), host: host!, command: command!, since };
    const who = `${runInWords(holder)}, which has held ${family} of ${company} since ${since}`;
    return { runId: holder.run_id, holder, who };
  }

  /** Gives everything back; a lost connection has done so already. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    if (held.length === 0) return;
    this.#session.guardWith(undefined);
    await this.#session
      .turn(async () => {
        await this.#session.query(
          `delete from ${this.#holders}
            where run_id = $3 and (company, family) in (select * from unnest($1::text[], $2::text[]))`,
          [...columnsOf(held), this.#run.runId],
        );
        await this.#unlock(held);
      })
      .catch(error => {
        if (!(error instanceof TributaryError)) throw error;
      });
  }
}

const columnsOf = (lockGroups: readonly LockGroup[]): [string[], string[]] => [
  lockGroups.map(({ company }) => company),
  lockGroups.map(({ name }) => name),
];

export const newMark = (): string => randomUUID().slice(0, 8);

/** A lock's number: alike in every process, different for every schema, company, lock group and purpose. */
export function lockKey(schema: string, company: string, lockGroup: string, ...purpose: readonly string[]): string {
  const text = ["tributary", schema, company, lockGroup, ...purpose].join("\u0000");
  return createHash("sha256").update(text).digest().readBigInt64BE(0).toString();
}
