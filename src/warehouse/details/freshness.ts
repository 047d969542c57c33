import { type Selectable, sql } from "kysely";
import type { Trx } from "../database.ts";
import type { Destination } from "../destination.ts";
import { putRow } from "../state_rows.ts";
import type { StateTables } from "../state_tables.ts";
import { type Estimated, estimateWrong, type SampleRow, type WrongEstimate } from "./wrong_estimate.ts";

/** What is promised of active details, those of rows that are open or young: such a share of them is behind by no more than that. */
export interface Promised {
  readonly withinMs: number;
  readonly share: number;
}

export interface DetailFreshness {
  readonly promised: { readonly within_days: number; readonly share: number };
  /** By random looks alone; null without them. */
  readonly estimate: WrongEstimate | null;
  /** When the detail was fetched that has not been looked at for longest, ISO 8601. */
  readonly longest_unseen_at: string | null;
}

const DAY_MS = 86_400_000;

/** Writes down how fresh a stream's details are, by its samples with those of this night's looks. */
export async function noteFreshness(
  trx: Trx,
  { stateSchema }: Pick<Destination, "stateSchema">,
  { company, stream, now }: { readonly company: string; readonly stream: string; readonly now: string },
  { withinMs, share }: Promised,
  samples: readonly SampleRow[],
): Promise<void> {
  const own = sql<boolean>`company = ${company} and stream = ${stream}`;
  const estimate = estimateWrong(samples);
  const { rows } = await sql<{ oldest: Date | null }>`select min(fetched_at) as oldest
    from ${sql.id(stateSchema, "details")} where ${own} and outcome <> 'failed'`.execute(trx);
  await putRow(trx, "detail_freshness", {
    ...{ company, stream },
    ...{ within_days: withinMs / DAY_MS, promised: share },
    ...bounds("fresh", estimate?.fresh),
    ...bounds("wrong", estimate?.wrong),
    sampled: estimate?.sampled ?? 0,
    longest_unseen_at: rows[0]?.oldest?.toISOString() ?? null,
    updated_at: now,
  });
}

const bounds = <Name extends string>(name: Name, estimate: Estimated | null | undefined) =>
  ({
    [name]: estimate?.share ?? null,
    [`${name}_low`]: estimate?.low ?? null,
    [`${name}_high`]: estimate?.high ?? null,
  }) as Record<Name | `${Name}_low` | `${Name}_high`, number | null>;

export async function detailFreshness({
  db,
}: Pick<Destination, "db">): Promise<
  readonly (DetailFreshness & { readonly company: string; readonly stream: string })[]
> {
  const rows = await db.selectFrom("detail_freshness").selectAll().execute();
  return rows.map(row => ({
    ...{ company: row.company, stream: row.stream },
    promised: { within_days: row.within_days, share: row.promised },
    estimate: estimateIn(row),
    longest_unseen_at: row.longest_unseen_at?.toISOString() ?? null,
  }));
}

function estimateIn(row: Selectable<StateTables["detail_freshness"]>): WrongEstimate | null {
  const of = (share: number | null, low: number | null, high: number | null): Estimated | null =>
    share === null ? null : { share, low: low!, high: high! };
  const wrong = of(row.wrong, row.wrong_low, row.wrong_high);
  return wrong && { wrong, fresh: of(row.fresh, row.fresh_low, row.fresh_high), sampled: row.sampled };
}
