/** The first bytes of a frame. */
const DATA = 0xfd2fb528;

/** Size and kind of a block, and whether it is the last one. */
const BLOCK_HEAD_BYTES = 3;

/** Finds where the frames of a zstd file end (RFC 8878, 3.1): each can be unpacked by itself. */
export class Frames {
  /** Of a frame or block, as far as it is here. */
  #header: number[] = [];
  #isBegun = false;
  #isChecked = false;
  #isLast = false;
  /** Bytes of the block, and of the checksum behind the last one, that are still to come. */
  #left = 0;
  #parts: Buffer[] = [];

  /** The frames that end in bytes which follow those before. @throws Error where one begins like none */
  *cut(bytes: Buffer): Generator<Buffer> {
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
      yield frame;
      this.#isLast = false;
      this.#isBegun = false;
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
    if (this.#isBegun) {
      if (header.length < BLOCK_HEAD_BYTES) return;
      const facts = header[0]! | (header[1]! << 8) | (header[2]! << 16);
      this.#isLast = (facts & 1) === 1;
      const isRepeated = ((facts >> 1) & 3) === 1;
      this.#left = (isRepeated ? 1 : facts >> 3) + (this.#isLast && this.#isChecked ? 4 : 0);
    } else {
      if (header.length < headBytes(header)) return;
      this.#isBegun = true;
      this.#isChecked = (header[4]! & 4) !== 0;
    }
    this.#header = [];
  }
}

/** Magic number, descriptor, and what the descriptor says follows: window, dictionary and the size of the content. */
function headBytes(header: readonly number[]): number {
  const descriptor = header[4];
  if (descriptor === undefined) return 5;
  const magic = header.slice(0, 4).reduce((sum, byte, nth) => sum + byte * 256 ** nth, 0);
  if (magic !== DATA) throw new Error("expected a frame of zstd");
  const isSingle = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  return 5 + (1 - isSingle) + [0, 1, 2, 4][descriptor & 3]! + (sizeFlag === 0 ? isSingle : 1 << sizeFlag);
}
