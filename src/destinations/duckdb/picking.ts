import { open, readFile } from "node:fs/promises";

const QUOTE = 34;
const NEWLINE = 10;

/** What lines were picked: how many, of how many sequence numbers. */
export interface Picked {
  readonly rows: number;
  readonly sequences: number;
}

/**
 * Copies from CSV files the lines that begin with one of these sequence numbers. Both ascend, and several lines in a row may
 * have one number. Where 1 % of a million rows is wanted this takes a tenth of DuckDB's time to read them all. Undefined
 * where the files are in another order than it needs.
 */
export async function pickLines(
  files: readonly string[],
  sequences: readonly number[],
  to: string,
): Promise<Picked | undefined> {
  const target = await open(to, "w", 0o600);
  try {
    let [rows, found, next] = [0, 0, 0];
    let coming = files.length === 0 ? undefined : await readFile(files[0]!);
    for (let i = 0; coming !== undefined; i++) {
      const bytes: Buffer = coming;
      coming = i + 1 < files.length ? await readFile(files[i + 1]!) : undefined;
      const first = firstIn(bytes);
      const behind = coming === undefined ? Number.POSITIVE_INFINITY : firstIn(coming);
      if (!(first < behind)) return undefined;
      while (next < sequences.length && sequences[next]! < first) next++;
      const lines: Buffer[] = [];
      for (let at = 0; next < sequences.length && sequences[next]! < behind; next++) {
        const begins = `${sequences[next]!},`;
        const start = startOf(bytes, begins, at);
        // A row without lines in this table.
        if (start === -1) continue;
        at = start;
        found++;
        do {
          at = endOf(bytes, at);
          rows++;
        } while (isAt(bytes, begins, at));
        lines.push(bytes.subarray(start, at));
      }
      await target.writeFile(Buffer.concat(lines));
    }
    return { rows, sequences: found };
  } finally {
    await target.close();
  }
}

/** The first line's sequence number. */
function firstIn(bytes: Buffer): number {
  return Number.parseInt(bytes.toString("latin1", 0, 20), 10);
}

const isAt = (bytes: Buffer, text: string, at: number): boolean =>
  bytes.toString("latin1", at, at + text.length) === text;

/** Where the first line from `from` on, itself a line's start, begins with these characters; -1 for none. */
function startOf(bytes: Buffer, text: string, from: number): number {
  if (isAt(bytes, text, from)) return from;
  let checked = from;
  let quotes = 0;
  for (let at = bytes.indexOf(`\n${text}`, from); at !== -1; at = bytes.indexOf(`\n${text}`, at + 1)) {
    for (; checked < at; checked++) if (bytes[checked] === QUOTE) quotes++;
    // Within quotes, which are doubled where a value has one, it is a value's own text.
    if (quotes % 2 === 0) return at + 1;
  }
  return -1;
}

/** Behind the line that starts at `from`. */
function endOf(bytes: Buffer, from: number): number {
  let quoted = false;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) quoted = !quoted;
    else if (bytes[at] === NEWLINE && !quoted) return at + 1;
  }
  return bytes.length;
}
