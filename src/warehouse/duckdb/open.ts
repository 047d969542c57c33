import type { DuckDBConnection } from "@duckdb/node-api";
import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import { LockedError } from "../../errors.ts";
import { entryAt } from "../../files.ts";
import type { Message } from "../../message.ts";
import { Mutex } from "../../mutex.ts";
import { type Db, type Fragment, quotedName } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import type { Destination, Journal, Opener, Release, Stage, WorkSize } from "../destination.ts";
import { rowStateName } from "../state_tables.ts";
import { openJournal } from "./journal.ts";
import { isWaitedFor, Waiting } from "./lock/waiting.ts";
import { type LockedFile, type Taking, takeFile } from "./locked_file.ts";
import { duckdbDialect } from "./session/dialect.ts";
import { kyselyOver } from "./session/driver.ts";
import { attempting } from "./session/failure.ts";
import { layoutOf, type Readers } from "./session/file_layout.ts";
import { Room } from "./session/room.ts";
import { checkpoint, select, writeAnew, writePastLog } from "./session/session.ts";
import { openStage } from "./stage/stage.ts";
import { PublishNumber } from "./versions/publish_number.ts";
import { requireReplaceable } from "./versions/seed.ts";
import { type MakeLink, systemLink, versionMoment } from "./versions/version_names.ts";
import { newestVersion, notedNumber, publishVersion, removeOtherVersions } from "./versions/versions.ts";

/** What a DuckDB warehouse is opened with. Memory: 80 MB unless `memoryMb` says otherwise (see withRoom). */
export interface DuckdbSettings extends Opener {
  readonly path: string;
  readonly readers: Readers;
  readonly keepVersions: number;
  readonly schema: string;
  readonly stateSchema: string;
  readonly memoryMb?: number | undefined;
  /** How a symbolic link is made, where not by the system. */
  readonly makeLink?: MakeLink;
}

/**
 * Opens the warehouse file, making it where there is none. While another run has it this resolves all the same, so that
 * `lock` may wait for it; any use before that ends with LockedError. DestinationError when the file cannot be used.
 */
export async function openDuckdb(settings: DuckdbSettings): Promise<Destination> {
  const destination = new DuckdbFile(settings);
  try {
    if (settings.makesRoom !== true) await destination.hold();
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
  }
  return destination;
}

const RETRY_MS = 250;
const MEMORY_MB = 80;
/** A second one makes a first load cost a seventh more CPU and 70 MB: each keeps a row group of its own in the making. */
const THREADS = 1;
/** What a comparison begins with: enough for a million keys, and no more. Writing eight tables needs more even for eight rows. */
const COMPARING = 0.5;
/** A file of so many bytes beside what its tables take when they are empty, and so many staged rows, need so little that setting the limit, twice a comparison, costs more than it saves. */
const SMALL_FILE = 32e6;
const FEW_ROWS = 50_000;

/** Fewer rows and publishes than these stay in the log until the file is shown: a checkpoint takes 0.2 s for 300 tables, whatever changed. */
const CHECKPOINT_ROWS = 5_000;
const CHECKPOINT_PUBLISHES = 20;
/** Rows that weigh more in DuckDB's smallest piece of a column, its vector, need memory of their own: so many times themselves. */
const WIDE_BYTES = 16e6;
const TIMES_WIDE = 1.7;
/** Where the warehouse notes how wide rows are that were ever written to it: a later change of one rewrites its vector. */
const WIDEST = "duckdb_widest";

/** What a publish replaces rows of. */
const namesOf = ({ main, children }: TableSet): readonly string[] => [
  ...[main, ...children].map(({ name }) => name),
  ...[rowStateName(main.name), versionsName(main), "details"],
];

class DuckdbFile implements Destination {
  readonly dialect = duckdbDialect;
  readonly schema: string;
  readonly stateSchema: string;
  readonly warnings: Message[] = [];
  readonly journal: Journal;
  readonly db: Db;
  readonly #settings: DuckdbSettings;
  readonly #taking: Taking;
  readonly #number: PublishNumber;
  readonly #opening = new Mutex();
  readonly #turns = new Mutex();
  /** A checkpoint that runs out of memory costs the session. */
  readonly #room: Room;
  #held: LockedFile | undefined;
  #rowsSinceCheckpoint = 0;
  #closed = false;
  /** Whether the file has been checkpointed for readers. What is written later stands in its log. */
  #isShown = false;

