import type { Detail, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { workRequest } from "../../sync/stream/detail_request.ts";
import { roomOf } from "../../sync/stream/room.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { liveCount } from "../../warehouse/ddl/present_tables.ts";
import {
  type Forecast,
  forecastAfter,
  presentForecast,
  shareKeeping,
  someUnseen,
} from "../../warehouse/details/forecast.ts";
import { daysOf, detailFreshness } from "../../warehouse/details/freshness.ts";
import { divide } from "../../warehouse/details/planner.ts";
import { countWork } from "../../warehouse/details/work_list.ts";
import type { Estimated } from "../../warehouse/details/wrong_estimate.ts";

/** `plan` of `status --json` and `sync --dry-run --json`: the requests of the next run for a stream of details, and their effect. */
export interface DetailPlan {
  readonly company: string;
  readonly stream: string;
  /** Details that the next run asks for as it stands: new, changed, to be tried again, due by age. What its lists bring comes on top. */
  readonly due: number;
  /** Details of unchanged rows that it looks at: for causes, the longest unseen, by index, by chance. */
  readonly looks: { readonly caused: number; readonly oldest: number; readonly index: number; readonly sample: number };
  /** Of those, causes that wait for a later night. */
  readonly caused_later: number;
  /** With a run each night each detail gets its turn within so many; null: no look goes to the oldest. */
  readonly oldest_days: number | null;
  /** How many details change in a day, though their list row does not, by learned rates. Null of a warehouse that has none yet. */
  readonly change_unseen: number | null;
  /** The share that changed unseen, as random looks of a week say; null without looks. */
  readonly estimated_wrong: Estimated | null;
  /** The same as the learned rates let expect: now, and in thirty nights with as many looks. Null of a warehouse that has none yet. */
  readonly expected_wrong: { readonly now: number; readonly in_a_month: number } | null;
  readonly promise: {
    readonly within: number;
    readonly share: number;
    /** Share of active details that the rates let expect to be within it in thirty nights. */
    readonly expected: number;
    readonly kept: boolean;
    /** The smallest `audit` that keeps it; null: none does. */
    readonly audit_needed: number | null;
  } | null;
  readonly audit: number | "rest";
}

const NIGHTS = 30;
/** Details that a month is worked out for: the others are taken to be like them. 2,000 took a busy machine two seconds a stream. */
const SOME = 500;

interface Place {
  readonly config: Config;
  /** As the configuration has it. */
  readonly catalogue: readonly Stream[];
  readonly clock: Clock;
}

/** The plans of the streams that are details and loaded, by stream and company. */
export async function readPlan(
  reading: WarehouseReading,
  place: Place,
  { companies, streams }: { readonly companies: readonly string[]; readonly streams: readonly Stream[] },
): Promise<readonly DetailPlan[]> {
  const freshnesses = await detailFreshness(reading);
  const plans: DetailPlan[] = [];
  for (const stream of streams) {
    const { mode } = stream;
    if (mode.kind !== "detail" || mode.by !== undefined) continue;
    const parent = place.catalogue.find(({ name }) => name === mode.of)!;
    for (const company of companies) {
      const isLoaded = async ({ tables }: Stream) => (await liveCount(reading, company, tables)) !== undefined;
      if (!(await isLoaded(parent)) || !(await isLoaded(stream))) continue;
      const freshness = freshnesses.find(each => each.company === company && each.stream === stream.name);
      plans.push(await planOf(reading, { ...place, company }, stream, mode, freshness?.estimate?.wrong ?? null));
    }
  }
  return plans;
}

async function planOf(
  reading: WarehouseReading,
  { config, catalogue, clock, company }: Place & { readonly company: string },
  stream: Stream,
  mode: Detail,
  estimated: Estimated | null,
): Promise<DetailPlan> {
  const { audit, fresh } = policyOf(config, stream.name);
  const request = workRequest(
    {
      ...{ company, clock, streams: { catalogue } },
      policy: { start: config.streams.start, allDetails: false, ofStream: name => policyOf(config, name) },
    },
    stream,
    mode,
  );
  // Of an audit of all each one counts.
  const { caused = 0, audit: unchanged = 0, ...others } = await countWork(reading, { ...request, audit: 1 });
  const due = Object.values(others).reduce((sum, count) => sum + count, 0);
  const room = await roomOf(reading, stream, {
    ...{ company, left: config.api.requestsPerDay, streams: selectedByConfig(catalogue, config.streams) },
    auditOf: name => policyOf(config, name).audit,
  });
  const share =
    room === undefined ? request.audit : Math.min(1, Math.max(0, room - due) / Math.max(1, caused + unchanged));
  const budget = Math.ceil(share * (caused + unchanged));
  const looks = budget === 0 ? { caused: 0, oldest: 0, index: 0, sample: 0 } : divide(budget, caused);
  const details = await someUnseen(reading, request, SOME);
  const withinDays = daysOf(fresh);
  const nights = { nights: NIGHTS, withinDays, caused: budget === 0 ? 0 : Math.min(looks.caused, budget) / budget };
  const forecast: { readonly now: Forecast; readonly later: Forecast } | undefined =
    details.length === 0
      ? undefined
      : { now: presentForecast(details, withinDays), later: forecastAfter(details, { ...nights, share }) };
  const expected = forecast === undefined ? 1 : 1 - forecast.later.late;
  return {
    ...{ company, stream: stream.name, audit, looks },
    due,
    caused_later: caused - looks.caused,
    oldest_days: looks.oldest === 0 ? null : Math.ceil((caused + unchanged) / looks.oldest),
    change_unseen:
      details.length === 0
        ? null
        : (details.reduce((sum, { rate }) => sum - Math.expm1(-rate), 0) / details.length) * (caused + unchanged),
    estimated_wrong: estimated,
    expected_wrong: forecast === undefined ? null : { now: forecast.now.wrong, in_a_month: forecast.later.wrong },
    promise:
      forecast === undefined
        ? null
        : {
            ...{ within: withinDays, share: fresh.share, expected, kept: expected >= fresh.share },
            audit_needed: shareKeeping(details, { ...nights, promised: fresh.share }) ?? null,
          },
  };
}
