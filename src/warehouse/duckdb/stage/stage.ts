import { createHash } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import type { Table, TableSet } from "../../../catalog/columns.ts";
import { makeFolder, remove, writeDurably } from "../../../files.ts";
import type { Batch, EncodedTable } from "../../../rows/batch.ts";
import type { Fragment } from "../../database.ts";
import type { Stage, StageRecord } from "../../destination.ts";
import { stagedColumns } from "../../staged_columns.ts";
import { attempting } from "../session/failure.ts";
import { relationOf } from "./csv_relation.ts";
import {
  layoutPrint,
  type Manifest,
  readManifest,
  removeManifest,
  removeUnnamed,
  type StagedFile,
  writeManifest,
} from "./manifest.ts";
import { pickLines } from "./pick_lines.ts";

/** Opens a stage of a company's stream below `root`, with what an earlier run left in it. */
export async function openStage(root: string, company: string, tables: TableSet): Promise<Stage> {
  return attempting("open the stage", async () => {
    const folder = join(root, folderName(company), folderName(tables.main.name));
    await makeFolder(folder, 0o700);
    const layout = layoutPrint(tables);
    const manifest = await readManifest(folder, company, layout);
    if (manifest === undefined) await removeManifest(folder);
    await removeUnnamed(folder, manifest);
    return new FileStage(folder, { company, layout }, tables, manifest);
  });
}

/** Short, safe on every file system, and different where names differ in case only. */
function folderName(name: string): string {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
  return `${readable}-${createHash("sha256").update(name).digest("hex").slice(0, 10)}`;
}

/** A stage of fsynced CSV files that a manifest names. A file is durable before the manifest that names it. */
class FileStage implements Stage {
  readonly #folder: string;
  readonly #identity: Pick<Manifest, "company" | "layout">;
  readonly #tables: TableSet;
  #manifest: Manifest | undefined;
  #next: number;
  /** By table: the file that holds the rows which `only` wants. */
  #picked: ReadonlyMap<string, StagedFile> = new Map();

  constructor(
    folder: string,
    identity: Pick<Manifest, "company" | "layout">,
    tables: TableSet,
    manifest: Manifest | undefined,
  ) {
    this.#folder = folder;
    this.#identity = identity;
    this.#tables = tables;
    this.#manifest = manifest;
    this.#next = manifest?.next ?? 1;
  }

  get record(): StageRecord | undefined {
    return this.#manifest?.record;
  }

  get staged(): number {
    return this.#manifest?.batches.reduce((sum, batch) => sum + (batch.main?.rows ?? 0), 0) ?? 0;
  }

