import { sourcesOf, waitsFor } from "../../catalog/lookup.ts";
import type { Detail, Feed, Scan, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Company } from "../../config/config.ts";
import { select, selectedByConfig } from "../../config/selection.ts";
import { ApiError } from "../../errors.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { valueAt } from "../../rows/encode_value.ts";
import type { Answer, Query } from "../../source/api.ts";
import { isWorkedOn } from "../../sync/context.ts";
import { firstPage, PAGE_ROWS, pagesOf, shapeOf } from "../../sync/extract/listing.ts";
import { besideRows } from "../../sync/extract/rows_in_answer.ts";
import { planScan, type ScanPlan } from "../../sync/extract/scan_plan.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import type { RunOrder } from "../../sync/run/run_order.ts";
import { fieldOf, openClient, type Service, type ServiceTools } from "../../sync/run/service.ts";
import { workRequest } from "../../sync/stream/detail_request.ts";
import { gapOf, gapRequests } from "../../sync/stream/feed.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { feedMessages, gapInWords } from "../../sync/stream/messages.ts";
import { roomOf } from "../../sync/stream/room.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import { openReading, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { liveCount } from "../../warehouse/ddl/present_tables.ts";
import { countWork } from "../../warehouse/details/work_list.ts";
import { loadStateUnder } from "../../warehouse/state/formats_record.ts";
import { compareIdentity } from "../../warehouse/state/identity.ts";
import { noState, type StreamState } from "../../warehouse/state/stream_state.ts";
import { type DetailPlan, readPlan } from "./plan.ts";

export interface EstimateContext {
  readonly order: Order;
  readonly tools: ServiceTools;
  readonly catalogue: readonly Stream[];
  readonly reading: WarehouseReading | undefined;
  readonly company: Company;
  readonly api: Service["api"];
  readonly latencies: number[];
  /** Rows of the lists that were asked, as far as one page tells. */
  readonly listed: Map<string, Known>;
}

export type Ask = (path: string, query: Query) => Promise<Answer>;

export interface Guess {
  readonly requests: number;
  readonly atLeast: boolean;
  readonly why: string;
  /** How many of them come one after another, where not all pages do. */
  readonly inARow?: number;
}

export type Order = Pick<RunOrder, "config" | "catalogue" | "identity" | "selection" | "refresh"> & {
  /** Details of parents from this day on (YYYY-MM-DD) are left out. */
  readonly to?: string | undefined;
  /** Another way to find out what a listing costs, where there is one. */
  readonly guess?: (company: string, stream: Stream, ask: Ask) => Promise<Guess | undefined>;
};

export interface Known {
  readonly count: number;
  readonly atLeast: boolean;
  readonly rows: readonly unknown[];
}

/** What a stream would ask for. `at_least`: there may be more than is known now. */
export interface EstimateLine {
  readonly company: string;
  readonly stream: string;
  readonly requests: number;
  readonly at_least: boolean;
  readonly why: string;
}

/** What `sync --dry-run` prints. `seconds` is for the requests alone, at the latency of the few that were sent to find out. */
export interface Estimate {
  readonly dry_run: true;
  readonly requests: number;
  readonly at_least: boolean;
  readonly seconds: number;
  readonly latency_ms: number;
  readonly in_flight: number;
  /** Requests that this context took. */
  readonly asked: number;
  readonly streams: readonly EstimateLine[];
  /** Forecast of the details; for a sync only. */
  readonly plan?: readonly DetailPlan[];
}