  constructor(settings: DuckdbSettings) {
    this.schema = settings.schema;
    this.stateSchema = settings.stateSchema;
    this.#settings = settings;
    const layout = layoutOf(settings);
    this.journal = openJournal(layout);
    this.#taking = {
      layout,
      stateSchema: settings.stateSchema,
      holder: { runId: settings.runId, ...settings.holder },
      resources: {
        memoryLimitMb: settings.memoryMb ?? MEMORY_MB,
        threads: THREADS,
        spill: layout.spill,
      },
      makeLink: settings.makeLink ?? systemLink,
      warn: warning => this.warnings.push(warning),
    };
    this.#room = new Room(this.#taking.resources.memoryLimitMb, true, work => this.#alone("set DuckDB's memory", work));
    this.#number = new PublishNumber(settings.schema, settings.stateSchema);
    this.db = kyselyOver(() => this.hold(), this.#turns, { observer: this.#number }).withSchema(settings.stateSchema);
  }

  /** The connection; takes the file first where that has not been done. */
  async hold(): Promise<DuckDBConnection> {
    return this.#opening.run(async () => {
      if (this.#closed) throw new TypeError("the destination has been closed");
      if (this.#held === undefined) {
        this.#held = await takeFile(this.#taking);
        // For what killed runs left: nobody else may remove it.
        await isWaitedFor(this.#taking.layout, this.#settings.clock);
      }
      return this.#held.session.connection;
    });
  }

  async unlock(): Promise<void> {}

  async lock(_company: string, _families: readonly string[], waitMs: number): Promise<void> {
    const { clock, runId, makesRoom, waiting } = this.#settings;
    let isTold = false;
    const until = clock.now() + waitMs;
    const { layout } = this.#taking;
    const said = new Waiting(layout, runId, clock);
    try {
      for (;;) {
        // Who makes room lets those who wait go first, also when the file is free by now.
        const aside = makesRoom === true && clock.now() < until && (await isWaitedFor(layout, clock));
        try {
          if (!aside) return void (await this.hold());
        } catch (error) {
          if (!(error instanceof LockedError) || clock.now() >= until) throw error;
          if (!isTold) waiting?.(error.holder ?? "another process", until - clock.now());
          isTold = true;
          if (makesRoom !== true) await said.renew();
        }
        await clock.sleep(Math.min(RETRY_MS, until - clock.now()));
      }
    } finally {
      await said.withdraw();
    }
  }

  get holders(): Fragment {
    return sql.id(this.stateSchema, "holders");
  }

  async isWanted(): Promise<boolean> {
    const { layout } = this.#taking;
    return attempting(`look who waits for ${layout.path}`, () => isWaitedFor(layout, this.#settings.clock));
  }

  async stage(company: string, tables: TableSet): Promise<Stage> {
    await this.hold();
    return openStage(this.#taking.layout.stage, company, tables);
  }

  async releaseToReaders(): Promise<Release> {
    const { layout, makeLink } = this.#taking;
    const showing = async (connection: DuckDBConnection) => {
      await this.#held?.requireInPlace();
      await this.#checkpoint(connection, true);
      this.#isShown = true;
      if (layout.readers === "direct") return { path: layout.path, note: undefined };
      await requireReplaceable(this.#taking);
      const number = await this.#number.own(connection);
      return publishVersion(layout, number, this.#settings.clock.now(), this.#settings.keepVersions, makeLink);
    };
    return this.#room.run(() => this.#alone(`publish ${layout.path}`, showing));
  }

  async releaseState(): Promise<{ isPending: boolean; releasedAt: Date | undefined }> {
    const { layout } = this.#taking;
    return this.#alone(`compare ${layout.path} with the work file`, async connection => {
      await this.#held?.requireInPlace();
      if (layout.readers === "direct") return { isPending: false, releasedAt: undefined };
      const version = (await entryAt(layout.path)) === undefined ? undefined : await newestVersion(layout);
      if (version === undefined) return { isPending: true, releasedAt: undefined };
      const noted = await notedNumber(layout, version);
      const isPending = noted === undefined || noted !== (await this.#number.own(connection));
      return { isPending, releasedAt: new Date(versionMoment(version)) };
    });
  }

  async withRoom<T>(purpose: "compare" | "write", work: () => Promise<T>, of: WorkSize = {}): Promise<T> {
    const { rows = 0, widest = 0, tables, touched } = of;
    return this.#room.run(async () => {
      const isLarge = await this.#isLarge();
      const keptMb = isLarge && tables !== undefined ? await this.#room.forReplaced(namesOf(tables), touched) : 0;
      const comparing = purpose === "compare" && (rows > FEW_ROWS || isLarge);
      const done =
        widest >= WIDE_BYTES
          ? await this.#writeWide(work, Math.ceil(widest), keptMb)
          : await this.#room.repeating(work, { share: comparing ? COMPARING : 1, moreMb: keptMb });
      // What touched no row met nothing that the comparison before it had not.
      if (isLarge && touched !== 0) await this.#room.settle();
      return done;
    });
  }

  async #writeWide<T>(work: () => Promise<T>, widest: number, keptMb: number): Promise<T> {
    await this.#alone("note how wide rows are", async connection => {
      if (widest > (await this.#widest(connection)))
        await connection.run(`begin; delete from ${this.#warehouse} where key = '${WIDEST}';
          insert into ${this.#warehouse} (key, value) values ('${WIDEST}', '${widest}'); commit`);
    });
    const pastLog = (past: boolean) =>
      this.#alone("choose how DuckDB writes", connection => writePastLog(connection, past));
    const share = this.#settings.memory?.lend(TIMES_WIDE * widest);
    await pastLog(true);
    try {
      return await this.#room.repeating(work, { moreMb: (TIMES_WIDE * widest) / 1e6 + keptMb });
    } finally {
      share?.release();
      await pastLog(false).catch(() => undefined);
    }
  }

  get #warehouse(): string {
    return `${quotedName(this.stateSchema)}.warehouse`;
  }

