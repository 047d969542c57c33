import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { columnsIn } from "../../warehouse/ddl/database_catalog.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { type Counted, countsOf, sampleRows } from "../../warehouse/read/samples.ts";
import { examplesOf, mayShow } from "./examples.ts";
import type { StreamDescription } from "./stream_description.ts";

/** What a warehouse told when it was looked at. */
export interface WarehouseSample {
  readonly type: Dialect["name"];
  /** When what was looked at was published, ISO 8601; undefined where readers see every transaction. */
  readonly publishedAt: string | undefined;
  readonly tables: ReadonlyMap<string, TableSample>;
}

export interface TableSample {
  /** Undefined for child tables, which nobody counts. */
  readonly counted: Counted | undefined;
  /** A few values of a column, as text; none where they may not be shown or there are none. */
  readonly examples: ReadonlyMap<string, readonly string[]>;
}

/** Of each table so many live rows are looked at. */
const LIMIT = 40;

/** Looks at every table that is there, without a lock. `company`: only its rows. */
export async function readWarehouseSample(
  reading: WarehouseReading,
  streams: readonly StreamDescription[],
  company: string | undefined,
  redact: (text: string) => string,
): Promise<WarehouseSample> {
  const { db, dialect, schema, publishedAt } = reading;
  const present = await columnsIn(db, schema);
  const counts = await countsOf(db, company);
  const tables = new Map<string, TableSample>();
  for (const table of streams.flatMap(stream => stream.tables)) {
    const there = present.get(table.name);
    if (there === undefined) continue;
    const shown = table.columns.filter(column => there.has(column.name) && mayShow(column));
    const columns = shown.map(({ name }) => name);
    const rows = await sampleRows(db, { schema, table: table.name, key: table.key, columns, company, limit: LIMIT });
    const examples = new Map(
      shown.map(column => {
        const values = rows.map(row => row[column.name]);
        return [column.name, examplesOf(column, values, redact)];
      }),
    );
    tables.set(table.name, { counted: counts.get(table.name), examples });
  }
  return { type: dialect.name, publishedAt: publishedAt?.toISOString(), tables };
}
