/** Cents and things added up under one key. */
export interface Sum<K> {
  readonly key: K;
  readonly cents: number;
  readonly count: number;
}

/** Adds up by key, in the order in which keys first come. */
export function sumsBy<T, K>(things: readonly T[], keyOf: (thing: T) => K, centsOf: (thing: T) => number): Sum<K>[] {
  const sums = new Map<K, { key: K; cents: number; count: number }>();
  for (const thing of things) {
    const key = keyOf(thing);
    const sum = sums.get(key) ?? { key, cents: 0, count: 0 };
    sum.cents += centsOf(thing);
    sum.count += 1;
    sums.set(key, sum);
  }
  return [...sums.values()];
}

export function largestFirst<K>(sums: readonly Sum<K>[], most: number): Sum<K>[] {
  return sums.toSorted((a, b) => b.cents - a.cents).slice(0, most);
}

export function oldestFirst(sums: readonly Sum<string>[]): Sum<string>[] {
  return sums.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

export function total<T>(things: readonly T[], of: (thing: T) => number): number {
  return things.reduce((sum, thing) => sum + of(thing), 0);
}

/** A share in hundredths of a percent; null of nothing. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part * 10_000) / whole);
}
