/*
 * What stands where in memory. A table's program, which src/rows/page_reader.ts writes: a head of 16 words, then 32 bytes a
 * column in the order of its CSV. Behind a page's body the tape, which is what `scan` finds: for each row a head of 48 bytes,
 * then 8 bytes a column. Behind it the lines.
 */

export const PROGRAM: usize = 1024;
/** Where lists of members begin and end while an object is written. */
export const MEMBERS: usize = 0xc000;
export const BODY: usize = 0x10000;

// The program's head: how many columns, how many of them come first which say whether a row changed, how many make the key;
// the place of the column that the high-water mark is taken from, or as many as there are; the places of the key's.
export const COLUMNS: usize = 0;
export const STABLE: usize = 4;
export const KEYS: usize = 8;
export const TIME_PLACE: usize = 12;
export const KEY_PLACES: usize = 24;

// A column: its field's name with the quote behind it (no length: it is no field of a row), its kind, what it holds in every row
// of the page; the place of the column whose field came behind it in the row before, in the head of the one that came first.
export const NAME: usize = 0;
export const NAME_LENGTH: usize = 4;
export const KIND: usize = 8;
export const BESIDE_START: usize = 12;
export const BESIDE_LENGTH: usize = 16;
export const FOLLOWING: usize = 20;

/** Kinds of columns, as far as they are written in different ways. */
export const TEXT: u32 = 0;
export const DECIMAL: u32 = 1;
export const COUNT: u32 = 2;
export const SCORE: u32 = 3;
export const FLAG: u32 = 4;
export const DATE: u32 = 5;
export const MOMENT: u32 = 6;
export const WHOLE: u32 = 7;
/** The same bytes in every row of a page. */
export const BESIDE: u32 = 8;
/** JSON that is documented to be an object, or an array. */
export const OBJECT: u32 = 9;
export const ARRAY: u32 = 10;

// A row: where its text begins and ends; whether it holds what is not for this reader; where its main line (0: none was written)
// and its key's begin and end, how many fields it lacks and how many of its values were rounded, its time.
export const START: usize = 0;
export const END: usize = 4;
export const ODD: usize = 8;
export const MAIN: usize = 12;
export const KEY: usize = 16;
export const STOP: usize = 20;
export const ABSENT: usize = 24;
export const ROUNDED: usize = 28;
export const TIME: usize = 32;
const ROW: usize = 48;

/** What stands in a field: texts without and with escapes; arrays, objects, and numbers with an exponent. */
export const PLAIN: u32 = 1;
export const ESCAPED: u32 = 2;
export const NUMBER: u32 = 3;
export const TRUE: u32 = 4;
export const FALSE: u32 = 5;
export const NULL: u32 = 6;
export const OTHER: u32 = 7;

export function columns(): u32 {
  return load<u32>(PROGRAM, COLUMNS);
}

export function column(place: u32): usize {
  return PROGRAM + 64 + ((<usize>place) << 5);
}

export function rowSize(): usize {
  return ROW + ((<usize>columns()) << 3);
}

/** A row's field: where its value begins (0: the row lacks it), where it ends, and in the last four bits what it is. */
export function fieldOf(row: usize, place: u32): usize {
  return row + ROW + ((<usize>place) << 3);
}

export function startOf(field: usize): usize {
  return load<u32>(field);
}

export function endOf(field: usize): usize {
  return load<u32>(field, 4) >> 4;
}

export function sortOf(field: usize): u32 {
  return load<u32>(field, 4) & 15;
}

/** Makes room for so many bytes from `at` on, and some that a long load may look at. False: there is none. */
export function hasRoom(at: usize, bytes: usize): bool {
  const needed = <i32>((at + bytes + 0x1003f) >>> 16);
  const pages = memory.size();
  return needed <= pages || memory.grow(needed - pages) >= 0;
}

/** Copies by sixteen bytes: what stands behind is written over later. */
export function copy(to: usize, from: usize, length: usize): void {
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
}
