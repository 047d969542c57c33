import { constants, createZstdCompress } from "node:zlib";
import { Mutex } from "../../mutex.ts";

/** Lines wait for each other up to so many bytes: small pieces compress badly. */
export const PIECE_BYTES = 1024 * 1024;

/** Makes lines a piece of a file, a frame which can be read by itself; beside the main thread. */
export type Pack = (lines: Buffer) => Promise<Buffer>;

/** A piece comes out in one part, mostly. */
const chunkSize = PIECE_BYTES / 2;

/** One compressor for all frames: V8 counts the megabyte that each one takes, and collects its whole heap as often as some have come and gone. */
export function packer(): Pack {
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
  lines: number;
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
    return { buffer: pooled ?? Buffer.allocUnsafeSlow(Math.max(bytes, PIECE_BYTES)), lines: 0, bytes: 0 };
  }

  give({ buffer }: Piece): void {
    if (buffer.length === PIECE_BYTES && this.#free.length < MOST_FREE) this.#free.push(buffer);
  }
}
