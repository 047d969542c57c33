import type { Config } from "../config/config.ts";
import { looking } from "../warehouse/connect/reading.ts";
import type { WrittenRow } from "../warehouse/state_columns.ts";
import type { stateTables } from "../warehouse/state_tables.ts";

export interface RejectsOrder {
  readonly companies: readonly string[];
  readonly streams: readonly string[] | undefined;
  readonly limit: number;
  /** What is over too: rejects that are resolved, problems that no row has any more. */
  readonly all: boolean;
}

type Rejects = (typeof stateTables)["rejects"];

export type RejectedRow = Readonly<Omit<WrittenRow<Rejects>, "raw" | "context" | "digest" | "scan" | "parent_key">> & {
  readonly raw: unknown;
  /** What came beside it: {context, page}. */
  readonly context: unknown;
};

/** Values of one column that could not be read, for one reason. `rows` and `share` are what the table holds now. */
export type ProblemRow = Readonly<WrittenRow<(typeof stateTables)["problems"]>>;

/** Rows of the table `rejects`, open ones unless all are wanted, newest first, and how many there are; undefined when nothing has been loaded yet. */
export async function readRejects(
  where: Config["destination"],
  order: RejectsOrder,
): Promise<{ readonly total: number; readonly rows: readonly RejectedRow[] } | undefined> {
  return looking(where, async ({ db }) => {
    const wanted = db
      .selectFrom("rejects")
      .where("company", "in", [...order.companies])
      .$if(!order.all, query => query.where("resolved_at", "is", null))
      .$if(order.streams !== undefined, query => query.where("stream", "in", [...(order.streams ?? [])]));
    const counted = await wanted.select(({ fn }) => fn.countAll().as("total")).executeTakeFirst();
    const rows = await wanted
      .selectAll()
      .orderBy("seen_at", "desc")
      .orderBy("run_id", "desc")
      .limit(order.limit)
      .execute();
    return {
      total: Number(counted?.total ?? 0),
      rows: rows.map(({ digest: _, scan: __, parent_key: ___, ...row }) => ({
        ...row,
        seen_at: row.seen_at.toISOString(),
        first_seen_at: row.first_seen_at.toISOString(),
        resolved_at: row.resolved_at?.toISOString() ?? null,
      })),
    };
  });
}

/** Rows of the table `problems`, last seen first; undefined when nothing has been loaded yet. */
export async function readProblems(
  where: Config["destination"],
  order: RejectsOrder,
): Promise<{ readonly total: number; readonly rows: readonly ProblemRow[] } | undefined> {
  return looking(where, async ({ db }) => {
    const wanted = db
      .selectFrom("problems")
      .where("company", "in", [...order.companies])
      .$if(!order.all, query => query.where("rows", ">", 0))
      .$if(order.streams !== undefined, query => query.where("stream", "in", [...(order.streams ?? [])]));
    const counted = await wanted.select(({ fn }) => fn.countAll().as("total")).executeTakeFirst();
    const rows = await wanted
      .selectAll()
      .orderBy("last_seen_at", "desc")
      .orderBy("table_name")
      .orderBy("column_name")
      .limit(order.limit)
      .execute();
    const moments = (row: (typeof rows)[number]) => ({
      first_seen_at: row.first_seen_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
    });
    return { total: Number(counted?.total ?? 0), rows: rows.map(row => ({ ...row, ...moments(row) })) };
  });
}
