import { createReadStream } from "node:fs";
import { constants, createGunzip, type Gunzip } from "node:zlib";
import { type Line, readLine } from "./line.ts";

/** What is unpacked in one step is lost with whatever is damaged in it. */
const SLICE_BYTES = 4_096;

/**
 * The lines of an archive's file, in order. A file that was cut off ends with its last whole line; `odd` is told of what is
 * no line of ours, and of a file that cannot be read to its end.
 */
export async function* linesOf(path: string, odd: (what: string) => void): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  for await (const chunk of unpacked(path, odd)) {
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
}

async function* unpacked(path: string, odd: (what: string) => void): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  let found: Buffer[] = [];
  const failures: Error[] = [];
  gunzip.on("data", (piece: Buffer) => void found.push(piece)).on("error", error => void failures.push(error));
  const take = (): Buffer[] => {
    const pieces = found;
    found = [];
    return pieces;
  };
  try {
    for await (const packed of createReadStream(path, { highWaterMark: SLICE_BYTES })) {
      await done(gunzip, callback => gunzip.write(packed, callback));
      yield* take();
      if (failures.length > 0) break;
    }
    if (failures.length === 0) await done(gunzip, callback => gunzip.end(callback));
    yield* take();
  } catch (error) {
    failures.push(error as Error);
  } finally {
    gunzip.destroy();
  }
  if (failures[0] !== undefined) odd(`it cannot be read to its end (${failures[0].message})`);
}

/** Resolves when the step is done, or has failed, which `error` tells of. */
function done(gunzip: Gunzip, step: (callback: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      gunzip.off("close", end);
      resolve();
    };
    gunzip.once("close", end);
    step(end);
  });
}
