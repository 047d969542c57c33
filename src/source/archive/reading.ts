import { type Head, type Line, readLine } from "./line.ts";
import { partsOf, type Wants } from "./unpacking.ts";

/** Told of what no run of this version wrote. */
type Odd = (what: string) => void;

/** The lines of an archive's file; of one that was cut off, up to its last whole line. `odd` is told of foreign lines, and of files that cannot be read to their end. */
export async function* linesOf(path: string, odd: Odd): AsyncGenerator<Line> {
  for await (const line of skimmed(path, odd, () => true)) if ("body" in line) yield line;
}

/** What stands before the bodies of a file's lines. */
export async function* headsOf(path: string, odd: Odd): AsyncGenerator<Head> {
  for await (const each of skimmed(path, odd, () => false)) yield "body" in each ? each.head : each;
}

/** All lines of a file in their order: those that are not wanted, mostly, by what stands before their bodies alone, which are not unpacked. */
export async function* skimmed(path: string, odd: Odd, wants: Wants): AsyncGenerator<Line | Head> {
  let failure: Error | undefined;
  const parts = partsOf(path, wants, error => {
    failure ??= error;
  });
  let rest: Buffer[] = [];
  for await (const part of begunAhead(parts)) {
    if (!Buffer.isBuffer(part)) {
      yield* part;
      continue;
    }
    let from = 0;
    for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, from)) {
      const last = part.subarray(from, end);
      const line = readLine(rest.length === 0 ? last : Buffer.concat([...rest, last]));
      rest = [];
      from = end + 1;
      if (line === undefined) odd("a line that is no answer of this version");
      else yield line;
    }
    if (from < part.length) rest.push(part.subarray(from));
  }
  if (failure !== undefined) odd(`it cannot be read to its end (${failure.message})`);
}

/** Unpacks a part, on a thread of its own, while the one before it is read. */
async function* begunAhead<T>(parts: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = parts.next();
  try {
    for (let part = await coming; part.done !== true; part = await coming) {
      coming = parts.next();
      yield part.value;
    }
  } finally {
    await coming;
    await parts.return(undefined);
  }
}
