import { promisify } from "node:util";
import { constants, createZstdCompress, gzip } from "node:zlib";
import type { ArchiveConfig } from "../../config/config.ts";
import { Mutex } from "../../mutex.ts";
import { indexOf } from "./frame_index.ts";

/** Lines wait for each other up to so many bytes: small pieces compress badly. */
export const PIECE_BYTES = 1024 * 1024;

export type Compression = ArchiveConfig["compression"];

/** Makes lines a piece of a file, which can be read by itself; beside the main thread. `heads` is what stands before their bodies. */
export type Pack = (lines: Buffer, heads: readonly string[]) => Promise<Buffer>;

/** A piece comes out in one part, mostly. */
const chunkSize = PIECE_BYTES / 2;
const compressGzip = promisify(gzip);

export const packer = (compression: Compression): Pack =>
  compression === "zstd" ? zstdPacker() : lines => compressGzip(lines, { level: constants.Z_BEST_SPEED, chunkSize });

/** Pieces are frames, each with its index behind it. */
function zstdPacker(): Pack {
  const compress = zstdCompressor();
  return async (lines, heads) => {
    const frame = await compress(lines);
    return Buffer.concat([frame, await indexOf(frame, heads, compress)]);
  };
}

/** One compressor for all frames: V8 counts the megabyte that each one takes, and collects its whole heap as often as some have come and gone. */
function zstdCompressor(): (bytes: Buffer) => Promise<Buffer> {
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag, ZSTD_e_end } = constants;
  const params = { [ZSTD_c_compressionLevel]: 1, [ZSTD_c_checksumFlag]: 1 };
  const compressor = createZstdCompress({ params, chunkSize, flush: ZSTD_e_end });
  const turns = new Mutex();
  let found: Buffer[] = [];
  compressor.on("data", (part: Buffer) => void found.push(part));
  return bytes =>
    turns.run(async () => {
      found = [];
      await new Promise<void>((resolve, reject) => {
        compressor.once("error", reject);
        compressor.write(bytes, error => {
          compressor.off("error", reject);
          if (error) reject(error);
          else resolve();
        });
      });
      return found.length === 1 ? found[0]! : Buffer.concat(found);
    });
}

/** Lines that wait to be packed, copied into one buffer: an answer that was kept itself would outlive the young generation. */
export interface Piece {
  readonly buffer: Buffer;
  /** What stands before the bodies of its lines. */
  readonly heads: string[];
  bytes: number;
}

/** As many buffers lie ready as are written side by side, mostly. */
const MOST_FREE = 4;

/** The buffers of pieces, which take turns. */
export class Pieces {
  readonly #free: Buffer[] = [];

  /** An empty piece with room for so many bytes at least. */
  take(bytes: number): Piece {
    const pooled = bytes <= PIECE_BYTES ? this.#free.pop() : undefined;
    return { buffer: pooled ?? Buffer.allocUnsafeSlow(Math.max(bytes, PIECE_BYTES)), heads: [], bytes: 0 };
  }

  give({ buffer }: Piece): void {
    if (buffer.length === PIECE_BYTES && this.#free.length < MOST_FREE) this.#free.push(buffer);
  }
}
