/** Finds any of some texts in bytes of UTF-8, letters of either case alike: one look for every so many bytes as the shortest text has, less one. */
export class ByteSearch {
  readonly #step: number;
  /** Which two bytes that follow each other may be of the beginning of a text, as long as the shortest: the first of their places, from 1. */
  readonly #firsts = new Uint16Array(1 << 14);
  readonly #places: Place[] = [];

  /** Each text has two bytes or more. */
  constructor(texts: readonly string[]) {
    const all = texts.map(text => Buffer.from(text));
    this.#step = Math.min(...all.map(({ length }) => length), 1 << 10) - 1;
    for (const text of all)
      for (let at = 1; at <= this.#step; at++) {
        const pair = pairOf(text[at - 1]!, text[at]!);
        const next = this.#firsts[pair]!;
        this.#firsts[pair] = this.#places.push({ text, at, next });
      }
  }

  /** Where one begins, at `from` or behind it; -1: nowhere. Letters are alike without a bit, which makes others alike: it may be none. */
  find(bytes: Buffer, from = 0): number {
    const firsts = this.#firsts;
    const step = this.#step;
    const { length } = bytes;
    for (let at = from + 1; at < length; at += step) {
      for (let nth = firsts[pairOf(bytes[at - 1]!, bytes[at]!)]!; nth > 0; ) {
        const place = this.#places[nth - 1]!;
        if (at - place.at >= from && isAt(bytes, at - place.at, place.text)) return at - place.at;
        nth = place.next;
      }
    }
    return -1;
  }
}

function isAt(bytes: Buffer, begin: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if ((bytes[begin + at]! | 32) !== (text[at]! | 32)) return false;
  return true;
}

/** Where in a text two bytes end, and the next place that they have, from 1; 0: none. */
interface Place {
  readonly text: Buffer;
  readonly at: number;
  readonly next: number;
}

const pairOf = (first: number, second: number): number => (((first | 32) & 127) << 7) | ((second | 32) & 127);
