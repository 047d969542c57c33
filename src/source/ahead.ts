/** How far from its end a body is looked at: the pagination block stands behind the rows, and little stands behind it. */
const TAIL = 2_048;

const block = /^"pagination"\s*:\s*(\{[^{}]*\})/;
/** One that needs no JSON to be read. */
const named = /"next_cursor"\s*:\s*"([!#-[\]-~]+)"/;
const promised = /"has_more"\s*:\s*true\b/;

/**
 * The cursor that a page's JSON seems to name for the next one, told in 2 µs where parsing it takes a millisecond; undefined
 * where it can't be seen. It is a guess: what the parsed page says is what counts.
 */
export function cursorAhead(body: Buffer): string | undefined {
  const text = body.toString("latin1", Math.max(0, body.length - TAIL));
  const at = text.lastIndexOf('"pagination"');
  const found = at < 0 ? undefined : block.exec(text.slice(at))?.[1];
  return found !== undefined && promised.test(found) ? named.exec(found)?.[1] : undefined;
}
