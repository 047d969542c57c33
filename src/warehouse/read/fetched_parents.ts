import { sql } from "kysely";
import type { Looked } from "../ddl/present_tables.ts";
import { parentRows, presentParents } from "../details/parents.ts";
import { type WorkList, type WorkRequest, workItem } from "../details/work_list.ts";
import { countOf } from "../sql_fragments.ts";

/** Which details are asked for once more. */
export interface FetchedRequest extends Pick<WorkRequest, "company" | "stream" | "parents" | "columns"> {
  /** The same seed chooses the same details. */
  readonly seed: string;
  /** Undefined: all. */
  readonly limit: number | undefined;
}

/** Live parents whose detail was fetched, or answered 404, as the configuration reads it, in an order that only the seed decides: the first so many of them are a sample. */
export async function openFetched(place: Looked, request: FetchedRequest): Promise<WorkList> {
  const { company, stream, columns, seed, limit } = request;
  const parents = await presentParents(place, request.parents);
  const none = { open: undefined, newest: undefined };
  const params = columns.map(column => sql`, ${sql.id("p", `p_${column}`)}`);
  const fetched = sql`(select p.parent_key, cast(p.parent_hash as varchar) as parent_hash,
      md5(concat(p.parent_key, chr(31), cast(${seed} as varchar))) as draw${sql.join(params, sql``)}
    from ${parentRows(place, company, parents, { ...none, params: columns })} p
    join ${sql.id(place.stateSchema, "details")} d
      on d.company = ${company} and d.stream = ${stream} and d.parent_key = p.parent_key
    where d.outcome <> 'failed' and d.parent_hash is not null)`;
  const total = Math.min(await countOf(place.db, sql`${fetched} f`), limit ?? Number.POSITIVE_INFINITY);
  let taken = 0;
  let last = ["", ""];
  return {
    total,
    reasons: { forced: total },
    table: undefined,
    left: 0,
    leftFailed: 0,
    async next(count) {
      const wanted = Math.min(count, total - taken);
      if (wanted <= 0) return [];
      const [draw, key] = last;
      const { rows } = await sql<Record<string, unknown>>`select * from ${fetched} f
        where draw > ${draw} or (draw = ${draw} and parent_key > ${key})
        order by draw, parent_key limit ${sql.lit(wanted)}`.execute(place.db);
      taken = rows.length === 0 ? total : taken + rows.length;
      const end = rows.at(-1);
      if (end !== undefined) last = [String(end["draw"]), String(end["parent_key"])];
      return rows.map(row => workItem(row, columns, "forced"));
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
