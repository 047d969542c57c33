import { sql } from "kysely";
import type { Destination } from "../destination.ts";
import { columnList } from "../fragments.ts";
import { findDifference } from "./difference.ts";
import type { Comparison, Publication } from "./publication.ts";
import { temporaryNames } from "./temporary.ts";

/**
 * The difference between stage and warehouse, by key and hash alone. Leaves two temporary tables for `publish`: `changed`
 * (op: i new, r returned, u changed, v volatile fields only, s stamp only, m no longer missing) and, where `withMissing`, `gone`.
 */
export async function compare(
  destination: Destination,
  publication: Publication,
  withMissing: boolean,
): Promise<Comparison> {
  return destination.withRoom("compare", () => findDifference(destination, publication, withMissing));
}

/** Keys of missing rows, the ones that no earlier scan missed first: they are what a 404 can settle. At most `limit`. */
export async function missingKeys(
  destination: Destination,
  publication: Publication,
  limit: number,
): Promise<Record<string, string>[]> {
  const key = publication.tables.main.key;
  const { rows } = await sql<
    Record<string, string>
  >`select ${columnList(key)} from ${sql.id(temporaryNames(publication).gone)}
    where missing_since is null order by ${columnList(key)} limit ${sql.lit(limit)}`.execute(destination.db);
  return rows;
}
