import { z } from "zod";
import { type CeilingState, newCeiling, type Outcome, observed, resumed } from "../adaptive_concurrency.ts";

/** A lease lasts so long unless it is renewed. */
export const LEASE_MS = 10_000;
/** A worker stops using its lease so long before the others take it for ended. */
export const MARGIN_MS = 2_000;
/** Workers with demand renew their leases at least so often. */
export const RENEWAL_MS = 500;
/** Timers and the way to the service may delay each start by so much, and the service still sees no second with too many. */
const DELAY_MS = 60;
/** Start times are granted for so long ahead, to all workers together. */
const BATCH_MS = 500;
/** Where there are more workers than permits, one keeps its permit for so long at least. */
const TURN_MS = 1_000;
const DAY_MS = 86_400_000;
/** Starts of a day's limit that a worker gets at once. */
const DAY_BATCH = 100;

const ceilingState = z.object({
  allowed: z.number(),
  cause: z.enum(["start", "slow", "429"]),
  starting: z.boolean(),
  slowness: z.number(),
  streak: z.number(),
  sinceChange: z.number(),
  halved: z.boolean(),
  best: z.record(z.string(), z.number()),
}) satisfies z.ZodType<CeilingState>;

const lease = z.object({
  until: z.number(),
  /** Requests that its worker may have in flight, those included that are over its share. */
  holds: z.number(),
  /** Its share, and since when it has one, or none. */
  permits: z.number(),
  since: z.number(),
  /** Requests in flight and waiting there. */
  demand: z.number(),
  /** Starts of the day's limit that are set aside for it. */
  starts: z.number(),
});
type Lease = Readonly<z.output<typeof lease>>;

/** What the workers of one key share. Times are ms since the epoch by the database's clock. */
export const budgetState = z.object({
  /** When the next request may start that has no start time yet. */
  nextStart: z.number(),
  pause: z.object({ until: z.number(), reason: z.string() }).optional(),
  ceiling: ceilingState,
  /** Days since the epoch, UTC, and the requests that were started in it. */
  day: z.object({ number: z.number(), used: z.number() }),
  leases: z.record(z.string(), lease),
});
export type BudgetState = Readonly<z.output<typeof budgetState>>;

/** The limits of a key, of all workers together. */
export interface BudgetLimits {
  readonly maxConcurrency: number;
  readonly requestsPerSecond?: number | undefined;
  readonly requestsPerDay?: number | undefined;
}

/** What a worker tells and wants. Counts are of requests. */
export interface BudgetRequest {
  readonly worker: string;
  readonly inFlight: number;
  readonly waiting: number;
  /** May be in flight by the time the grant is there: at most as many as it has permits. */
  readonly holds: number;
  /** Start times that it has, and as many as it can use beside those for permits that are free. */
  readonly slots: number;
  readonly batch: number;
  /** How long it takes, in ms, until it knows of what it is granted. */
  readonly leadMs: number;
  /** Started since the last exchange. */
  readonly started: number;
  /** Those that ended since the last exchange. */
  readonly outcomes: readonly Outcome[];
  /** What it was told to wait for since the last exchange. */
  readonly pause: { readonly ms: number; readonly reason: string } | undefined;
}

/** What a worker may do. Times are ms from the moment at which the state was read. */
export interface Grant {
  /** Whether it had no lease: what it has in flight is then nobody's. */
  readonly isNew: boolean;
  /** Requests in flight at most; those that are over it go on, and no new one starts. */
  readonly permits: number;
  readonly delays: readonly number[];
  readonly pause: { readonly ms: number; readonly reason: string } | undefined;
  /** Further starts of the day, until it ends; undefined without a limit. */
  readonly day: { readonly starts: number; readonly endsMs: number; readonly isSpent: boolean } | undefined;
  readonly ceiling: Pick<CeilingState, "allowed" | "cause">;
}