  /** Bytes of the widest vector that was ever written; 0: no wide one. */
  async #widest(connection: DuckDBConnection): Promise<number> {
    const [found] = await select(
      connection,
      `select count(*) from duckdb_tables() where schema_name = $1 and table_name = 'warehouse'`,
      [this.stateSchema],
    );
    if (Number(found?.[0]) === 0) return 0;
    const [noted] = await select(
      connection,
      `select max(cast(cast(value as varchar) as bigint)) from ${this.#warehouse} where key = '${WIDEST}'`,
    );
    return Number(noted?.[0] ?? 0);
  }

  async #isLarge(): Promise<boolean> {
    const file = await entryAt(this.#taking.layout.work);
    return file !== undefined && file.size > SMALL_FILE + (await this.#room.moreForTables()) * 1e6;
  }

  async afterPublish(_tables: TableSet, rows: number): Promise<void> {
    this.#rowsSinceCheckpoint += Math.max(rows, CHECKPOINT_ROWS / CHECKPOINT_PUBLISHES);
    if (this.#rowsSinceCheckpoint < CHECKPOINT_ROWS) return;
    await this.#room.run(() =>
      this.#alone("write the log into the warehouse file", connection => this.#checkpoint(connection)),
    );
  }

  async cleanse(): Promise<undefined> {
    const { layout } = this.#taking;
    await this.#room.run(() =>
      this.#turns.run(() =>
        this.#opening.run(() =>
          attempting(`write ${layout.work} anew`, async () => {
            const held = this.#held;
            if (held === undefined) return;
            await held.requireInPlace();
            await this.#checkpoint(held.session.connection);
            await writeAnew(held.session.connection, layout);
            this.#held = undefined;
            await held.release(false);
            this.#held = await takeFile(this.#taking);
            this.#rowsSinceCheckpoint = 0;
            this.#room.forget();
          }),
        ),
      ),
    );
    await this.releaseToReaders();
    if (layout.readers === "snapshot") await attempting("remove old versions", () => removeOtherVersions(layout));
  }

  async #checkpoint(connection: DuckDBConnection, anew = false): Promise<void> {
    this.#isShown = false;
    await checkpoint(connection, (TIMES_WIDE * (await this.#widest(connection))) / 1e6, anew);
    this.#rowsSinceCheckpoint = 0;
  }

  /** Does it while nobody else uses the session. */
  async #alone<T>(doing: string, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      const connection = await this.hold();
      return attempting(doing, () => work(connection));
    });
  }

  async close(): Promise<void> {
    await this.#turns.run(() =>
      this.#opening.run(async () => {
        this.#closed = true;
        const held = this.#held;
        this.#held = undefined;
        await attempting("close the warehouse file", async () => held?.release(this.#isShown));
      }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
