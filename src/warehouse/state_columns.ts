import type { ColumnType } from "kysely";
import type { Kind } from "../catalog/columns.ts";

/** Timestamps are ISO 8601 text on the way in and Date on the way out; JSON comes out parsed. */
interface Values {
  readonly text: string;
  /** A bigint; both databases bring it back as number. */
  readonly count: number;
  readonly score: number;
  readonly flag: boolean;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly moment: ColumnType<Date, string, string>;
  readonly json: ColumnType<unknown, string | null | undefined, string | null>;
}

export type StateKind = Extract<Kind, keyof Values>;

export interface StateColumn {
  readonly kind: StateKind;
  readonly nullable: boolean;
  readonly comment: string;
  /** Of a counter: what adds to it, so that the counts of several attempts may be added; undefined: they may not. */
  readonly counts?: CountedBy | undefined;
}

export type CountedBy = "reading" | "publishing";

interface Keys<Name extends string = string> {
  /** Where a key helps PostgreSQL find a row again. */
  readonly key?: readonly Name[];
  /** Unique by texts that may be longer than an index entry, hence by their digest. */
  readonly digest?: readonly Name[];
  /** What PostgreSQL finds without a look at every row: by time what is old, and of each stream what is recent. DuckDB is slower with them. */
  readonly indexes?: readonly { readonly by: readonly Name[]; readonly where?: Name }[];
  /** UNLOGGED in PostgreSQL: a crash of the server empties it. */
  readonly unlogged?: true;
}

type Columns = Readonly<Record<string, StateColumn>>;

export interface StateTable<C extends Columns = Columns> extends Keys {
  readonly comment: string;
  /** In the order in which they are created. */
  readonly columns: C;
}

export const table = <const C extends Columns>(
  comment: string,
  columns: C,
  keys: Keys<keyof C & string> = {},
): StateTable<C> => ({ comment, columns, ...keys });

const of =
  <const K extends StateKind, const Nullable extends boolean>(kind: K, nullable: Nullable) =>
  (comment: string) => ({ kind, nullable, comment });

export const text = of("text", false);
export const count = of("count", false);
export const score = of("score", false);
export const flag = of("flag", false);
export const date = of("date", false);
export const moment = of("moment", false);
export const json = of("json", true);
export const textOrNull = of("text", true);
export const countOrNull = of("count", true);
export const scoreOrNull = of("score", true);
export const flagOrNull = of("flag", true);
export const momentOrNull = of("moment", true);

export const company = text("Company of the configuration, as in the data tables' _company.");

/** Begins at 0. */
export const counter = <const Counts extends CountedBy | undefined = undefined>(comment: string, counts?: Counts) => ({
  ...count(comment),
  counts: counts as Counts,
});

type ValueOf<Column extends StateColumn> = Column["nullable"] extends true
  ? Values[Column["kind"]] extends ColumnType<infer Read, infer Inserted, infer Updated>
    ? ColumnType<Read | null, Inserted | null | undefined, Updated | null>
    : Values[Column["kind"]] | null
  : Values[Column["kind"]];

export type RowOf<Table extends StateTable> = {
  -readonly [Column in keyof Table["columns"]]: ValueOf<Table["columns"][Column]>;
};

export type WrittenRow<Table extends StateTable> = {
  -readonly [Column in keyof RowOf<Table>]: RowOf<Table>[Column] extends ColumnType<
    infer _Read,
    infer _Inserted,
    infer Updated
  >
    ? Updated
    : RowOf<Table>[Column];
};

export type Written<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends Date
    ? string
    : Row[Name] extends Date | null
      ? string | null
      : Row[Name];
};

/** A row as JSON has it: moments in ISO 8601. */
export const written = <Row extends object>(row: Row): Written<Row> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as Written<Row>;
