import type { Collection } from "../collection.ts";

/** Computes over all rows once for each state of the collection; serves the same value until a change. */
export function perVersion<T>(collection: Collection, compute: () => T): () => T {
  let known: { version: number; value: T } | undefined;
  return () => {
    if (known?.version !== collection.version) known = { version: collection.version, value: compute() };
    return known.value;
  };
}
