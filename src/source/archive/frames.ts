/** Finds where the frames of a zstd file end (RFC 8878, 3.1.1): Node's decoder forgets what is written to it behind the end of one. */
export class Frames {
  /** Of a frame or block, as far as it is here. */
  #header: number[] = [];
  #isInFrame = false;
  #isChecked = false;
  #isLast = false;
  /** Bytes of the block, and of the checksum behind the last one, that are still to come. */
  #left = 0;

  /** Bytes that follow those before, in parts that none goes beyond the end of a frame. */
  *cut(bytes: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left === 0) this.#take(bytes[at++]!);
      const step = Math.min(this.#left, bytes.length - at);
      this.#left -= step;
      at += step;
      if (!this.#isLast || this.#left > 0) continue;
      yield bytes.subarray(from, at);
      from = at;
      this.#isLast = false;
      this.#isInFrame = false;
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }

  #take(byte: number): void {
    const header = this.#header;
    header.push(byte);
    if (header.length < (this.#isInFrame ? 3 : frameHeaderBytes(header))) return;
    this.#header = [];
    if (this.#isInFrame) {
      const facts = header[0]! | (header[1]! << 8) | (header[2]! << 16);
      this.#isLast = (facts & 1) === 1;
      const isRepeated = ((facts >> 1) & 3) === 1;
      this.#left = (isRepeated ? 1 : facts >> 3) + (this.#isLast && this.#isChecked ? 4 : 0);
    } else {
      this.#isInFrame = true;
      this.#isChecked = (header[4]! & 4) !== 0;
    }
  }
}

/** Magic number, descriptor, and what the descriptor says follows: window, dictionary and the size of the content. */
function frameHeaderBytes([, , , , descriptor]: readonly number[]): number {
  if (descriptor === undefined) return 5;
  const isSingle = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  return 5 + (1 - isSingle) + [0, 1, 2, 4][descriptor & 3]! + (sizeFlag === 0 ? isSingle : 1 << sizeFlag);
}
