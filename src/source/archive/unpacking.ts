import { createReadStream } from "node:fs";
import { promisify } from "node:util";
import {
  constants,
  createGunzip,
  createZstdDecompress,
  type Gunzip,
  type ZstdDecompress,
  zstdDecompress,
  zstdDecompressSync,
} from "node:zlib";
import { headsIn } from "./frame_index.ts";
import { Frames } from "./frames.ts";
import { type Head, readHead } from "./line.ts";
import { PIECE_BYTES } from "./piece.ts";
import { compressionOf } from "./places.ts";

/** What is read in one step, and unpacked where a file has no frames: with steps of 4 kB it takes three times as much CPU. */
const STEP_BYTES = 64 * 1024;
/** A step is lost with whatever is damaged in it: what turns out to be is unpacked again in such ones. */
const CAREFUL_STEP_BYTES = 4 * 1024;
/** Who packed a file anew may have made one frame of it all, which memory need not hold unpacked. */
const LARGEST_PIECE_BYTES = 4 * PIECE_BYTES;

/** The text of a frame, or only the heads of its lines, by its index, where no body is wanted. */
export type Part = Buffer | readonly Head[];

/** Whether lines of a file, so many from this place on, are wanted with their bodies. */
export type Wants = (nth: number, lines: number) => boolean;

type Failed = (error: Error) => void;

/** Reads a file from its beginning to its end, or up to the first damage, which `failed` gets as an error. */
export const partsOf = (path: string, wants: Wants, failed: Failed): AsyncGenerator<Part> =>
  compressionOf(path) === "zstd" ? partsOfFrames(path, wants, failed) : partsOfStream(path, failed);

async function* partsOfStream(path: string, failed: Failed): AsyncGenerator<Buffer> {
  let given = 0;
  let failure: Error | undefined;
  for (const stepBytes of [STEP_BYTES, CAREFUL_STEP_BYTES]) {
    let known = given;
    failure = undefined;
    const decoder = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: STEP_BYTES });
    const packed = createReadStream(path, { highWaterMark: stepBytes });
    for await (const piece of unpacked(packed, decoder, error => (failure ??= error))) {
      const more = piece.subarray(known);
      known = Math.max(0, known - piece.length);
      given += more.length;
      yield more;
    }
    if (failure === undefined) return;
  }
  failed(failure!);
}

async function* partsOfFrames(path: string, wants: Wants, failed: Failed): AsyncGenerator<Part> {
  let isBroken = false;
  const fail = (error: Error): void => {
    isBroken = true;
    failed(error);
  };
  // Undefined from the first frame without an index on: how many lines it holds is unknown here.
  let nth: number | undefined = 0;
  for await (const { frame, index } of indexedFrames(path, fail)) {
    const indexed: readonly string[] | undefined = nth === undefined ? undefined : indexedHeads(frame, index);
    const heads = indexed === undefined || wants(nth!, indexed.length) ? undefined : readHeads(indexed);
    if (heads !== undefined) yield heads;
    else yield* unpackedFrame(frame, fail);
    if (isBroken) return;
    nth = indexed && nth! + indexed.length;
  }
}

/** What comes out at once: a buffer of a megabyte for each small frame would have V8 collect its whole heap again and again. */
const chunkFor = (packed: Buffer) => ({
  chunkSize: Math.min(PIECE_BYTES, Math.max(CAREFUL_STEP_BYTES, 8 * packed.length)),
});

function indexedHeads(frame: Buffer, index: Buffer | undefined): readonly string[] | undefined {
  if (index === undefined) return undefined;
  try {
    // So little that a thread of its own would take longer.
    return headsIn(zstdDecompressSync(index, chunkFor(index)).toString(), frame);
  } catch {
    return undefined;
  }
}

function readHeads(texts: readonly string[]): readonly Head[] | undefined {
  const heads = texts.map(readHead);
  return heads.every(head => head !== undefined) ? heads : undefined;
}

const unpackWhole = promisify<Buffer, { chunkSize: number }, Buffer>(zstdDecompress);

async function* unpackedFrame(frame: Buffer, failed: Failed): AsyncGenerator<Buffer> {
  const isPiece = frame.length <= LARGEST_PIECE_BYTES;
  const whole = isPiece ? await unpackWhole(frame, chunkFor(frame)).catch(() => undefined) : undefined;
  if (whole !== undefined) yield whole;
  else yield* unpacked(stepsThrough(frame), createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }), failed);
}

function* stepsThrough(frame: Buffer): Generator<Buffer> {
  for (let at = 0; at < frame.length; at += CAREFUL_STEP_BYTES) yield frame.subarray(at, at + CAREFUL_STEP_BYTES);
}

/** Frames of data, and what stands behind each that decoders skip; a file that was cut off ends with a part of one. */
async function* indexedFrames(
  path: string,
  failed: Failed,
): AsyncGenerator<{ readonly frame: Buffer; readonly index: Buffer | undefined }> {
  const frames = new Frames();
  let last: Buffer | undefined;
  try {
    for await (const packed of createReadStream(path, { highWaterMark: STEP_BYTES }))
      for (const frame of frames.cut(packed)) {
        if (last !== undefined) yield { frame: last, index: frame.skipped };
        last = frame.skipped === undefined ? frame.bytes : undefined;
      }
  } catch (error) {
    failed(error as Error);
  }
  if (last !== undefined) yield { frame: last, index: undefined };
  const cutOff = frames.cutOff();
  if (cutOff.length > 0) yield { frame: cutOff, index: undefined };
}

/** What comes out of packed steps, up to the first one in which something is damaged. */
async function* unpacked(
  packed: AsyncIterable<Buffer> | Iterable<Buffer>,
  decoder: Gunzip | ZstdDecompress,
  failed: Failed,
): AsyncGenerator<Buffer> {
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
    for await (const step of packed) {
      await done(decoder, callback => decoder.write(step, callback));
      yield* take();
      if (isBroken) break;
    }
    if (!isBroken) await done(decoder, callback => decoder.end(callback));
    yield* take();
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
