import type { Stream } from "../../catalog/stream.ts";
import type { Config } from "../../config/config.ts";
import { counted } from "../../counted.ts";
import { asDue } from "../../sync/context.ts";
import { firstPage, pagesOf } from "../../sync/extract/listing.ts";
import { type DatedFeed, datesOf } from "../../sync/extract/windows.ts";
import { type Backfill, type Range, type Unfinished, windowsFor } from "../../sync/run/backfill_plans.ts";
import type { RunOrder } from "../../sync/run/run_order.ts";
import type { ServiceTools } from "../../sync/run/service.ts";
import { hasDates, timeOf } from "../../sync/stream/backfill.ts";
import { noState, type Window } from "../../warehouse/state/stream_state.ts";
import { type Ask, type Estimate, estimateSync, type Guess } from "../estimate/estimate.ts";

const DAY_MS = 86_400_000;
/** Windows of a list without a total that are looked into; the others are taken to be like them. */
const LOOKED_INTO = 6;

/** Works out what a backfill would request, at the latency of the few requests that this takes. Writes nothing. */
export function estimateBackfill(
  order: Pick<RunOrder, "config" | "catalogue" | "identity" | "selection">,
  decision: Backfill,
  unfinished: readonly Unfinished[],
  tools: ServiceTools,
): Promise<Estimate> {
  const { config } = order;
  const ranges = decision.streams.map(stream => {
    const plan = unfinished.find(each => each.stream === stream)?.plan;
    return decision.range ?? { from: plan?.from ?? undefined, to: plan?.to ?? undefined };
  });
  const widest = widestOf(ranges);
  const { company: only } = order.selection;
  const companies = config.companies.filter(({ name }) => only === undefined || only === name);
  const now = new Date(tools.clock.now()).toISOString();
  const guess = async (company: string, stream: Stream, ask: Ask): Promise<Guess | undefined> => {
    const { mode } = stream;
    const plan = unfinished.find(each => each.company === company && each.stream === stream.name)?.plan;
    if (decision.continued && plan === undefined && decision.range === undefined)
      return { requests: 0, atLeast: false, why: "done" };
    if (mode.kind !== "feed" || !hasDates(mode)) return undefined;
    const range = decision.range ?? widest;
    const windows = plan !== undefined && decision.continued ? plan.windows : windowsFor(stream, range, noState, now);
    if (windows.length === 0) return undefined;
    return guessWindows(
      { ...stream, mode },
      windows.filter(window => !window.done),
      timeOf(config.formats, stream, mode),
      ask,
      now,
    );
  };
  return estimateSync(
    {
      ...order,
      config: asBackfill(config, widest),
      selection: { ...order.selection, names: decision.streams },
      refresh: { ...asDue, full: true },
      to: widest.to,
      guess,
    },
    companies,
    tools,
  );
}

function widestOf(ranges: readonly Range[]): Range {
  const froms = ranges.map(range => range.from);
  const ends = ranges.map(range => range.to);
  return {
    from: froms.includes(undefined) ? undefined : froms.toSorted()[0],
    to: ends.includes(undefined) ? undefined : ends.toSorted().at(-1),
  };
}

/** Details as a backfill fetches them: from the range's beginning, nothing that is unchanged. */
function asBackfill(config: Config, range: Range): Config {
  const { streams } = config;
  const settings = Object.entries(streams.settings).map(([name, own]) => {
    return [name, { ...own, details: undefined, maxDetails: undefined }] as const;
  });
  return {
    ...config,
    // Consent is asked for what this finds out.
    backfill: { confirmAbove: Number.POSITIVE_INFINITY },
    streams: {
      ...streams,
      start: range.from ?? streams.start,
      defaults: { ...streams.defaults, details: { ...streams.defaults.details, audit: 0 } },
      settings: Object.fromEntries(settings),
    },
  };
}

async function guessWindows(
  { path, query, mode }: Stream & { readonly mode: DatedFeed },
  windows: readonly Window[],
  timeOfRow: (row: unknown) => number | undefined,
  ask: Ask,
  now: string,
): Promise<Guess> {
  const end = ({ to }: Window) => (to === null ? Date.parse(now) : Date.parse(to));
  const days = (window: Window) => Math.max(1, (end(window) - Date.parse(window.from)) / DAY_MS);
  const look = (window: Window, most?: number) =>
    firstPage(mode, { ...query, ...datesOf(mode, window) }, asked => ask(path, asked), most);
  if (mode.total !== undefined) {
    let requests = 0;
    for (const window of windows) requests += pagesOf((await look(window, 1)).total ?? 1);
    return {
      requests,
      atLeast: false,
      why: `${windows.length} windows, counted`,
      inARow: Math.ceil(requests / windows.length),
    };
  }
  // Without a total, a page's rows by how long a time they cover.
  const step = Math.max(1, windows.length / LOOKED_INTO);
  const rates: number[] = [];
  for (let at = 0; at < windows.length; at += step) {
    const window = windows[Math.floor(at)]!;
    const { rows, hasMore } = await look(window);
    const times = rows.map(timeOfRow).filter(time => time !== undefined);
    const covered = (Math.max(...times) - Math.min(...times)) / 1000 / DAY_MS;
    rates.push(hasMore && covered > 0 ? rows.length / covered : rows.length / days(window));
  }
  const rate = rates.reduce((sum, each) => sum + each, 0) / Math.max(1, rates.length);
  const guesses = windows.map(window => pagesOf(rate * days(window)));
  const requests = guesses.reduce((sum, pages) => sum + pages, 0);
  const why = `${counted(windows.length, "window")}, about ${Math.round(rate)} rows a day by a look into ${rates.length} of them`;
  return { requests, atLeast: false, why, inARow: Math.max(0, ...guesses) };
}
