import { type RawBuilder, sql } from "kysely";
import type { Column } from "../../catalog/columns.ts";
import type { Dialect } from "../dialect.ts";

type Fragment = RawBuilder<unknown>;

const CALENDAR = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?";
const ZONE = "(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])";

// Only forms that the encoder would have read to the same value; anything else waits in `_extra` for the next full scan.
const forms = {
  numeral: "^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)[.][0-9]*[1-9])$",
  decimal: "^-?[0-9]{1,29}([.][0-9]{1,9})?$",
  count: "^-?[0-9]{1,18}$",
  score: "^-?[0-9]{1,30}([.][0-9]{1,30})?([eE][-+]?[0-9]{1,2})?$",
  date: `^${CALENDAR}$`,
  moment: `^${CALENDAR}T${CLOCK}${ZONE}$`,
} as const;

/** How a database reads the value that `_extra` holds at a path. */
interface Reader {
  /** SQL NULL when there is no such field. */
  readonly value: Fragment;
  readonly text: Fragment;
  /** One of string, number, boolean, null, other. */
  readonly type: Fragment;
  readonly without: Fragment;
  /** False for rows whose other fields would not survive the removal letter by letter. */
  readonly safe: Fragment;
  matches(form: string): Fragment;
  date(): Fragment;
  moment(): Fragment;
}

/** Moves a new column's values from `_extra` into it; undefined for a column that no field of the row stands for. */
export function fillStatement(dialect: Dialect, table: Fragment, column: Column): Fragment | undefined {
  const reader = readerOf(dialect, column);
  if (reader === undefined) return undefined;
  const value = columnValue(dialect, reader, column);
  return sql`update ${table} set ${sql.id(column.name)} = ${value}, _extra = ${reader.without}
    where ${reader.value} is not null and ${reader.safe} and (${reader.type} = 'null' or ${value} is not null)`;
}

/** Moves what did not fit a column's former type out of `_problems` into it, where it fits now. */
export function refillStatement(dialect: Dialect, table: Fragment, column: Column): Fragment {
  const reader = readers[dialect.name]("_problems", [column.name, "value"], [column.name]);
  const value = columnValue(dialect, reader, column);
  return sql`update ${table} set ${sql.id(column.name)} = ${value}, _problems = ${reader.without}
    where ${reader.value} is not null and ${reader.safe} and ${value} is not null`;
}

/** Takes a column's values out of `_extra` and keeps none of them; undefined as above. */
export function leaveOutStatement(dialect: Dialect, table: Fragment, column: Column): Fragment | undefined {
  const reader = readerOf(dialect, column);
  return reader && sql`update ${table} set _extra = ${reader.without} where ${reader.value} is not null`;
}

function readerOf(dialect: Dialect, { source, path }: Column): Reader | undefined {
  // A column beside `_extra` filled from a page or by the reader never was in it.
  if (source !== "row" || path.length === 0 || !path.every(field => /^[A-Za-z0-9_-]+$/.test(field))) return undefined;
  return readers[dialect.name]("_extra", path, path);
}

function columnValue(dialect: Dialect, reader: Reader, column: Column): Fragment {
  const { text, type } = reader;
  const as = sql.raw(dialect.columnType(column.kind));
  const written = (form: string) =>
    sql`case when ${type} in ('string', 'number') and ${reader.matches(form)} then cast(${text} as ${as}) end`;
  switch (column.kind) {
    case "id":
    case "text":
      return sql`case when ${type} = 'string' or (${type} = 'number' and ${reader.matches(forms.numeral)})
        or (${type} = 'boolean' and ${sql.lit(column.added === true)}) then ${text} end`;
    case "money":
    case "quantity":
    case "percent":
      return written(forms.decimal);
    case "count":
      return written(forms.count);
    case "score":
      return written(forms.score);
    case "flag":
      return sql`case when ${type} = 'boolean' then cast(${text} as boolean) end`;
    case "date":
      return sql`case when ${type} = 'string' and ${reader.matches(forms.date)} then ${reader.date()} end`;
    case "moment":
      return sql`case when ${type} = 'string' and ${reader.matches(forms.moment)} then ${reader.moment()} end`;
    case "json":
      return sql`case when ${type} <> 'null' then ${reader.value} end`;
  }
}

