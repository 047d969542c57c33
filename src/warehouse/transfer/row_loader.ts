import { type FileHandle, mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { remove } from "../../files.ts";
import type { Db } from "../database.ts";
import type { Destination } from "../destination.ts";
import type { Named } from "../dialect.ts";
import { csvRelation } from "../duckdb/parquet/spool.ts";
import { attempting } from "../duckdb/session/failure.ts";
import type { SourceColumn } from "../parquet_source.ts";
import { columnList } from "../sql_fragments.ts";
import { type Lines, type Pieces, usualPieces } from "./row_text.ts";

/** Puts rows that `takeRows` hands over into a table. */
export interface RowLoader extends AsyncDisposable {
  take(lines: Lines): Promise<void>;
  end(): Promise<void>;
}

/** `db`: the transaction that it is done in. */
export async function openLoader(
  { copyIn }: Pick<Destination, "copyIn">,
  db: Db,
  table: Named,
  columns: readonly SourceColumn[],
  { sentBytes, fileBytes }: Pieces = usualPieces,
): Promise<RowLoader> {
  const target = sql`${sql.id(table.schema, table.name)} (${columnList(columns.map(({ name }) => name))})`;
  if (copyIn !== undefined) {
    const statement = sql`copy ${target} from stdin (format csv)`.compile(db).sql;
    return new SendingLoader(sentBytes, rows => copyIn(statement, rows));
  }
  // Values are private.
  const folder = await attempting(`make a folder in ${tmpdir()}`, () => mkdtemp(join(tmpdir(), "tributary-rows-")));
  return new FileLoader(folder, fileBytes, async (path, longest) => {
    await sql`insert into ${target} select * from ${sql.raw(csvRelation(path, columns, longest))}`.execute(db);
  });
}

class SendingLoader implements RowLoader {
  readonly #most: number;
  readonly #send: (rows: Buffer) => Promise<void>;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(most: number, send: (rows: Buffer) => Promise<void>) {
    this.#most = most;
    this.#send = send;
  }

  async take({ bytes }: Lines): Promise<void> {
    // The sender uses their buffer again.
    this.#held.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    if (this.#bytes >= this.#most) await this.end();
  }

  async end(): Promise<void> {
    if (this.#bytes > 0) await this.#send(Buffer.concat(this.#held));
    this.#held = [];
    this.#bytes = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

class FileLoader implements RowLoader {
  readonly #folder: string;
  readonly #most: number;
  readonly #load: (path: string, longest: number) => Promise<void>;
  #file: FileHandle | undefined;
  #bytes = 0;
  #longest = 0;

  constructor(folder: string, most: number, load: (path: string, longest: number) => Promise<void>) {
    this.#folder = folder;
    this.#most = most;
    this.#load = load;
  }

  async take({ bytes, ends }: Lines): Promise<void> {
    await attempting(`put rows aside in ${this.#folder}`, async () => {
      this.#file ??= await open(this.#path, "w", 0o600);
      await this.#file.writeFile(bytes);
    });
    this.#bytes += bytes.length;
    for (const [nth, end] of ends.entries()) this.#longest = Math.max(this.#longest, end - (ends[nth - 1] ?? 0));
    if (this.#bytes >= this.#most) await this.end();
  }

  async end(): Promise<void> {
    if (this.#file === undefined) return;
    await this.#close();
    await this.#load(this.#path, this.#longest);
    this.#bytes = 0;
    this.#longest = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await remove(this.#folder);
  }

  get #path(): string {
    return join(this.#folder, "rows.csv");
  }

  async #close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}
