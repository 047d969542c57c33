import type { TableSet } from "../catalog/columns.ts";
import { stageColumns } from "./batch.ts";
import type { Hasher } from "./hash.ts";

/** Rises when equal values may come out as other bytes than before; the next full scan then compares columns, not hashes. */
const ENCODING = 2;

/** A number that changes when the columns a hash covers change: hashes of different stamps say nothing about each other. */
export function schemaFingerprint(tables: TableSet, hasher: Hasher): number {
  const layout = [tables.main, ...tables.children].map(table => [
    table.name,
    stageColumns(table)
      .filter(column => !column.volatile)
      .map(({ name, kind, treatment }) => [name, kind, ...(treatment === undefined ? [] : [treatment])]),
  ]);
  return Number(BigInt.asIntN(31, hasher.hash(Buffer.from(JSON.stringify([ENCODING, layout])))));
}

/** How volatile columns are treated: the stamp leaves them out, as the rows' hashes do; what lies staged of them is treated like the rest. */
export function volatileTreatments({ main, children }: TableSet): readonly string[] {
  return [main, ...children].flatMap(table =>
    stageColumns(table).flatMap(({ name, volatile, treatment }) =>
      volatile && treatment !== undefined ? [`${table.name}.${name} ${treatment}`] : [],
    ),
  );
}
