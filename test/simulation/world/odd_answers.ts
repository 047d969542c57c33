import type { Reply } from "../../../simulator/mischief.ts";
import { notFound, Refusal } from "../../../simulator/refusal.ts";
import type { Request } from "../../../simulator/routes.ts";

type Row = Record<string, unknown>;
/** With its `status`, where it isn't 200. */
type Envelope = Record<string, unknown>;

/** How an answer is odd: a web page comes instead, only half of its rows come, other data, more beside the data, or another date. */
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
  /** Only answers to requests without a cursor. */
  readonly begins?: true;
  /** By how many days its `Date` is off. */
  readonly daysOff?: number;
  /** The row with that number spoils each answer that it is in, all the time: it is no JSON, or the answer has this status. */
  readonly row?: "NaN" | 500;
}

const DAY = 86_400_000;

/** Paths of rows with lines, and what these become. */
const linesIn: Readonly<Record<string, string>> = { "/orders": "order_lines", "/orders/{order_id}": "order_parts" };
const details = ["/orders/{order_id}", "/orders/{order_id}/moves", "/parts/{part_id}", "/vendors/{vendor_id}"];
const ofOneAnswer = { on: ["/queue", "/prices"], half: true } as const;

const listed = ["/orders", "/notes", "/parts", "/events", "/queue"];
/** The list of rows in an answer's data, changed. */
const withRows = (data: Row, change: (rows: readonly Row[]) => unknown): Row =>
  Object.fromEntries(
    Object.entries(data).map(([field, value]) => [field, Array.isArray(value) ? change(value as Row[]) : value]),
  );
/** In the body, which is written in Latin 1, a byte that is no UTF-8. */
const BYTE = "\u00fc";

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
  bare423: { page: 423 },
  bare430: { page: 430 },
  busy423: { beside: { status: 423, error: { code: "LOCKED", message: "Locked for a moment" } } },
  busy430: { beside: { status: 430, error: { code: "BUSY", message: "Busy for a moment" } } },
  sharedKeys: {
    harmless: true,
    on: listed,
    data: data => withRows(data, rows => [...rows, ...rows.slice(0, 1).map(row => ({ ...row, title: "another" }))]),
  },
  bytesInTitles: {
    harmless: true,
    on: listed,
    data: data => withRows(data, rows => rows.map(row => (row["title"] === null ? row : { ...row, title: BYTE }))),
  },
  bytesInKeys: {
    harmless: true,
    on: listed,
    data: data => withRows(data, rows => [...rows, ...rows.slice(0, 1).map(row => ({ ...row, [keyOf(row)]: BYTE }))]),
  },
  nullList: {
    on: listed,
    begins: true,
    data: data => withRows(data, () => null),
    beside: { pagination: { next_cursor: null, has_more: false, limit: 100 } },
  },
  otherCompany: { on: ["/auth/company-settings"], data: data => ({ ...data, company_id: "c-9" }) },
  datedBack: { harmless: true, daysOff: -365 },
  datedAhead: { harmless: true, daysOff: 365 },
  spoiltRow: { on: listed, row: "NaN" },
  failingRow: { on: listed, row: 500 },
} satisfies Record<string, OddAnswer>;

export type OddName = keyof typeof table;
export const oddNames = Object.keys(table) as [OddName, ...OddName[]];
const oddAnswers: Readonly<Record<string, OddAnswer>> = table;

/** How many of the next answers are odd, by what makes them so; of a row that spoils its answers, its number. */
export type OddCounts = Record<OddName, number>;

export const isHarmless = (fault: string): boolean => oddAnswers[fault]?.harmless === true;

const keyOf = (row: Row): string => Object.keys(row)[0]!;

/** The name of the next odd answer of a path, counted down; without a path that of a web page. */
function next(counts: OddCounts, path?: string, cursor?: string): OddName | undefined {
  const name = oddNames.find(each => {
    const { page, on, begins, row } = oddAnswers[each]!;
    const isOfRows = on?.includes(path ?? "") ?? path?.startsWith("/auth") === false;
    const isHere = isOfRows && row === undefined && !(begins && cursor !== undefined);
    const isMeant = path === undefined ? page !== undefined : page === undefined && isHere;
    return counts[each] > 0 && isMeant;
  });
  if (name !== undefined) counts[name] -= 1;
  return name;
}

/** The status of the web page that comes in place of the next answer. */
export const nextPage = (counts: OddCounts): number | undefined => oddAnswers[next(counts) ?? ""]?.page;

/** The data with the rows in it that are no JSON. @throws Refusal where the service fails at one of them */
function withSpoiltRows(data: Row, path: string, counts: OddCounts): Row {
  const spoiling = oddNames.filter(each => {
    const { row, on } = oddAnswers[each]!;
    return row !== undefined && counts[each] > 0 && on!.includes(path);
  });
  if (spoiling.length === 0) return data;
  return withRows(data, rows =>
    rows.map(row => {
      const name = spoiling.find(each => String(row[keyOf(row)]).endsWith(`-${counts[each]}`));
      if (name === undefined) return row;
      if (oddAnswers[name]!.row === 500) throw new Refusal(500, "BAD_ROW", "It fails at a row");
      return { ...row, amount: "NaN" };
    }),
  );
}

/** The answer as the faults of its request make it; `note` is called with each row that has lines, each that a 404 says is gone, and each list that is null. */
export function oddly(
  answer: Envelope,
  path: string,
  { faults, params, query }: Pick<Request, "faults" | "params" | "query">,
  now: number,
  note: (how: string, of: string) => void,
): Reply {
  const { cursor } = query;
  if (cursor === REST)
    return replyOf({ ...answer, pagination: { next_cursor: null, has_more: false, limit: 100 } }, {});
  const counts = faults as unknown as OddCounts;
  const name = next(counts, path, cursor);
  if (name === "absent") {
    for (const key of Object.values(params)) note(name, `absent ${key}`);
    throw notFound("Row");
  }
  if (name === "nullList") note(name, path.slice(1));
  const came = withSpoiltRows(answer["data"] as Row, path, counts);
  const how = name?.startsWith("lines") ? name : "whole";
  for (const row of (linesIn[path] === undefined ? [] : (came["orders"] ?? [came])) as Row[])
    note(how, `${linesIn[path]} ${row["order_id"]}`);
  if (name === undefined) return replyOf({ ...answer, data: came }, {});
  const { half, data: altered = data => data, beside, daysOff } = oddAnswers[name]!;
  const cut = (value: unknown) => (half && Array.isArray(value) ? value.slice(0, value.length >> 1) : value);
  const kept = Object.entries(came).map(([field, value]) => [field, cut(value)]);
  const date: Record<string, string> =
    daysOff === undefined ? {} : { date: new Date(now + daysOff * DAY).toUTCString() };
  return replyOf({ ...answer, data: altered(Object.fromEntries(kept)), ...beside }, date);
}

/** All that these services say is ASCII, but for what is meant to be no UTF-8. */
function replyOf({ status = 200, ...body }: Envelope, headers: Record<string, string>): Reply {
  const text = JSON.stringify(body).replaceAll('"NaN"', "NaN");
  return { status: Number(status), headers, text: Buffer.from(text, "latin1") };
}
