import { notFound } from "../../../simulator/refusal.ts";
import type { Request } from "../../../simulator/routes.ts";

type Row = Record<string, unknown>;
/** With its `status`, where it isn't 200. */
type Envelope = Record<string, unknown>;

/** How an answer is odd: a web page comes instead, only half of its rows come, other data, or more beside the data. */
interface OddAnswer {
  /** No run may fail of it. */
  readonly harmless?: true;
  /** Only answers of these paths. */
  readonly on?: readonly string[];
  /** Its status. */
  readonly page?: number;
  readonly half?: true;
  readonly data?: (data: Row) => Row;
  readonly beside?: Envelope;
}

/** Paths of rows with lines, and what these become. */
const linesIn: Readonly<Record<string, string>> = { "/orders": "order_lines", "/orders/{order_id}": "order_parts" };
const details = ["/orders/{order_id}", "/orders/{order_id}/moves", "/parts/{part_id}", "/vendors/{vendor_id}"];
const ofOneAnswer = { on: ["/queue", "/prices"], half: true } as const;

const lines = (value: unknown): OddAnswer => ({
  harmless: true,
  on: Object.keys(linesIn),
  data: ({ orders, ...data }) =>
    Array.isArray(orders)
      ? { ...data, orders: orders.map(row => ({ ...row, lines: value })) }
      : { ...data, parts: value },
});
/** Where a list goes on that used to come in one answer. */
const REST = "rest";
const more = (next_cursor: string | null): OddAnswer => ({
  ...ofOneAnswer,
  beside: { pagination: { next_cursor, has_more: true, limit: 100 } },
});

/** Answers that prove less than they seem to, beside the simulator's own faults. */
const table = {
  bareNotFound: { page: 404 },
  webPage: { page: 200 },
  bare403: { page: 403 },
  bare408: { page: 408 },
  bare409: { page: 409 },
  bare421: { page: 421 },
  bare425: { page: 425 },
  linesMissing: lines(undefined),
  linesNull: lines(null),
  linesEmpty: lines([]),
  errorBeside: { half: true, beside: { error: { code: "SHARD_DOWN", message: "A shard is down" } } },
  errorsBeside: { half: true, beside: { errors: [{ message: "A shard is down" }] } },
  partialContent: { half: true, beside: { status: 206 } },
  multiStatus: { half: true, beside: { status: 207 } },
  pagesOfOne: more(REST),
  promisesMore: more(null),
  countsMore: { ...ofOneAnswer, data: data => ({ ...data, total: 1_000 }) },
  absent: { harmless: true, on: details },
} satisfies Record<string, OddAnswer>;

export type OddName = keyof typeof table;
export const oddNames = Object.keys(table) as [OddName, ...OddName[]];
const oddAnswers: Readonly<Record<string, OddAnswer>> = table;

/** How many of the next answers are odd, by what makes them so. */
export type OddCounts = Record<OddName, number>;

export const isHarmless = (fault: string): boolean => oddAnswers[fault]?.harmless === true;

/** The name of the next odd answer of a path, counted down; without a path that of a web page. */
function next(counts: OddCounts, path?: string): OddName | undefined {
  const name = oddNames.find(each => {
    const { page, on } = oddAnswers[each]!;
    const isOfRows = on?.includes(path ?? "") ?? path?.startsWith("/auth") === false;
    const isMeant = path === undefined ? page !== undefined : page === undefined && isOfRows;
    return counts[each] > 0 && isMeant;
  });
  if (name !== undefined) counts[name] -= 1;
  return name;
}

/** The status of the web page that comes in place of the next answer. */
export const nextPage = (counts: OddCounts): number | undefined => oddAnswers[next(counts) ?? ""]?.page;

/** The answer as the faults of its request make it; `note` is called with each row that has lines, or that is said to be gone. */
export function oddly(
  answer: Envelope,
  path: string,
  { faults, params, query }: Pick<Request, "faults" | "params" | "query">,
  note: (how: string, of: string) => void,
): Envelope {
  if (query["cursor"] === REST) return { ...answer, pagination: { next_cursor: null, has_more: false, limit: 100 } };
  const name = next(faults as unknown as OddCounts, path);
  if (name === "absent") {
    for (const key of Object.values(params)) note(name, `absent ${key}`);
    throw notFound("Row");
  }
  const came = answer["data"] as Row;
  const how = name?.startsWith("lines") ? name : "whole";
  for (const row of (linesIn[path] === undefined ? [] : (came["orders"] ?? [came])) as Row[])
    note(how, `${linesIn[path]} ${row["order_id"]}`);
  if (name === undefined) return answer;
  const { half, data: altered = data => data, beside } = oddAnswers[name]!;
  const cut = (value: unknown) => (half && Array.isArray(value) ? value.slice(0, value.length >> 1) : value);
  const kept = Object.entries(came).map(([field, value]) => [field, cut(value)]);
  return { ...answer, data: altered(Object.fromEntries(kept)), ...beside };
}
