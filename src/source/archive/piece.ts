import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

/** Lines wait for each other up to so many bytes: small pieces compress badly. */
export const PIECE_BYTES = 1024 * 1024;

const compress = promisify(gzip);
/** A piece comes out in one part, mostly. */
const packing = { level: constants.Z_BEST_SPEED, chunkSize: PIECE_BYTES / 2 };

/** Lines as a piece of a file, which can be read by itself; compressed beside the main thread. */
export function packed(lines: readonly Buffer[]): Promise<Buffer> {
  return compress(Buffer.concat(lines), packing);
}
