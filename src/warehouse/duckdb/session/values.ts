import {
  BIGINT,
  DOUBLE,
  type DuckDBDateValue,
  DuckDBListValue,
  type DuckDBResult,
  DuckDBTimestampTZValue,
  type DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  TIMESTAMPTZ,
  VARCHAR,
} from "@duckdb/node-api";

/** Parameters as DuckDB takes them: integers as BIGINT, other numbers as DOUBLE, Date as TIMESTAMPTZ. */
export function bindings(parameters: readonly unknown[]): { values: DuckDBValue[]; types: DuckDBType[] } {
  const bound = parameters.map(bind);
  return { values: bound.map(([value]) => value), types: bound.map(([, type]) => type) as DuckDBType[] };
}

function bind(parameter: unknown): [DuckDBValue, DuckDBType | undefined] {
  switch (typeof parameter) {
    case "string":
      return [parameter, VARCHAR];
    case "boolean":
      return [parameter, undefined];
    case "bigint":
      return [parameter, BIGINT];
    case "number":
      return Number.isSafeInteger(parameter) ? [BigInt(parameter), BIGINT] : [parameter, DOUBLE];
    default:
      if (parameter === null || parameter === undefined) return [null, undefined];
      if (parameter instanceof Date)
        return [new DuckDBTimestampTZValue(BigInt(parameter.getTime()) * 1000n), TIMESTAMPTZ];
      throw new TypeError(
        "a SQL parameter is a string, number, bigint, boolean, Date or null; JSON is passed as its text",
      );
  }
}

/** Rows as objects; a name that occurs twice gets a number at its end. */
export function rowObjects(result: DuckDBResult, rows: readonly DuckDBValue[][]): Record<string, unknown>[] {
  const names = result.deduplicatedColumnNames();
  // The types of a result's own columns say which text is JSON; those that come with its chunks don't.
  const types = result.columnTypes();
  return rows.map(row => {
    const object: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) object[names[i]!] = fromDuckdb(row[i]!, types[i]!);
    return object;
  });
}

/**
 * A value as the rest of the program knows it: BIGINT and sums as number while that is exact, moments as Date, decimals as
 * exact text, JSON parsed, dates as `YYYY-MM-DD`.
 */
function fromDuckdb(value: DuckDBValue, type: DuckDBType): unknown {
  if (value === null) return null;
  switch (type.typeId) {
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT: {
      const number = Number(value as bigint);
      return Number.isSafeInteger(number) ? number : value;
    }
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return dateOf((value as DuckDBTimestampValue | DuckDBTimestampTZValue).micros);
    case DuckDBTypeId.DATE:
      return (value as DuckDBDateValue).toString();
    case DuckDBTypeId.VARCHAR:
      return type.alias === "JSON" ? JSON.parse(value as string) : value;
    case DuckDBTypeId.LIST:
      return value instanceof DuckDBListValue && "valueType" in type
        ? value.items.map(item => fromDuckdb(item, type.valueType as DuckDBType))
        : value;
    default:
      return typeof value === "object" ? value.toString() : value;
  }
}

function dateOf(micros: bigint): Date {
  const below = ((micros % 1000n) + 1000n) % 1000n;
  return new Date(Number((micros - below) / 1000n));
}
