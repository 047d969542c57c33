import type { Config } from "../config/config.ts";
import { looking } from "../warehouse/connect/reading.ts";
import type { Db } from "../warehouse/database.ts";
import { type WrittenRow, written } from "../warehouse/state_columns.ts";
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

/** The rows to show, and how many there are. */
interface Found<T> {
  readonly total: number;
  readonly rows: readonly T[];
}

/** Rows of the table `rejects`, open ones unless all are wanted, newest first, and details that were missed; undefined when nothing has been loaded yet. */
export async function readRejects(
  where: Config["destination"],
  order: RejectsOrder,
): Promise<(Found<RejectedRow> & { readonly details: Found<MissedDetail> }) | undefined> {
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
      details: await missedDetails(db, order),
      total: Number(counted?.total ?? 0),
      rows: rows.map(({ digest: _, scan: __, parent_key: ___, ...row }) => written(row)),
    };
  });
}

type Details = (typeof stateTables)["details"];

/** A detail that the last request did not bring whole: `outcome` is failed, ok (it lacked lines) or absent. */
export type MissedDetail = Readonly<
  Pick<WrittenRow<Details>, "company" | "stream" | "parent_key" | "outcome" | "attempts" | "reason">
> & { readonly fetched_at: string; readonly next_try: string | null };

/** Details that a run requests again, those that failed first; absent ones where all are wanted. */
async function missedDetails(db: Db, { companies, streams, all, limit }: RejectsOrder) {
  const wanted = db
    .selectFrom("details")
    .where("company", "in", [...companies])
    .where("next_try", "is not", null)
    .$if(!all, query => query.where("outcome", "<>", "absent"))
    .$if(streams !== undefined, query => query.where("stream", "in", [...(streams ?? [])]));
  const counted = await wanted.select(({ fn }) => fn.countAll().as("total")).executeTakeFirst();
  const rows = await wanted
    .select(["company", "stream", "parent_key", "outcome", "attempts", "reason", "fetched_at", "next_try"])
    .orderBy(({ eb }) => eb("outcome", "=", "failed"), "desc")
    .orderBy("fetched_at", "desc")
    .orderBy("parent_key")
    .limit(limit)
    .execute();
  return { total: Number(counted?.total ?? 0), rows: rows.map((row): MissedDetail => written(row)) };
}

/** Rows of the table `problems`, last seen first; undefined when nothing has been loaded yet. */
export async function readProblems(
  where: Config["destination"],
  order: RejectsOrder,
): Promise<Found<ProblemRow> | undefined> {
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
    return { total: Number(counted?.total ?? 0), rows: rows.map(written) };
  });
}
