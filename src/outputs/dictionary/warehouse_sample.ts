import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { columnsIn } from "../../warehouse/ddl/database_catalog.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { type Counted, countsOf, sampleRows } from "../../warehouse/read/samples.ts";
import type { ColumnDescription, StreamDescription } from "./stream_description.ts";

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

/*
 * Which values may stand in a document that is passed around. Numbers, dates, flags and identifiers may; of texts only
 * those that are labels, one word each. A column that may name a person, a way to reach one or what somebody wrote shows
 * nothing, whatever its values look like; its name tells, or its description does.
 */

const personal =
  /(^|_)(names?|filename|label|e?mails?|phone|fax|address(ee)?|street|city|zip|sender|recipients?|cc|users?|persons?|people|party|contacts?|speaker|assigned|buyer|requester|approver|actor|owner|by|ip|login|website|domain)(_|$)/;
const written =
  /(^|_)(extracted|title|subject|summary|description|text|body|html|preview|notes?|remarks?|reason|reasoning|message|quote|comment|justification|explanation|instructions|headline|advice|error|details?|freetext|fact|values?)(_|$)/;
const secret =
  /(^|_)(key|token|secret|password|credentials?|signature|webhook|urls?|uri|link|hash|sha256|fingerprint)(_|$)/;
const toldPersonal =
  /\b(who|whom|people|persons?|users?|contacts?|words|remarks|address(es)?|telephone|e-mail address)\b/i;

const LONGEST = 40;
const SHOWN = 3;
/** A word as programs write them: no blanks, and nothing that mail addresses or web addresses are made with. */
const word = /^(?!.*\/\/)[\p{Letter}\p{Number}][\p{Letter}\p{Number}_./:+-]*$/u;

/** A few of a column's values, as text, distinct and in their order; none where they may not be shown. */
export function examplesOf(
  column: Pick<ColumnDescription, "name" | "kind" | "description" | "personal" | "treatment">,
  values: readonly unknown[],
  redact: (text: string) => string,
): readonly string[] {
  const { kind } = column;
  if (!mayShow(column)) return [];
  const texts = values
    .filter(value => value !== null && value !== undefined)
    .map(value => shortened(String(value), kind));
  const allowed = texts.filter(text =>
    kind !== "text" && kind !== "id" ? true : text.length <= LONGEST && word.test(text),
  );
  return [...new Set(allowed)].filter(text => redact(text) === text).slice(0, SHOWN);
}

/** Whether a column's values can be shown at all, by what it is. */
export function mayShow(
  column: Pick<ColumnDescription, "name" | "kind" | "description" | "personal" | "treatment">,
): boolean {
  const { name, kind, description, treatment } = column;
  if (kind === null || kind === "json" || column.personal || treatment !== null) return false;
  if (kind !== "text" && kind !== "id") return true;
  return ![secret, personal, written].some(sort => sort.test(name)) && !toldPersonal.test(description);
}

/** `1250.500000000` → `1250.5`: nine places are how amounts are stored, not how they are read. */
function shortened(text: string, kind: ColumnDescription["kind"]): string {
  if (kind === "moment") return text.replace(/\.\d+(?=[+-]|$)/, "");
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.0+$|(?<!0)0+$/, "") : text;
}