/** Works out what a run would request, by the state of the warehouse and a page of each list that was never read. Writes nothing. */
export async function estimateSync(
  order: Order,
  companies: readonly Company[],
  tools: ServiceTools,
): Promise<Estimate> {
  const { config } = order;
  const catalogue = configured(order.catalogue, config);
  const on = selectedByConfig(catalogue, config.streams);
  const { streams: selected } = select(catalogue, on, order.selection.names, config.streams.settings);
  const streams = selected.filter(stream => isWorkedOn(order.refresh, stream));
  await using reading = await openReading(config.destination);
  const lines: EstimateLine[] = [];
  const latencies: number[] = [];
  let seconds = 0;
  for (const company of companies) {
    await using api = await openClient(company, config.api, tools);
    const context: EstimateContext = { order, tools, catalogue, reading, company, api, latencies, listed: new Map() };
    await holdToAddress(context, undefined);
    await holdToAddress(context, await askWhose(context));
    const guesses: Guess[] = [];
    for (const stream of streams) guesses.push(await estimateStream(context, stream).catch(unavailable));
    lines.push(...guesses.map((guess, i) => lineOf(company, streams[i]!, guess)));
    seconds += secondsOf(guesses, streams, config.api, mean(latencies));
  }
  const isSync = order.refresh.only === undefined && order.guess === undefined;
  const place = { config, catalogue, clock: tools.clock };
  const names = companies.map(({ name }) => name);
  return {
    dry_run: true,
    requests: lines.reduce((sum, line) => sum + line.requests, companies.length),
    at_least: lines.some(line => line.at_least),
    seconds: Math.ceil(seconds),
    latency_ms: Math.round(mean(latencies)),
    in_flight: config.api.maxConcurrency,
    asked: latencies.length,
    streams: lines,
    ...(isSync && { plan: reading === undefined ? [] : await readPlan(reading, place, { companies: names, streams }) }),
  };
}

/** As a run is held to the company that the warehouse keeps, before its key goes to another address. @throws ConfigError */
async function holdToAddress({ reading, company }: EstimateContext, companyId: string | undefined): Promise<void> {
  if (reading === undefined) return;
  const { name, baseUrl } = company;
  await compareIdentity(reading.db, {
    schema: reading.schema,
    companies: [{ name, baseUrl, companyId }],
  });
}

/** The service's id of the company. A refused key ends the estimate; one that may not read the id can read the rest. */
async function askWhose(context: EstimateContext): Promise<string | undefined> {
  const { identity } = context.order;
  try {
    const { data } = await measured(context, identity.path, {}, false);
    return fieldOf(data, identity.id);
  } catch (error) {
    if (!(error instanceof ApiError) || (error.failure !== "forbidden" && error.failure !== "not_found")) throw error;
    return undefined;
  }
}

/** A run asks, is refused, and goes on. @throws whatever else went wrong */
function unavailable(error: unknown): Guess {
  if (!(error instanceof ApiError) || error.failure !== "forbidden") throw error;
  return { requests: 1, atLeast: false, why: "refused with 403: this key may not read it" };
}

async function measured({ api, tools, latencies }: EstimateContext, path: string, query: Query, paged: boolean) {
  const clock: Clock = tools.clock;
  const begun = clock.now();
  const answer = await api.get(path, query, { signal: tools.signal, paged });
  latencies.push(clock.now() - begun);
  return answer;
}

async function estimateStream(context: EstimateContext, stream: Stream): Promise<Guess> {
  const { order, company } = context;
  const { mode } = stream;
  const ask: Ask = (path, query) => measured(context, path, query, true);
  const other = await order.guess?.(company.name, stream, ask);
  if (other !== undefined) return other;
  switch (mode.kind) {
    case "snapshot": {
      const requests = choicesOf(mode, policyOf(order.config, stream.name)).length;
      const why = requests === 1 ? "one request a run" : "one request for each combination of its parameters";
      return { requests, atLeast: false, why };
    }
    case "detail":
      return estimateDetails(context, stream, mode);
    case "scan":
      return mode.lookup === undefined ? estimateListing(context, stream, mode) : estimateLookup(context, stream, mode);
    case "feed":
      return estimateListing(context, stream, mode);
  }
}

const lineOf = (company: Company, stream: Stream, { requests, atLeast, why }: Guess): EstimateLine => ({
  company: company.name,
  stream: stream.name,
  requests,
  at_least: atLeast,
  why,
});

