import type { Column, Table, TableSet } from "../../catalog/columns.ts";
import type { Schemas } from "../database.ts";
import type { AsOf, Dialect } from "../dialect.ts";
import { rowStateName } from "../state_tables.ts";
import { asOfName, versionsName } from "./as_of.ts";
import { asOfComment, columnComment, engineComments, rowStateComments, versionsComment } from "./comments.ts";

export interface Shape {
  readonly schema: string;
  readonly name: string;
  readonly role: "main" | "child" | "versions" | "row_state";
  readonly stream: string;
  readonly columns: readonly ShapedColumn[];
  readonly primaryKey: readonly string[];
  readonly comment: string | undefined;
  /** Of a table of versions: whose they are, and what answers them as they were. */
  readonly versionsOf?: { readonly schema: string; readonly name: string };
  readonly asOf?: AsOf;
}

export interface ShapedColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | undefined;
  /** The schema's column it stands for; undefined for the engine's own. */
  readonly of: Column | undefined;
}

/** Hashes under this stamp say nothing: the next full scan compares such rows column by column. Outside `schemaFingerprint`'s range. */
export const NO_FINGERPRINT = 2_147_483_647;

/**
 * All tables of a stream: main, children, where its history is kept those of their versions, row state. `comment` is the
 * text of a table's comment.
 */
export function shapesOf(
  dialect: Dialect,
  place: Schemas,
  tables: TableSet,
  comment: (table: Table) => string,
  versioned = false,
): readonly Shape[] {
  const { main, children } = tables;
  const stream = main.name;
  const engine = (name: keyof typeof engineComments, kind: "text" | "json" | "moment" | "flag"): ShapedColumn => ({
    name,
    type: dialect.columnType(kind),
    comment: engineComments[name],
    of: undefined,
  });
  const shape = (table: Table, role: Shape["role"], closing: readonly ShapedColumn[]): Shape => ({
    schema: place.schema,
    name: table.name,
    role,
    stream,
    columns: [
      engine("_company", "text"),
      ...table.columns.map(of => ({
        name: of.name,
        type: dialect.columnType(of.kind),
        comment: columnComment(of, role === "versions"),
        of,
      })),
      engine("_extra", "json"),
      engine("_problems", "json"),
      ...closing,
    ],
    primaryKey: ["_company", ...table.key],
    comment: comment(table),
  });
  const versions = (table: Table): Shape => ({
    ...shape(table, "versions", [
      engine("_valid_from", "moment"),
      engine("_valid_to", "moment"),
      engine("_is_current", "flag"),
    ]),
    name: versionsName(table),
    primaryKey: ["_company", ...table.key, "_valid_from"],
    comment: versionsComment(table),
    versionsOf: { schema: place.schema, name: table.name },
    asOf: {
      schema: place.schema,
      name: asOfName(table),
      versions: versionsName(table),
      comment: asOfComment(table.name),
    },
  });
  const changed = engine("_changed_at", "moment");
  const deleted = engine("_deleted_at", "moment");
  return [
    shape(main, "main", [engine("_first_seen_at", "moment"), changed, deleted]),
    ...children.map(child => shape(child, "child", [changed, deleted])),
    ...(versioned ? [main, ...children].map(versions) : []),
    rowStateShape(dialect, place.stateSchema, main),
  ];
}

export function rowStateColumns(dialect: Dialect): readonly (ShapedColumn & { readonly comment: string })[] {
  const plain = (name: keyof typeof rowStateComments, type: string) => ({
    name,
    type,
    comment: rowStateComments[name],
    of: undefined,
  });
  const moment = dialect.columnType("moment");
  return [
    plain("hash", "bigint"),
    plain("vhash", "bigint"),
    plain("stamp", "integer"),
    plain("first_seen_at", moment),
    plain("missing_since", moment),
    plain("deleted_at", moment),
  ];
}

function rowStateShape(dialect: Dialect, stateSchema: string, main: Table): Shape {
  const key = main.key.map(name => main.columns.find(column => column.name === name)!);
  return {
    schema: stateSchema,
    name: rowStateName(main.name),
    role: "row_state",
    stream: main.name,
    columns: [
      { name: "_company", type: dialect.columnType("text"), comment: engineComments._company, of: undefined },
      ...key.map(({ name, kind }) => ({
        name,
        type: dialect.columnType(kind),
        comment: `Part of the row's key: ${main.name}.${name}.`,
        of: undefined,
      })),
      ...rowStateColumns(dialect),
    ],
    primaryKey: ["_company", ...main.key],
    comment: `The program's own record of every row of ${main.name}: what a run compares with, so that it need not read the wide table. Not meant to be changed by hand.`,
  };
}
