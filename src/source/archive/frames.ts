/** Magic numbers of frames: of data, and of sixteen kinds that decoders skip. */
const DATA = 0xfd2fb528;
const SKIPPED = 0x184d2a50;

/** The head of a frame that decoders skip: its magic number, and the size of what follows. */
const SKIPPED_HEAD_BYTES = 8;
/** Size and kind of a block, and whether it is the last one. */
const BLOCK_HEAD_BYTES = 3;

/** A frame of a zstd file, as it stands there; `skipped`: what one holds that decoders skip. */
export interface Frame {
  readonly bytes: Buffer;
  readonly skipped: Buffer | undefined;
}

/** Finds where the frames of a zstd file end (RFC 8878, 3.1): each can be unpacked by itself. */
export class Frames {
  /** Of a frame or block, as far as it is here. */
  #header: number[] = [];
  #kind: "data" | "skipped" | undefined;
  #isChecked = false;
  #isLast = false;
  /** Bytes of the block, and of the checksum behind the last one, that are still to come. */
  #left = 0;
  #parts: Buffer[] = [];

  /** The frames that end in bytes which follow those before. @throws Error where one begins like none */
  *cut(bytes: Buffer): Generator<Frame> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left === 0) this.#take(bytes[at++]!);
      const step = Math.min(this.#left, bytes.length - at);
      this.#left -= step;
      at += step;
      if (!this.#isLast || this.#left > 0) continue;
      this.#parts.push(bytes.subarray(from, at));
      const frame = this.cutOff();
      from = at;
      yield { bytes: frame, skipped: this.#kind === "skipped" ? frame.subarray(SKIPPED_HEAD_BYTES) : undefined };
      this.#isLast = false;
      this.#kind = undefined;
    }
    if (from < bytes.length) this.#parts.push(bytes.subarray(from));
  }

  /** What is here of a frame whose end is not. */
  cutOff(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  #take(byte: number): void {
    const header = this.#header;
    header.push(byte);
    if (this.#kind === "data") {
      if (header.length < BLOCK_HEAD_BYTES) return;
      const facts = header[0]! | (header[1]! << 8) | (header[2]! << 16);
      this.#isLast = (facts & 1) === 1;
      const isRepeated = ((facts >> 1) & 3) === 1;
      this.#left = (isRepeated ? 1 : facts >> 3) + (this.#isLast && this.#isChecked ? 4 : 0);
    } else {
      if (header.length < (isSkipped(header) ? SKIPPED_HEAD_BYTES : dataHeadBytes(header))) return;
      this.#kind = isSkipped(header) ? "skipped" : "data";
      this.#isChecked = (header[4]! & 4) !== 0;
      this.#isLast = this.#kind === "skipped";
      if (this.#isLast) this.#left = wordAt(header, 4);
    }
    this.#header = [];
  }
}

/** A number of four bytes, the lowest first. */
const wordAt = (bytes: readonly number[], at: number): number =>
  [0, 1, 2, 3].reduce((sum, nth) => sum + (bytes[at + nth] ?? 0) * 256 ** nth, 0);

const isSkipped = (header: readonly number[]): boolean =>
  header.length >= 4 && wordAt(header, 0) - SKIPPED >= 0 && wordAt(header, 0) - SKIPPED < 16;

/** Magic number, descriptor, and what the descriptor says follows: window, dictionary and the size of the content. */
function dataHeadBytes(header: readonly number[]): number {
  const descriptor = header[4];
  if (descriptor === undefined) return 5;
  if (wordAt(header, 0) !== DATA) throw new Error("what stands there is no frame of zstd");
  const isSingle = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  return 5 + (1 - isSingle) + [0, 1, 2, 4][descriptor & 3]! + (sizeFlag === 0 ? isSingle : 1 << sizeFlag);
}

/** A frame that decoders skip. */
export function frameToSkip(content: Buffer): Buffer {
  const head = Buffer.alloc(SKIPPED_HEAD_BYTES);
  head.writeUInt32LE(SKIPPED, 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}
