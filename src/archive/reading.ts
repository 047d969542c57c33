import { createReadStream } from "node:fs";
import { constants, createGunzip } from "node:zlib";
import { type Line, readLine } from "./line.ts";

/**
 * The lines of an archive's file, in order. A file that was cut off ends with its last whole line; `odd` is told of what is
 * no line of ours, and of a file that cannot be read to its end.
 */
export async function* linesOf(path: string, odd: (what: string) => void): AsyncGenerator<Line> {
  const unpacked = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const packed = createReadStream(path).on("error", error => unpacked.destroy(error));
  packed.pipe(unpacked);
  let rest: Buffer[] = [];
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        const last = chunk.subarray(from, end);
        const line = readLine(rest.length === 0 ? last : Buffer.concat([...rest, last]));
        rest = [];
        from = end + 1;
        if (line === undefined) odd("a line that is no answer of this version");
        else yield line;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  } catch (error) {
    odd(`it cannot be read to its end (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}
