import { INDEX_COLUMN, type Table } from "./columns.ts";
import type { Stream } from "./stream.ts";

/** Columns of one table or view, `_company` beside them understood. */
export interface End {
  readonly table: string;
  readonly columns: readonly string[];
}

/**
 * Which rows belong together. `certain`: the service's paths guarantee it. `assumed`: the names say so, and every run
 * measures how often it is true.
 */
export interface Relation {
  readonly from: End;
  readonly to: End;
  readonly certainty: "certain" | "assumed";
  /** Whether at most one row of `to` belongs to a row of `from`. */
  readonly toOne: boolean;
  /** Only rows with one of these values take part. */
  readonly where?: { readonly column: string; readonly values: readonly string[] };
  /** Column of `from` with the kind of a row. Its values are not documented: a kind without a single match is not counted. */
  readonly kind?: string;
  /**
   * Details whose answers tell of the other end's rows: when a row of `from` changes, comes or goes, those `to` of the row that it
   * names are due, and the other way around those `from` of the rows that name it.
   */
  readonly refreshes?: { readonly to?: readonly string[]; readonly from?: readonly string[] };
  /** What one has to know before one joins along it; a sentence. */
  readonly note: string;
}

/** Columns that look like a relation and are none. */
export interface NoRelation {
  readonly from: End;
  readonly to: End | undefined;
  readonly note: string;
}

/** `orders.site_id → sites.id`, which also tells one relation from another. */
export const relationName = ({ from, to }: Pick<Relation, "from" | "to">): string =>
  `${endName(from)} → ${endName(to)}`;

export const endName = ({ table, columns }: End): string =>
  columns.length === 1 ? `${table}.${columns[0]}` : `${table} (${columns.join(", ")})`;

/** The relations that the streams themselves make: child tables to their main table, details to the row they were asked for (where its stream is among them). */
export function constructedRelations(catalogue: readonly Stream[]): readonly Relation[] {
  return catalogue.flatMap(stream => [...childRelations(stream), ...detailRelations(stream, catalogue)]);
}

function childRelations({ tables: { main, children } }: Stream): Relation[] {
  return children.map(child => ({
    from: { table: child.name, columns: main.key },
    to: { table: main.name, columns: main.key },
    certainty: "certain",
    toOne: true,
    note: `Rows of ${child.name} come inside those of ${main.name}.`,
  }));
}

function detailRelations(stream: Stream, catalogue: readonly Stream[]): Relation[] {
  const { mode, tables } = stream;
  if (mode.kind !== "detail") return [];
  const tableOf = (name: string) => tableNamed(catalogue, name);
  if (mode.by === undefined) {
    const parent = tableOf(mode.of);
    const columns = parent?.key.filter(name => name !== INDEX_COLUMN) ?? [];
    const fits = parent !== undefined && columns.every(name => tables.main.key.includes(name));
    if (!fits) return [];
    const note = `One request for each row of ${mode.of} brings them.`;
    return [
      {
        from: { table: stream.name, columns },
        to: { table: mode.of, columns },
        certainty: "certain",
        toOne: columns.length === parent.key.length,
        note,
      },
    ];
  }
  const [value = ""] = tables.main.key;
  const own: End = { table: stream.name, columns: [value] };
  return [`${mode.of}.${mode.by}`, ...(mode.also ?? [])].flatMap((source): Relation[] => {
    const [table = "", column = ""] = source.split(".");
    const kind = tableOf(table)?.columns.find(({ name }) => name === column)?.kind;
    if (kind === undefined || kind === "json") return [];
    const asked: End = { table, columns: [column] };
    const note = `One request for each value of ${source} brings them; a value that was not asked for yet has no row.`;
    return tables.main.key.length === 1
      ? [{ from: asked, to: own, certainty: "assumed", toOne: true, note }]
      : [{ from: own, to: asked, certainty: "certain", toOne: false, note }];
  });
}

/** Assumed by its name: every table with a column of that name refers to the same thing. */
export function relationsByName(
  catalogue: readonly Stream[],
  column: string,
  to: End,
  note: string,
): readonly Relation[] {
  return tablesIn(catalogue)
    .filter(table => table.name !== to.table && table.columns.some(({ name }) => name === column))
    .map(({ name }) => ({
      from: { table: name, columns: [column] },
      to,
      certainty: "assumed",
      toOne: true,
      note,
    }));
}

const tablesIn = (catalogue: readonly Stream[]): readonly Table[] =>
  catalogue.flatMap(({ tables: { main, children } }) => [main, ...children]);

const tableNamed = (catalogue: readonly Stream[], wanted: string): Table | undefined =>
  tablesIn(catalogue).find(({ name }) => name === wanted);
