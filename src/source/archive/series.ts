import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, syncFolder } from "../../files.ts";
import { PIECE_BYTES, packed } from "./piece.ts";
import { fileName } from "./places.ts";

/** A file that has become as large as this is followed by another one. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/** The files of one run and stream, in compressed pieces that can be read by themselves: a cut file lacks only its last one. The first failure ends it; `kept` tells of it. */
export class Series {
  readonly #folder: string;
  readonly #run: string;
  readonly #largest: number;
  #waiting: (readonly Buffer[])[] = [];
  #waitingBytes = 0;
  #taken = 0;
  #written = 0;
  #synced = 0;
  #nth = 0;
  #bytes = 0;
  #handle: FileHandle | undefined;
  #working: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(folder: string, run: string, largest: number = LARGEST_BYTES) {
    this.#folder = folder;
    this.#run = run;
    this.#largest = largest;
  }

  /** Takes a line in pieces; it is written soon, or when `kept` is called. */
  add(line: readonly Buffer[]): void {
    if (this.#failure !== undefined) return;
    this.#waiting.push(line);
    for (const { length } of line) this.#waitingBytes += length;
    this.#taken++;
    if (this.#waitingBytes >= PIECE_BYTES) this.#work();
  }

  /** Resolves when every line taken so far is on the disk. Rejects with what kept it from that. */
  async kept(): Promise<void> {
    const upTo = this.#taken;
    while (this.#synced < upTo && this.#failure === undefined) {
      this.#work();
      await this.#working;
      if (this.#written < upTo || this.#failure !== undefined) continue;
      const written = this.#written;
      await this.#handle?.datasync().catch(error => this.#fail(error));
      if (this.#failure === undefined) this.#synced = Math.max(this.#synced, written);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    try {
      await this.kept();
    } finally {
      await this.#working;
      const handle = this.#handle;
      this.#handle = undefined;
      await handle?.close();
    }
  }

  #work(): void {
    this.#working ??= this.#writePieces()
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #writePieces(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      this.#waitingBytes = 0;
      const piece = await packed(lines.flat());
      const handle = await this.#file();
      await handle.appendFile(piece);
      this.#bytes += piece.length;
      this.#written += lines.length;
    }
  }

  async #file(): Promise<FileHandle> {
    if (this.#handle !== undefined && this.#bytes < this.#largest) return this.#handle;
    const full = this.#handle;
    const path = join(this.#folder, fileName(this.#run, ++this.#nth));
    // Another run may remove the folder as an empty one before the file is in it.
    const handle = await create(path).catch(error => (isNoEntry(error) ? create(path) : Promise.reject(error)));
    this.#handle = handle;
    this.#bytes = 0;
    await full?.datasync();
    await full?.close();
    // A new file's name is on the disk too.
    await syncFolder(this.#folder);
    return handle;
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

async function create(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, "a", 0o600);
}

const isNoEntry = (error: unknown): boolean => codeOf(error) === "ENOENT";
