import { createReadStream } from "node:fs";
import { constants, createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";
import { Frames } from "./frames.ts";
import { type Line, readLine } from "./line.ts";
import { compressionOf } from "./places.ts";

/** What is unpacked in one step, and what comes out of it at once: with steps of 4 kB a file takes three times as much CPU. */
const STEP_BYTES = 64 * 1024;
/** A step is lost with whatever is damaged in it: a file that turns out to be is read again in such ones. */
const CAREFUL_STEP_BYTES = 4 * 1024;

/** The lines of an archive's file; of one that was cut off, up to its last whole line. `odd` is told of foreign lines, and of files that cannot be read to their end. */
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
  let given = 0;
  let failure: Error | undefined;
  for (const stepBytes of [STEP_BYTES, CAREFUL_STEP_BYTES]) {
    let known = given;
    failure = undefined;
    for await (const pieces of begunAhead(stepsOf(path, stepBytes, error => (failure ??= error))))
      for (const piece of pieces) {
        const more = piece.subarray(known);
        known = Math.max(0, known - piece.length);
        given += more.length;
        yield more;
      }
    if (failure === undefined) return;
  }
  odd(`it cannot be read to its end (${failure?.message})`);
}

/** Unpacks a step, on a thread of its own, while the one before it is read. */
async function* begunAhead<T>(steps: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = steps.next();
  try {
    for (let step = await coming; step.done !== true; step = await coming) {
      coming = steps.next();
      yield step.value;
    }
  } finally {
    await coming;
    await steps.return(undefined);
  }
}

async function* stepsOf(
  path: string,
  stepBytes: number,
  failed: (error: Error) => void,
): AsyncGenerator<readonly Buffer[]> {
  const isZstd = compressionOf(path) === "zstd";
  const decoder = isZstd
    ? createZstdDecompress({ finishFlush: constants.ZSTD_e_flush, chunkSize: STEP_BYTES })
    : createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: STEP_BYTES });
  const frames = isZstd ? new Frames() : undefined;
  let found: Buffer[] = [];
  let isBroken = false;
  const fail = (error: Error): void => {
    isBroken = true;
    failed(error);
  };
  decoder.on("data", (piece: Buffer) => void found.push(piece)).on("error", fail);
  const take = (): Buffer[] => {
    const pieces = found;
    found = [];
    return pieces;
  };
  try {
    for await (const packed of createReadStream(path, { highWaterMark: stepBytes })) {
      for (const part of frames?.cut(packed) ?? [packed])
        if (!isBroken) await done(decoder, callback => decoder.write(part, callback));
      yield take();
      if (isBroken) break;
    }
    if (!isBroken) await done(decoder, callback => decoder.end(callback));
    yield take();
  } catch (error) {
    fail(error as Error);
  } finally {
    decoder.destroy();
  }
}

function done(decoder: Gunzip | ZstdDecompress, step: (callback: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      decoder.off("close", end);
      resolve();
    };
    decoder.once("close", end);
    step(end);
  });
}
