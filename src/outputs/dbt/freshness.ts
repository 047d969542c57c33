import { literal } from "./sql.ts";
import { plainly } from "./yaml_file.ts";

export interface Span {
  readonly count: number;
  readonly period: "minute" | "hour" | "day";
}

/** Where the warehouse is, as far as a project may say it otherwise. */
export interface Place {
  /** The database that holds it, where that is not the one dbt works in. */
  readonly database: string | undefined;
  readonly schema: string;
  readonly views_schema: string;
  readonly state_schema: string;
}

/** A name within the place, which is a variable of the project. */
export const placeVariable = (name: keyof Place): string => `{{ var('warehouse_${name}') }}`;

/**
 * When the last sync that succeeded brought the stream: of several companies the one whose data is oldest, null while one has
 * none. Rows are not looked at, for a table that did not change is fresh. What a replay or a backfill loads may be old.
 */
export function loadedAt({ database }: Place, companies: readonly string[], stream: string): string {
  const table = (name: string) =>
    [...(database === undefined ? [] : [placeVariable("database")]), placeVariable("state_schema"), name]
      .map(part => `"${part}"`)
      .join(".");
  return [
    `select case when count(*) = ${companies.length} then min(loaded_at) end as loaded_at`,
    "from (",
    "  select company, max(finished_at) as loaded_at",
    `  from ${table("stream_runs")}`,
    `  where stream = ${sqlText(stream)}`,
    `    and company in (${companies.map(sqlText).join(", ")})`,
    // A stream that the key may not read has status `warning` and an error: its tables did not change.
    "    and status in ('succeeded', 'warning') and error is null",
    "    and run_id not in (",
    `      select run_id from ${table("runs")}`,
    "      where command like 'tributary replay%' or command like 'tributary backfill%'",
    "    )",
    "  group by company",
    ") loads",
    "",
  ].join("\n");
}

// dbt renders the query as a template.
const sqlText = (text: string): string => plainly(literal(text));

/** Late data is a warning, data twice as old an error. */
export function allowedAge(lateAfterMs: number): { readonly warn_after: Span; readonly error_after: Span } {
  return { warn_after: span(lateAfterMs), error_after: span(2 * lateAfterMs) };
}

/** The longest unit that says it exactly; what is no whole minute is rounded up to one. */
function span(ms: number): Span {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes % 1440 === 0) return { count: minutes / 1440, period: "day" };
  return minutes % 60 === 0 ? { count: minutes / 60, period: "hour" } : { count: minutes, period: "minute" };
}