  get widest(): number {
    const { main, children } = this.#tables;
    return [main, ...children].reduce((sum, table) => sum + widestOf(this.#filesOf(table)), 0);
  }

  async begin(record: StageRecord): Promise<void> {
    await attempting("empty the stage", async () => {
      await makeFolder(this.#folder, 0o700);
      const manifest = { ...this.#identity, record, next: this.#next, batches: [] };
      await writeManifest(this.#folder, manifest);
      this.#manifest = manifest;
      this.#picked = new Map();
      await removeUnnamed(this.#folder, manifest);
    });
  }

  async append(batch: Batch, record: StageRecord): Promise<void> {
    this.#picked = new Map();
    const before = this.#manifest;
    if (before === undefined) throw new TypeError("a stage takes rows only after begin()");
    const number = this.#next++;
    await attempting("store rows in the stage", async () => {
      const written: { file: StagedFile; bytes: Buffer }[] = [];
      const fileOf = (name: string, { bytes, rows, longest, wide }: EncodedTable) => {
        if (rows === 0) return undefined;
        const file = { name: `${number}.${name}.csv`, bytes: bytes.length, rows, longest, wide: [...wide] };
        written.push({ file, bytes });
        return file;
      };
      const files = {
        keys: fileOf("keys", batch.keys),
        main: fileOf("main", batch.main),
        children: batch.children.map((child, index) => fileOf(`child${index}`, child) ?? null),
        outcomes: fileOf("outcomes", batch.outcomes),
      };
      const manifest = { ...before, record, next: this.#next, batches: [...before.batches, files] };
      try {
        await Promise.all(
          written.map(({ file, bytes }) => writeDurably(join(this.#folder, file.name), bytes, 0o600, "wx")),
        );
        await writeManifest(this.#folder, manifest);
      } catch (error) {
        // Should the manifest have got through all the same, its missing files make it count for nothing.
        await Promise.allSettled(written.map(({ file }) => remove(join(this.#folder, file.name))));
        throw error;
      }
      this.#manifest = manifest;
    });
  }

  keys(): Fragment {
    return relationOf(
      this.#folder,
      this.#files(batch => batch.keys),
      stagedColumns(this.#tables).keys,
    );
  }

  async only(sequences: readonly number[]): Promise<void> {
    this.#picked = new Map();
    const picked = new Map<string, StagedFile>();
    await attempting("read the stage", async () => {
      for (const table of [this.#tables.main, ...this.#tables.children]) {
        const files = this.#filesOf(table);
        if (files.length === 0) continue;
        const name = `picked.${picked.size}.csv`;
        const lines = files.map(file => ({ ...file, path: join(this.#folder, file.name) }));
        const found = await pickLines(lines, sequences, join(this.#folder, name));
        const isMain = table === this.#tables.main;
        if (found === undefined || (isMain && found.sequences !== sequences.length)) return;
        const longest = Math.max(...files.map(file => file.longest));
        const wide = [...new Set(files.flatMap(file => file.wide))];
        picked.set(table.name, { name, bytes: 0, rows: found.rows, longest, wide });
      }
      this.#picked = picked;
    });
  }

  rows(table: Table): Fragment {
    const child = this.#tables.children.findIndex(candidate => candidate.name === table.name);
    const picked = this.#picked.get(table.name);
    const files = picked === undefined ? this.#filesOf(table) : picked.rows === 0 ? [] : [picked];
    const { main, children } = stagedColumns(this.#tables);
    const relation = relationOf(this.#folder, files, children[child] ?? main);
    // Where BIGINTs of both sides span up to a million DuckDB's hash join makes a place for every number between, in each
    // column: 700 MB for 10,000 picked items, which its limit doesn't count. Not where one of them has to be cast.
    return sql`(select * replace (_seq::hugeint as _seq) from ${relation})`;
  }

  outcomes(): Fragment {
    return relationOf(
      this.#folder,
      this.#files(batch => batch.outcomes),
      stagedColumns(this.#tables).outcomes,
    );
  }

  #filesOf(table: Table): StagedFile[] {
    const child = this.#tables.children.findIndex(candidate => candidate.name === table.name);
    return this.#files(batch => (child === -1 ? batch.main : batch.children[child]));
  }

  #files(pick: (batch: Manifest["batches"][number]) => StagedFile | null | undefined): StagedFile[] {
    return (this.#manifest?.batches ?? []).map(pick).filter(file => file !== undefined && file !== null);
  }

  async drop(): Promise<void> {
    await attempting("remove the stage", async () => {
      await makeFolder(this.#folder, 0o700);
      await removeManifest(this.#folder);
      this.#manifest = undefined;
      this.#picked = new Map();
      // Without their manifest the files are none of a stage: the next one removes what stays.
      await remove(this.#folder).catch(() => undefined);
    });
  }
}

/** Rows of a column that DuckDB has in memory at once, whatever they weigh: its vectors. */
const VECTOR = 2_048;

/** Bytes of the widest rows that stand together in a vector. */
function widestOf(files: readonly StagedFile[]): number {
  let [widest, bytes, rows, first] = [0, 0, 0, 0];
  for (const file of files) {
    bytes += file.bytes;
    rows += file.rows;
    for (let next = files[first]!; rows - next.rows >= VECTOR; next = files[++first]!) {
      bytes -= next.bytes;
      rows -= next.rows;
    }
    // All of a file that has more.
    widest = Math.max(widest, rows > VECTOR && first === files.indexOf(file) ? (bytes * VECTOR) / rows : bytes);
  }
  return widest;
}