/** Reads the value at a path of a JSON column; `removed` is what its removal takes away. */
type MakeReader = (json: "_extra" | "_problems", path: readonly string[], removed: readonly string[]) => Reader;

const postgresReader: MakeReader = (json, path, removed) => {
  const own = sql.id(json);
  const at = (fields: readonly string[]) => sql.lit(`{${fields.map(field => `"${field}"`).join(",")}}`);
  const value = sql`(${own} #> ${at(path)})`;
  const text = sql`(${own} #>> ${at(path)})`;
  let without: Fragment = sql`(${own} #- ${at(removed)})`;
  for (let depth = removed.length - 1; depth > 0; depth--) {
    const parent = at(removed.slice(0, depth));
    without = sql`(case when ${without} #> ${parent} = '{}' then ${without} #- ${parent} else ${without} end)`;
  }
  // A cast of 2024-02-31 is an error, and there is no way to try one before version 16.
  const existing = (cast: Fragment) => sql`case when cast(substr(${text}, 9, 2) as integer)
    <= extract(day from cast(substr(${text}, 1, 7) || '-01' as date) + interval '1 month' - interval '1 day')
    then ${cast} end`;
  const dated = (cast: Fragment) => sql`case when ${text} !~ '^0000' then ${existing(cast)} end`;
  return {
    value,
    text,
    type: sql`(case jsonb_typeof(${value}) when 'object' then 'other' when 'array' then 'other' else jsonb_typeof(${value}) end)`,
    without: sql`nullif(${without}, '{}')`,
    safe: sql`true`,
    matches: form => sql`${text} ~ ${sql.lit(form)}`,
    date: () => dated(sql`cast(${text} as date)`),
    moment: () => dated(sql`cast(${text} as timestamptz)`),
  };
};

const duckdbReader: MakeReader = (json, path, removed) => {
  const own = sql.id(json);
  const at = (fields: readonly string[]) => sql.lit(`$${fields.map(field => `."${field}"`).join("")}`);
  const patch = (fields: readonly string[]) =>
    sql.lit(fields.reduceRight<string>((inner, field) => `{"${field}":${inner}}`, "null"));
  const text = sql`json_extract_string(${own}, ${at(path)})`;
  let without: Fragment = sql`json_merge_patch(${own}, ${patch(removed)})`;
  for (let depth = removed.length - 1; depth > 0; depth--) {
    const parent = removed.slice(0, depth);
    without = sql`(case when cast(json_extract(${without}, ${at(parent)}) as varchar) = '{}'
      then json_merge_patch(${without}, ${patch(parent)}) else ${without} end)`;
  }
  return {
    value: sql`json_extract(${own}, ${at(path)})`,
    text,
    type: sql`(case json_type(${own}, ${at(path)}) when 'VARCHAR' then 'string' when 'BOOLEAN' then 'boolean'
      when 'NULL' then 'null' when 'OBJECT' then 'other' when 'ARRAY' then 'other' else 'number' end)`,
    without: sql`nullif(cast(${without} as varchar), '{}')`,
    // DuckDB writes decimals through a double: a row whose numbers have more digits stays as it is.
    safe: sql`cast(json_merge_patch(${own}, '{}') as varchar) = cast(${own} as varchar)`,
    matches: form => sql`regexp_matches(${text}, ${sql.lit(form)})`,
    date: () => sql`try_cast(${text} as date)`,
    moment: () => sql`try_cast(${text} as timestamptz)`,
  };
};

const readers: Readonly<Record<Dialect["name"], MakeReader>> = { postgres: postgresReader, duckdb: duckdbReader };
