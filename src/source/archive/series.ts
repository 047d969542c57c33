import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, makeFolder, syncFolder } from "../../files.ts";
import type { WrittenLine } from "./line.ts";
import type { Pack, Piece, Pieces } from "./piece.ts";
import { fileName } from "./places.ts";

/** A file that has become as large as this is followed by another one. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/** How files are written: `largest` in bytes, compressed (64 MB). */
export interface Writing {
  readonly pack: Pack;
  readonly pieces: Pieces;
  readonly largest?: number | undefined;
}

/** The files of one run and stream, in compressed pieces that can be read by themselves: a cut file lacks only its last one. The first failure ends it; `kept` tells of it. */
export class Series {
  readonly #folder: string;
  readonly #run: string;
  readonly #writing: Writing;
  /** Pieces to be written: full ones, and those that a call of `kept` closed. */
  #waiting: Piece[] = [];
  #filling: Piece | undefined;
  #taken = 0;
  #written = 0;
  #synced = 0;
  #nth = 0;
  #bytes = 0;
  #handle: FileHandle | undefined;
  #working: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(folder: string, run: string, writing: Writing) {
    this.#folder = folder;
    this.#run = run;
    this.#writing = writing;
  }

  /** Copies a line; it is written soon, or when `kept` is called. */
  add(pieces: WrittenLine): void {
    if (this.#failure !== undefined) return;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    if (this.#filling !== undefined && this.#filling.bytes + bytes > this.#filling.buffer.length) this.#close();
    this.#filling ??= this.#writing.pieces.take(bytes);
    for (const part of pieces) this.#filling.bytes += part.copy(this.#filling.buffer, this.#filling.bytes);
    this.#filling.lines++;
    this.#taken++;
  }

  /** Resolves when every line taken so far is on the disk. Rejects with what kept it from that. */
  async kept(): Promise<void> {
    const upTo = this.#taken;
    this.#close();
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

  /** Nothing more is added to the piece that is being filled. */
  #close(): void {
    if (this.#filling === undefined) return;
    this.#waiting.push(this.#filling);
    this.#filling = undefined;
    this.#work();
  }

  #work(): void {
    this.#working ??= this.#writePieces()
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #writePieces(): Promise<void> {
    const { pack, pieces } = this.#writing;
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      const written = await pack(piece.buffer.subarray(0, piece.bytes));
      pieces.give(piece);
      const handle = await this.#file();
      await handle.appendFile(written);
      this.#bytes += written.length;
      this.#written += piece.lines;
    }
  }

  async #file(): Promise<FileHandle> {
    if (this.#handle !== undefined && this.#bytes < (this.#writing.largest ?? LARGEST_BYTES)) return this.#handle;
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
    this.#filling = undefined;
  }
}

async function create(path: string): Promise<FileHandle> {
  await makeFolder(dirname(path), 0o700);
  return open(path, "a", 0o600);
}

const isNoEntry = (error: unknown): boolean => codeOf(error) === "ENOENT";
