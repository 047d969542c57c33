import { bodyWasm } from "./body_wasm.ts";

/** What a look at a body's bytes told. */
export interface Look {
  /** The same JSON as a text of one byte a character; undefined where only the bytes themselves can be decoded. */
  readonly text: string | undefined;
  /** Whether an e stands between a digit and three of them, as in a power of ten that no double reaches. */
  readonly mayBeFar: boolean;
}

/** As much of it as is used: its types come with those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly out: { readonly value: number };
  longFrom(at: number, end: number): number;
  isFar(end: number): number;
  narrow(end: number): number;
}

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(bodyWasm, "base64")));
const { memory, out, longFrom, isFar, narrow } = exports as Exports;
const bytesOf = Buffer.from(memory.buffer);
const OUT = out.value;
const PADDING = 48;

/** Larger ones are looked at in JavaScript. */
export const MOST_LOOKED_AT = OUT - PADDING;

/** Looks at a body of `MOST_LOOKED_AT` bytes at most: 16 of them at a time, for a third of what loops and decoding cost. */
export function lookAt(bytes: Uint8Array): Look {
  const { length } = bytes;
  bytesOf.set(bytes);
  bytesOf.fill(0, length, length + PADDING);
  const narrowed = narrow(length);
  const text = narrowed < 0 ? undefined : bytesOf.toString("latin1", OUT, OUT + narrowed);
  return { text, mayBeFar: isFar(length) !== 0 };
}

/** The first place from `at` on in 16 or more digits, points and slashes in a row, in the body last looked at; -1 for none. */
export function longRunFrom(at: number, length: number): number {
  return longFrom(at & -16, length);
}
