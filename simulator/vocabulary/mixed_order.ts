import type { Collection, Entry, Listing } from "../collection.ts";
import { hash } from "../random.ts";

/** The rows in an order that has nothing to do with their age; a row keeps its place among the others while they come and go. */
export function mixedOrder(collection: Collection, seed: number): Listing {
  let known: { version: number; entries: readonly Entry[] } | undefined;
  const entries = (): readonly Entry[] => {
    if (known?.version !== collection.version) {
      const all = [...collection.walk(Number.NEGATIVE_INFINITY)];
      const placed = all.map(entry => ({ ...entry, rank: hash(seed, 99, entry.number) + entry.number / 2 ** 20 }));
      known = { version: collection.version, entries: placed.sort((a, b) => a.rank - b.rank) };
    }
    return known.entries;
  };
  const position = (rank: number): number => {
    const all = entries();
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((all[middle]?.rank ?? Number.POSITIVE_INFINITY) < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    *walk(from, exclusive = false) {
      const all = entries();
      for (let i = position(from); i < all.length; i += 1) {
        const entry = all[i];
        if (entry !== undefined && !(exclusive && entry.rank === from)) yield entry;
      }
    },
    rankAt: offset => entries()[Math.max(0, offset)]?.rank ?? Number.POSITIVE_INFINITY,
    position,
    standsAt: rank => entries()[position(rank)]?.rank === rank,
  };
}