/** A worker's exchange: what it gets, and what is left to the others. `now` is the database's clock. */
export function grant(
  before: BudgetState | undefined,
  request: BudgetRequest,
  limits: BudgetLimits,
  now: number,
): { readonly state: BudgetState; readonly grant: Grant } {
  const { worker } = request;
  const known = before ?? emptyBudget(limits, now);
  const { [worker]: own, ...others } = Object.fromEntries(
    Object.entries(known.leases).filter(([, { until }]) => until > now),
  );
  const { pause, ceiling } = slowedBy(known, request, limits, now);
  const demand = request.inFlight + request.waiting;
  const mine: Lease = {
    until: now + LEASE_MS,
    holds: request.holds,
    permits: own?.permits ?? 0,
    since: own?.since ?? now,
    demand,
    starts: own?.starts ?? 0,
  };
  const all = { ...others, [worker]: mine };
  const taken = Object.values(others).reduce((sum, { holds }) => sum + holds, 0);
  const total = ceiling.allowed;
  // A turn lasts until the start times that were granted in it are there.
  const turnMs = Math.max(TURN_MS, 2 * Math.min(total, Object.keys(all).length) * spacingOf(limits));
  const permits = Math.max(0, Math.min(shareOf(worker, all, { total, turnMs }, now), total - taken));
  const { delays, nextStart } = startTimes(known, request, { ...limits, permits, all, pause }, now);
  const { day, spare, starts } = dayOf(known, request, { limits, others, mine, demand }, now);
  const setAside = ([id, each]: [string, Lease]) => [id, { ...each, starts: 0 }];
  const rest = day.number === known.day.number ? others : Object.fromEntries(Object.entries(others).map(setAside));
  const turned = permits > 0 !== mine.permits > 0;
  const kept = {
    ...mine,
    permits,
    starts,
    holds: Math.max(request.holds, permits),
    since: turned ? now : mine.since,
  };
  return {
    state: {
      nextStart,
      ...(pause === undefined ? {} : { pause }),
      ceiling,
      day,
      leases: demand === 0 ? rest : { ...rest, [worker]: kept },
    },
    grant: {
      isNew: own === undefined,
      permits,
      delays,
      pause: pause === undefined ? undefined : { ms: pause.until - now, reason: pause.reason },
      day: spare,
      ceiling,
    },
  };
}

function emptyBudget({ maxConcurrency }: BudgetLimits, now: number): BudgetState {
  const day = { number: Math.floor(now / DAY_MS), used: 0 };
  return { nextStart: 0, ceiling: newCeiling(maxConcurrency), day, leases: {} };
}

/** Pause and ceiling after what the worker has met. */
function slowedBy(
  known: BudgetState,
  { outcomes, pause: told }: BudgetRequest,
  { maxConcurrency }: BudgetLimits,
  now: number,
): Pick<BudgetState, "pause" | "ceiling"> {
  const isOver = known.pause !== undefined && known.pause.until <= now;
  const lasting = isOver ? undefined : known.pause;
  const begun = isOver ? resumed(known.ceiling) : known.ceiling;
  const ceiling = outcomes.reduce((state, outcome) => observed(state, outcome, maxConcurrency), {
    ...begun,
    allowed: Math.min(begun.allowed, maxConcurrency),
  });
  if (told === undefined) return { pause: lasting, ceiling };
  return { pause: { until: Math.max(lasting?.until ?? 0, now + told.ms), reason: told.reason }, ceiling };
}

/** A worker's fair part of `total`: one after another gets one more, as far as it wants it. */
function shareOf(
  worker: string,
  leases: Readonly<Record<string, Lease>>,
  { total, turnMs }: { readonly total: number; readonly turnMs: number },
  now: number,
): number {
  const rank = ({ permits, since }: Lease) => (permits === 0 ? 1 : now - since < turnMs ? 0 : 2);
  const queue = Object.entries(leases)
    .map(([id, each]) => ({ id, wants: each.demand, rank: rank(each), since: each.since }))
    .sort((a, b) => a.rank - b.rank || a.since - b.since || (a.id < b.id ? -1 : 1));
  let share = 0;
  let left = total;
  for (let nth = 0; left > 0 && queue.some(({ wants }) => wants > nth); nth++)
    for (const { id, wants } of queue) {
      if (wants <= nth || left === 0) continue;
      left -= 1;
      if (id === worker) share += 1;
    }
  return share;
}