async function estimateListing(context: EstimateContext, stream: Stream, mode: Scan | Feed): Promise<Guess> {
  const { order, tools, reading, company } = context;
  const { config, refresh } = order;
  const { start } = config.streams;
  const policy = policyOf(config, stream.name);
  const known = reading === undefined ? undefined : await liveCount(reading, company.name, stream.tables);
  const state =
    reading === undefined || known === undefined
      ? noState
      : await loadStateUnder(reading.db, company.name, stream.name, config.formats);
  const planFrom = (from: string | undefined) =>
    planScan(stream, state, policy, { ...refresh, start: from, now: tools.clock.now() });
  const gap = mode.kind === "feed" ? gapOf(mode, state, planFrom(start), start) : undefined;
  if (gap !== undefined && mode.kind === "feed") {
    const { confirmAbove } = config.backfill;
    const requests = await gapRequests(stream, mode, state, gap, (path, query) => measured(context, path, query, true));
    const rest = await estimatePlan(context, stream, mode, state, planFrom(gap.to));
    if (requests > confirmAbove) {
      const refused = feedMessages.gap_refused({ stream: stream.name, ...gap, requests, confirm_above: confirmAbove });
      return { ...rest, why: `${rest.why}; ${refused.message}` };
    }
    const why = `${rest.why}; about ${requests} for ${gapInWords(gap)}, which streams.start leaves in`;
    return { ...rest, requests: rest.requests + requests, why };
  }
  return estimatePlan(context, stream, mode, state, planFrom(start));
}

async function estimatePlan(
  context: EstimateContext,
  stream: Stream,
  mode: Scan | Feed,
  state: StreamState,
  plan: ScanPlan,
): Promise<Guess> {
  const { order, listed } = context;
  const policy = policyOf(order.config, stream.name);
  if (plan.full && state.lastFullPages !== null) {
    const atLeast = state.undecided !== null;
    const open = atLeast ? "; rows are missing, undecided: their addresses are asked, or it is read again" : "";
    const why = `as many pages as the last full scan: ${plan.why}${open}`;
    return { requests: state.lastFullPages, atLeast, why };
  }
  const ask = (query: Query, paged: boolean) => measured(context, stream.path, query, paged);
  const { rows, total, hasMore } = await firstPage(mode, plan.query, ask);
  const parts = plan.full ? policy.statuses.length : 0;
  const uncertain = parts > 0 ? ", and of each further status" : "";
  if (!hasMore || total === null) {
    listed.set(stream.name, { count: rows.length, atLeast: hasMore, rows });
    const all = shapeOf(mode).paged ? "one page is all" : "one request brings all";
    const why = hasMore ? "more than one page; the list doesn't say how many" : `${all}${uncertain}`;
    return { requests: (hasMore ? 2 : 1) + parts, atLeast: hasMore || parts > 0, why };
  }
  listed.set(stream.name, { count: total, atLeast: false, rows });
  return {
    requests: pagesOf(total) + parts,
    atLeast: parts > 0,
    why: `${total} rows, ${PAGE_ROWS} a page${uncertain}`,
  };
}

