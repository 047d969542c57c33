import { type Head, type Line, readLine } from "./line.ts";
import { partsOf } from "./unpacking.ts";

/** Gets what no run of this version wrote. */
type Odd = (what: string) => void;

/** The lines of an archive's file; of one that was cut off, up to its last whole line. `odd` gets foreign lines, and files that cannot be read to their end. */
export async function* linesOf(path: string, odd: Odd): AsyncGenerator<Line> {
  let failure: Error | undefined;
  const parts = partsOf(path, error => {
    failure ??= error;
  });
  let rest: Buffer[] = [];
  for await (const part of begunAhead(parts)) {
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

/** What stands before the bodies of a file's lines. */
export async function* headsOf(path: string, odd: Odd): AsyncGenerator<Head> {
  for await (const { head } of linesOf(path, odd)) yield head;
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
