import { createReadStream } from "node:fs";
import { promisify } from "node:util";
import { constants, createZstdDecompress, type ZstdDecompress, zstdDecompress } from "node:zlib";
import { Frames } from "./frames.ts";
import { PIECE_BYTES } from "./piece.ts";

/** What is read in one step. */
const STEP_BYTES = 64 * 1024;
/** A step is lost with whatever is damaged in it: a damaged frame is unpacked again in such ones. */
const CAREFUL_STEP_BYTES = 4 * 1024;
/** Another program may have packed a file as one frame, which memory need not hold unpacked. */
const LARGEST_PIECE_BYTES = 4 * PIECE_BYTES;

type Failed = (error: Error) => void;

/** The text of a file, frame by frame, from its beginning to its end, or up to the first damage, which `failed` gets as an error. */
export async function* partsOf(path: string, failed: Failed): AsyncGenerator<Buffer> {
  let isBroken = false;
  const fail = (error: Error): void => {
    isBroken = true;
    failed(error);
  };
  for await (const frame of framesOf(path, fail)) {
    yield* unpackedFrame(frame, fail);
    if (isBroken) return;
  }
}

/** A file that was cut off ends with a part of a frame. */
async function* framesOf(path: string, failed: Failed): AsyncGenerator<Buffer> {
  const frames = new Frames();
  try {
    for await (const packed of createReadStream(path, { highWaterMark: STEP_BYTES })) yield* frames.cut(packed);
  } catch (error) {
    failed(error as Error);
  }
  const cutOff = frames.cutOff();
  if (cutOff.length > 0) yield cutOff;
}

const unpackWhole = promisify<Buffer, { chunkSize: number }, Buffer>(zstdDecompress);

async function* unpackedFrame(frame: Buffer, failed: Failed): AsyncGenerator<Buffer> {
  // A buffer of a megabyte for each small frame would have V8 collect its whole heap again and again.
  const chunkSize = Math.min(PIECE_BYTES, Math.max(CAREFUL_STEP_BYTES, 8 * frame.length));
  const isPiece = frame.length <= LARGEST_PIECE_BYTES;
  const whole = isPiece ? await unpackWhole(frame, { chunkSize }).catch(() => undefined) : undefined;
  if (whole !== undefined) yield whole;
  else yield* unpackedInSteps(frame, failed);
}

/** The text of a frame up to the first step in which something is damaged. */
async function* unpackedInSteps(frame: Buffer, failed: Failed): AsyncGenerator<Buffer> {
  const decoder = createZstdDecompress({ finishFlush: constants.ZSTD_e_flush });
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
    for (let at = 0; at < frame.length && !isBroken; at += CAREFUL_STEP_BYTES) {
      await done(decoder, callback => decoder.write(frame.subarray(at, at + CAREFUL_STEP_BYTES), callback));
      yield* take();
    }
    if (!isBroken) await done(decoder, callback => decoder.end(callback));
    yield* take();
  } finally {
    decoder.destroy();
  }
}

function done(decoder: ZstdDecompress, step: (callback: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      decoder.off("close", end);
      resolve();
    };
    decoder.once("close", end);
    step(end);
  });
}
