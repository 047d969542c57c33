import { join } from "node:path";
import { sql } from "kysely";
import { NARROW_INTEGER_DIGITS, NARROW_PLACES } from "../../../rows/encode_usual_value.ts";
import { type Fragment, quotedName } from "../../database.ts";
import type { StagedColumn } from "../../staged_columns.ts";
import { duckdbDialect } from "../session/dialect.ts";
import { quoted } from "../session/session.ts";
import type { StagedFile } from "./manifest.ts";

const NARROW = "DECIMAL(18,6)";
/** Lines up to this length need no larger buffers than the smallest that is quick. */
const SMALLEST_BUFFER = 8_000_000;

/**
 * The files as a FROM item with the columns' own types. Text becomes DECIMAL(18,6) and that DECIMAL(38,9), by a cast of its
 * own: directly it costs 3.4 to 7.5 µs a value, and an INSERT's target would otherwise impose its type on the reader. In a
 * column with values that need more digits only the long ones go the direct way.
 */
export function relationOf(folder: string, files: readonly StagedFile[], columns: readonly StagedColumn[]): Fragment {
  const id = (name: string) => sql.id(name);
  if (files.length === 0) {
    const nulls = columns.map(
      column => sql`null::${sql.raw(duckdbDialect.columnType(column.kind))} as ${id(column.name)}`,
    );
    return sql`(select ${sql.join(nulls)} where false)`;
  }
  const wide = new Set(files.flatMap(file => file.wide));
  const typed = columns.map(({ name, kind }) => {
    const type = duckdbDialect.columnType(kind);
    if (!type.startsWith("DECIMAL")) return { type, name, value: id(name) };
    const own = quotedName(name);
    if (!wide.has(name)) return { type: NARROW, name, value: sql.raw(`${own}::${type} as ${own}`) };
    const isShort = `strlen(${own}) <= ${NARROW_INTEGER_DIGITS} and strlen(${own}) - strpos(${own}, '.') <= ${NARROW_PLACES}`;
    return { type: "VARCHAR", name, value: sql.raw(`${decimalOf(own, type, isShort)} as ${own}`) };
  });
  const types = typed.map(({ name, type }) => `${quoted(name)}: ${quoted(type)}`);
  const values = typed.map(({ value }) => value);
  const paths = files.map(file => join(folder, file.name));
  const longest = Math.max(...files.map(file => file.longest)) + 1;
  return sql`(select ${sql.join(values)} from ${sql.raw(readCsv(paths, types, longest))})`;
}

/** A column of text as a decimal: through DECIMAL(18,6), a hundred times as fast, where it is certain that a text fits. */
export const decimalOf = (column: string, type: string, fits: string): string =>
  `case when ${fits} then ${column}::${NARROW}::${type} else ${column}::${type} end`;

/** Files of our CSV as a FROM item; `longest` is no less than the longest line's bytes with its end. */
export function readCsv(paths: readonly string[], types: readonly string[], longest: number): string {
  const options = [
    `columns = {${types.join(", ")}}`,
    "auto_detect = false, header = false, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', nullstr = ''",
    "allow_quoted_nulls = false, hive_partitioning = false, compression = 'none'",
    // One reader a file costs no more than several (measured), and no line is ever split between two.
    `parallel = false, max_line_size = ${longest}, buffer_size = ${Math.max(SMALLEST_BUFFER, longest * 2)}`,
  ];
  // Nothing in a path is a wildcard.
  const files = paths.map(path => quoted(path.replace(/[[*?]/g, "[$&]")));
  return `read_csv([${files.join(", ")}], ${options.join(", ")})`;
}
