import { bodyWasm } from "./body_wasm.ts";

/** As much of it as is used: its types come with those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  longFrom(at: number, end: number): number;
  isFar(end: number): number;
}

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(bodyWasm, "base64")));
const { memory, longFrom, isFar } = exports as Exports;
const held = new Uint8Array(memory.buffer);
const PADDING = 48;

/** Larger ones are looked at in JavaScript. */
export const MOST_LOOKED_AT = held.length - PADDING;

/** What a look at a body tells: 16 bytes at a time, in two fifths of the time that loops and regular expressions take. */
export interface Look {
  /** Whether an e stands between a digit and three of them, as in a power of ten that no double reaches. */
  readonly mayBeFar: boolean;
  /** The first place from `at` on in 16 or more digits, points and slashes in a row; -1 for none. Until the next look. */
  readonly longRunFrom: (at: number) => number;
}

/** Looks at a body of `MOST_LOOKED_AT` bytes at most. */
export function lookAt(bytes: Uint8Array): Look {
  const { length } = bytes;
  held.set(bytes);
  held.fill(0, length, length + PADDING);
  return { mayBeFar: isFar(length) !== 0, longRunFrom: at => longFrom(at & -16, length) };
}