/** Between two start times, in ms; 0 without a limit. */
const spacingOf = ({ requestsPerSecond }: Pick<BudgetLimits, "requestsPerSecond">): number =>
  requestsPerSecond === undefined ? 0 : (1_000 + DELAY_MS) / requestsPerSecond;

interface Given extends BudgetLimits {
  readonly permits: number;
  readonly all: Readonly<Record<string, Lease>>;
  readonly pause: BudgetState["pause"];
}

/** The worker's next start times, behind those that others have. */
function startTimes(
  { nextStart }: BudgetState,
  { inFlight, waiting, slots, batch, leadMs }: BudgetRequest,
  { requestsPerSecond, permits, all, pause }: Given,
  now: number,
): { readonly delays: readonly number[]; readonly nextStart: number } {
  if (requestsPerSecond === undefined || permits === 0 || pause !== undefined) return { delays: [], nextStart };
  const spacing = spacingOf({ requestsPerSecond });
  const busy = Object.values(all).filter(({ demand }) => demand > 0).length;
  const batched = Math.max(1, Math.floor(BATCH_MS / spacing / busy));
  // Who asks has some left. With more the next start time would come to lie ever later, and who uses one at a time would wait for it.
  const ahead = Math.min(batch, 2 * batched);
  const wanted = Math.max(0, Math.min(waiting, Math.max(ahead, permits - inFlight)) - slots);
  // Who has one permit can use one start time at a time, and must not wait behind many of others each time.
  const count = Math.min(wanted, batched, busy === 1 ? batched : permits);
  const first = Math.max(nextStart, now + leadMs);
  return {
    delays: Array.from({ length: count }, (_, nth) => first + nth * spacing - now),
    nextStart: count === 0 ? nextStart : first + count * spacing,
  };
}

interface DayShares {
  readonly limits: BudgetLimits;
  readonly others: Readonly<Record<string, Lease>>;
  readonly mine: Lease;
  readonly demand: number;
}

/** The day's count, and what is set aside of its rest for the worker: what a dead worker had counts as used. */
function dayOf(
  known: BudgetState,
  { worker, started, waiting }: BudgetRequest,
  { limits: { requestsPerDay }, others, mine, demand }: DayShares,
  now: number,
): { readonly day: BudgetState["day"]; readonly spare: Grant["day"]; readonly starts: number } {
  const today = Math.floor(now / DAY_MS);
  const isNew = today > known.day.number;
  const number = isNew ? today : known.day.number;
  const lapsed = Object.entries(known.leases).filter(([id]) => others[id] === undefined && id !== worker);
  const dead = lapsed.reduce((sum, [, { starts }]) => sum + starts, 0);
  const used = started + (isNew ? 0 : known.day.used + dead);
  const day = { number, used };
  if (requestsPerDay === undefined) return { day, spare: undefined, starts: 0 };
  const endsMs = (number + 1) * DAY_MS - now;
  const own = isNew ? 0 : Math.max(0, mine.starts - started);
  const aside = isNew ? 0 : Object.values(others).reduce((sum, { starts }) => sum + starts, 0);
  const left = Math.max(0, requestsPerDay - used - aside - own);
  const fair = Math.ceil(left / (1 + Object.keys(others).length));
  const more = demand === 0 ? 0 : Math.max(0, Math.min(waiting - own, fair, DAY_BATCH));
  return { day, spare: { starts: more, endsMs, isSpent: used >= requestsPerDay }, starts: own + more };
}
