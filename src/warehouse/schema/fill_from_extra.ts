import { sql } from "kysely";
import type { Column } from "../../catalog/columns.ts";
import type { Fragment } from "../database.ts";
import type { Dialect, JsonField } from "../dialect.ts";

const CALENDAR = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?";
const ZONE = "(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])";

// Only forms that the encoder would have read to the same value; anything else waits in `_extra` for the next full scan.
const forms = {
  numeral: "^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)[.][0-9]*[1-9])$",
  decimal: "^-?[0-9]{1,29}([.][0-9]{1,9})?$",
  count: "^-?[0-9]{1,18}$",
  score: "^-?[0-9]{1,255}([.][0-9]{1,255})?([eE][-+]?[0-9]{1,2})?$",
  date: `^${CALENDAR}$`,
  moment: `^${CALENDAR}T${CLOCK}${ZONE}$`,
} as const;

/** Moves a new column's values from `_extra` into it; undefined for a column that no field of the row stands for. */
export function fillStatement(dialect: Dialect, table: Fragment, column: Column): Fragment | undefined {
  const reader = readerOf(dialect, column);
  if (reader === undefined) return undefined;
  const value = columnValue(dialect, reader, column);
  return sql`update ${table} set ${sql.id(column.name)} = ${value}, _extra = ${reader.without}
    where ${reader.value} is not null and ${reader.safe} and (${reader.type} = 'null' or ${value} is not null)`;
}

/** Takes a column's values out of `_extra` and keeps none of them; undefined as above. */
export function leaveOutStatement(dialect: Dialect, table: Fragment, column: Column): Fragment | undefined {
  const reader = readerOf(dialect, column);
  return reader && sql`update ${table} set _extra = ${reader.without} where ${reader.value} is not null`;
}

function readerOf(dialect: Dialect, { source, path }: Column): JsonField | undefined {
  // Only fields of the row itself were ever kept in `_extra`.
  if (source !== "row" || path.length === 0 || !path.every(field => /^[A-Za-z0-9_-]+$/.test(field))) return undefined;
  return dialect.jsonField("_extra", path, path);
}

function columnValue(dialect: Dialect, reader: JsonField, column: Column): Fragment {
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
