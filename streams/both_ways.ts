import type { Listing } from "../src/catalog/stream.ts";

// The documents name these directions for one list's `sort_dir`, and for no list the usual one.
export const bothWays: NonNullable<Listing["orders"]> = [{ sort_dir: "asc" }, { sort_dir: "desc" }];