/** Pages of one list come one after another, everything else side by side, as far as the limits allow. */
function secondsOf(
  guesses: readonly Guess[],
  streams: readonly Stream[],
  limits: { readonly maxConcurrency: number; readonly requestsPerSecond: number | undefined },
  latencyMs: number,
): number {
  const total = guesses.reduce((sum, guess) => sum + guess.requests, 1);
  const rows = guesses.map((guess, i) => guess.inARow ?? (streams[i]?.mode.kind === "detail" ? 1 : guess.requests));
  const longest = Math.max(0, ...rows);
  const bySpeed = (Math.max(longest, total / limits.maxConcurrency) * latencyMs) / 1000;
  return limits.requestsPerSecond === undefined ? bySpeed : Math.max(bySpeed, total / limits.requestsPerSecond);
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

async function estimateLookup(context: EstimateContext, stream: Stream, mode: Scan): Promise<Guess> {
  const { order, catalogue, reading, company } = context;
  const asking = policyOf(order.config, stream.name);
  const place = { looked: reading, company: company.name, catalogue };
  const { asked } = await questionsOf(place, stream, mode, asking);
  const sources = Object.values(sourcesOf(stream, asking)).flat();
  const notLoaded = sources.length > 0 && asked.length === 0;
  const why = notLoaded
    ? `one for each value of ${sources.join(" and ")}, which are not loaded yet`
    : "one for each set of values";
  return { requests: asked.length, atLeast: waitsFor(stream, asking).length > 0, why, inARow: 1 };
}

/** Details that are due by the warehouse; where nothing is loaded yet, as many as the list has rows or values. */
export async function estimateDetails(context: EstimateContext, stream: Stream, mode: Detail): Promise<Guess> {
  const { order, tools, catalogue, reading, company, listed } = context;
  const parent = catalogue.find(other => other.name === mode.of);
  const { only } = order.refresh;
  const maxDetails = only === undefined ? policyOf(order.config, stream.name).maxDetails : undefined;
  const limited = (count: number): number => Math.min(count, maxDetails ?? count);
  const own = reading === undefined ? undefined : await liveCount(reading, company.name, stream.tables);
  if (
    reading !== undefined &&
    (own !== undefined || only !== undefined) &&
    parent !== undefined &&
    (await liveCount(reading, company.name, parent.tables))
  ) {
    const { mixedFormats } = await loadStateUnder(reading.db, company.name, stream.name, order.config.formats);
    const { config } = order;
    const room = await roomOf(reading, stream, {
      ...{ company: company.name, streams: selectedByConfig(catalogue, config.streams) },
      left: Math.min(
        tools.maxRequests ?? Number.POSITIVE_INFINITY,
        config.api.requestsPerDay ?? Number.POSITIVE_INFINITY,
      ),
      auditOf: name => policyOf(config, name).details.audit,
    });
    const request = { ...workRequest(contextOf(context), stream, mode), otherFormats: mixedFormats, room };
    const counts = await countWork(reading, request);
    const due = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const reasons = Object.entries(counts).filter(([, count]) => count > 0);
    const inWords = (reason: string) => (reason === "formats" ? "as formats changed since they were read" : reason);
    const told = reasons.map(([reason, count]) => `${count} ${inWords(reason)}`).join(", ") || "none is due";
    if (only !== undefined) return { requests: due, atLeast: false, why: `${due} of the rows that were named` };
    const why = `${told}; those of rows that turn out new or changed come on top`;
    return { requests: limited(due), atLeast: limited(due) !== maxDetails, why };
  }
  const known = listed.get(mode.of);
  if (known === undefined) return { requests: 0, atLeast: true, why: `${mode.of} is not loaded yet` };
  const start = order.config.streams.start === undefined ? "" : `, fewer because of streams.start`;
  if (mode.by === undefined && mode.only === undefined)
    return { requests: limited(known.count), atLeast: known.atLeast, why: `one for each row of ${mode.of}${start}` };
  const found = parent === undefined ? 0 : askedOf(parent, mode, known.rows);
  const what = mode.by === undefined ? `row of ${mode.of} that has one` : `${mode.by} of ${mode.of}`;
  const atLeast = known.count > known.rows.length || known.atLeast || mode.also !== undefined;
  return { requests: limited(found), atLeast, why: `one for each ${what}` };

  function contextOf({ order: { config, refresh } }: EstimateContext): Parameters<typeof workRequest>[0] {
    return {
      company: company.name,
      clock: tools.clock,
      streams: { catalogue },
      policy: {
        start: config.streams.start,
        to: context.order.to,
        allDetails: refresh.allDetails,
        only: refresh.only,
        ofStream: name => policyOf(config, name),
      },
    };
  }
}

function askedOf(parent: Stream, { by, only }: Detail, rows: readonly unknown[]): number {
  const valueIn = (row: unknown, name: string): unknown => {
    const column = parent.tables.main.columns.find(candidate => candidate.name === name);
    return column === undefined ? undefined : valueAt(column.path, besideRows(row));
  };
  const some = only === undefined ? rows : rows.filter(row => valueIn(row, only.column) === only.value);
  if (by === undefined) return some.length;
  const values = some.flatMap(row => {
    const value = valueIn(row, by);
    return typeof value === "object" && value !== null ? Object.keys(value) : [value ?? []].flat();
  });
  return new Set(values.map(String)).size;
}
