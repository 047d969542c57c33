import { LINE_ID_COLUMN, type Table, type TableSet } from "../../catalog/columns.ts";
import {
  type Compared,
  comparedColumns,
  type RowState,
  type StoredKey,
  type StoredRow,
} from "../../warehouse/read/stored_rows.ts";
import { isSame, type Value } from "./compare_value.ts";
import { type Discrepancy, keyText, ofRow } from "./discrepancy.ts";

/** A row as the service answered and the encoder wrote it: values in the order of `comparedColumns`. */
export interface EncodedRow {
  readonly key: readonly string[];
  readonly hash: string;
  readonly vhash: string;
  readonly values: readonly Value[];
  /** By child table; the n-th of it has position n. Undefined: the row came without a readable array, which says nothing of its lines. */
  readonly children: readonly (readonly (readonly Value[])[] | undefined)[];
}

/** Whether the service's row is the one that was loaded: the row state keeps its hashes, the stable columns' and the others'. */
interface Drift {
  readonly stable: boolean;
  readonly rest: boolean;
}

/** Compares a row of the service with the warehouse's. One that the service has changed since it was loaded gives one discrepancy, any other one for each wrong value. */
export function compareRow(
  tables: TableSet,
  row: EncodedRow,
  held: StoredKey,
  schemaFingerprint: number,
): readonly Discrepancy[] {
  const { main } = tables;
  const { rowState, rows } = held;
  const key = keyText(main, row.key);
  const since = sinceLoaded(row, rowState, schemaFingerprint);
  // What no row state knows has come since, and what it calls deleted has come back. That a table contradicts its row state, a row
  // that it lost or has twice, is found where the two are compared.
  if (rowState === undefined ? rows.length === 0 : rowState.deletedAt !== null)
    return [ofRow(main.name, key, "changed_since")];
  // Of a row that stands there twice one may be right.
  const [differing = []] = rows
    .map(each => differingValues(main, each, row.values, key, since))
    .toSorted((a, b) => a.length - b.length);
  const ofChildren = tables.children.flatMap((child, i) =>
    compareChildren(child, { main, key: row.key }, row.children[i], held.children[i]!, since),
  );
  return merged([...differing, ...ofChildren]);
}

/** A row under another stamp was hashed over other columns: whether it is the same nobody can tell, so it may have changed. */
function sinceLoaded({ hash, vhash }: EncodedRow, rowState: RowState | undefined, schemaFingerprint: number): Drift {
  if (rowState === undefined) return { stable: false, rest: false };
  const known = rowState.stamp === schemaFingerprint;
  return { stable: !known || rowState.hash !== hash, rest: !known || rowState.vhash !== vhash };
}

interface Found {
  readonly discrepancy: Discrepancy;
  readonly since: boolean;
}

function differingValues(
  table: Table,
  own: StoredRow,
  values: readonly Value[],
  key: string,
  since: Drift,
): readonly Found[] {
  return comparedColumns(table).flatMap((column: Compared, i) => {
    const warehouse = own.values[i]!;
    const service = values[i]!;
    // A change of privacy has emptied it until the row is read again.
    const isAwaited = column.name === LINE_ID_COLUMN && warehouse === null;
    if (isAwaited || isSame(column.kind, warehouse, service)) return [];
    const discrepancy = { table: table.name, key, column: column.name, kind: "differs" as const, warehouse, service };
    return [{ discrepancy, since: column.volatile ? since.rest : since.stable }];
  });
}

function compareChildren(
  child: Table,
  { main, key }: { readonly main: Table; readonly key: EncodedRow["key"] },
  rows: EncodedRow["children"][number],
  held: ReadonlyMap<number, readonly StoredRow[]>,
  since: Drift,
): readonly Found[] {
  if (rows === undefined) return [];
  const found: Found[] = [];
  const at = (index: number, kind: Discrepancy["kind"], more: Partial<Discrepancy> = {}): void => {
    const row = ofRow(child.name, keyText(main, key, index), kind);
    found.push({ discrepancy: { ...row, ...more }, since: since.stable });
  };
  for (const [index, values] of rows.entries()) {
    const [own, ...more] = held.get(index) ?? [];
    for (const _surplus of more) at(index, "missing_there");
    if (own === undefined) at(index, "missing_here");
    else if (own.deletedAt !== null) at(index, "differs", { column: "_deleted_at", warehouse: own.deletedAt });
    else found.push(...differingValues(child, own, values, keyText(main, key, index), since));
  }
  for (const [index, own] of held)
    if (index >= rows.length) for (const row of own) if (row.deletedAt === null) at(index, "missing_there");
  return found;
}

/** Discrepancies that the service's own changes explain become one a table and row. */
function merged(found: readonly Found[]): readonly Discrepancy[] {
  const faults = found.filter(({ since }) => !since).map(({ discrepancy }) => discrepancy);
  const drifted = found.filter(({ since }) => since).map(({ discrepancy }) => discrepancy);
  const rows = Map.groupBy(drifted, ({ table, key }) => JSON.stringify([table, key]));
  const changes = [...rows.values()].map((all): Discrepancy => {
    const columns = all.flatMap(({ column }) => column ?? []);
    const [{ table, key }] = all as [Discrepancy, ...Discrepancy[]];
    const column = columns.length === 0 ? undefined : columns.join(", ");
    return { ...ofRow(table, key, "changed_since"), column };
  });
  return [...faults, ...changes];
}
