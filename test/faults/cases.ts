import type { Faults } from "../../simulator/simulator.ts";
import type { RunReport } from "../../src/sync/run/run.ts";

const orders = ["purchase_orders", "purchase_order_details"];

/** One switch of the simulator, and what a run does about it that meets it. */
export interface Case {
  readonly name: string;
  readonly faults: Partial<Faults>;
  readonly streams: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  /** The documented outcome. */
  readonly exit: 0 | 1 | 5;
  readonly status: RunReport["streams"][number]["status"];
  /** What the first stream's line says besides. */
  readonly line?: object;
  /** Part of what the run tells. */
  readonly told?: RegExp;
  /** Whether the tables are right before the switch is turned off again. */
  readonly rightAtOnce?: true;
}

export const items = ["items"];
const path = { only: "/items" };
const retried = { exit: 0, status: "succeeded", rightAtOnce: true } as const;
const impatient = { api: { max_wait: "5s" } };

/** Each outcome of a run once. `test/source/faults.test.ts` has the faults one by one. */
export const cases: readonly Case[] = [
  {
    name: "429 with Retry-After",
    faults: { ...path, next429: 3, rateLimit: { perSecond: 1_000, retryAfter: "seconds", retryAfterSeconds: 2 } },
    streams: items,
    ...retried,
    line: { retries: 3 },
  },
  {
    name: "twenty requests a second and no more",
    faults: { rateLimit: { perSecond: 20, retryAfter: "seconds", retryAfterSeconds: 1 } },
    streams: orders,
    ...retried,
  },
  {
    name: "a 429 that asks for more than max_wait",
    faults: { ...path, next429: 1, rateLimit: { perSecond: 1_000, retryAfter: "seconds", retryAfterSeconds: 3_600 } },
    streams: items,
    exit: 5,
    status: "stopped",
    told: /a pause of 1 h 00 min.*max_wait/,
  },
  {
    name: "a plan that is used up in the middle of a list",
    faults: { planLimit: { remaining: 4 } },
    streams: items,
    config: impatient,
    exit: 5,
    status: "stopped",
    line: { rows_read: 300 },
    told: /PLAN_LIMIT_REACHED/,
  },
  {
    name: "a plan that is used up in the middle of details",
    faults: { planLimit: { remaining: 20, retryAfterSeconds: 86_400 } },
    streams: orders,
    exit: 5,
    status: "succeeded",
    told: /PLAN_LIMIT_REACHED/,
  },
  { name: "some 500s", faults: { ...path, error500: { next: 4 } }, streams: items, ...retried, line: { retries: 4 } },
  {
    name: "nothing but 500s for one list",
    faults: { ...path, error500: 1 },
    streams: ["items", ...orders],
    exit: 1,
    status: "failed",
    told: /items.*500 INTERNAL_ERROR.*after 6 requests/,
  },
  { name: "500s among details", faults: { only: "/po/", error500: 0.1 }, streams: orders, ...retried },
  {
    name: "answers that never come",
    faults: { ...path, hang: { next: 2 } },
    streams: items,
    config: { api: { timeout: "2s" } },
    ...retried,
    line: { retries: 2 },
  },
  {
    name: "a cursor that expires under way, and again when the next run resumes it",
    faults: { ...path, expireCursorAfterPages: { pages: 2, times: 2 } },
    streams: items,
    exit: 1,
    status: "failed",
    told: /cursor has expired/,
  },
  {
    name: "no pagination at all",
    faults: { ...path, missingPagination: 1 },
    streams: items,
    exit: 1,
    status: "incomplete",
    told: /without a readable "pagination" block/,
  },
];
