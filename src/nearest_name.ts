/** The known name most like `name`, or undefined when none is near enough to be what was meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.ceil(wanted.length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const lower = candidate.toLowerCase();
    const extends_ = wanted.length >= 3 && (lower.startsWith(wanted) || wanted.startsWith(lower));
    const own = distanceOf(wanted, lower);
    const distance = shortens(wanted, lower) ? Math.min(1, own) : extends_ ? Math.min(limit, own) : own;
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name: candidate, distance };
  }
  return best?.name;
}

/** Whether each word of a name is the beginning of the other's, as in `pay_status` for `payment_status`. */
function shortens(name: string, other: string): boolean {
  const words = other.split("_");
  const short = name.split("_");
  return short.length === words.length && short.every((word, at) => word.length >= 3 && words[at]!.startsWith(word));
}

/** What to say of it behind a sentence: ` Did you mean orders?`, or nothing. */
export function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

/** Edits (insert, delete, replace, swap two neighbours) between two words. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, before[column - 2]! + 1);
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return above[b.length]!;
}

/** Fits names in which anything stands in the place of each `*`. */
export const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`);
