import type { Detail, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { workRequest } from "../../sync/stream/detail_request.ts";
import { roomOf } from "../../sync/stream/room.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { liveCount } from "../../warehouse/ddl/present_tables.ts";
import { divide } from "../../warehouse/details/planner.ts";
import { samplesOf } from "../../warehouse/details/samples.ts";
import { countWork } from "../../warehouse/details/work_list.ts";
import { type Estimated, estimateWrong, foundADay, type SampleRow } from "../../warehouse/details/wrong_estimate.ts";

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
  /** How many details looks of the last week found changed a day, without a cause; null without looks. */
  readonly change_unseen: number | null;
  /** The share that changed unseen, as random looks of a week say; null without looks. */
  readonly estimated_wrong: Estimated | null;
  /** The same share after a week of nights with as many looks as this one; null without looks. */
  readonly wrong_in_a_week: number | null;
  readonly audit: number | "rest";
}

interface Place {
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly clock: Clock;
}

export async function readPlan(
  reading: WarehouseReading,
  place: Place,
  { companies, streams }: { readonly companies: readonly string[]; readonly streams: readonly Stream[] },
): Promise<readonly DetailPlan[]> {
  const plans: DetailPlan[] = [];
  for (const stream of streams) {
    const { mode } = stream;
    if (mode.kind !== "detail" || mode.by !== undefined) continue;
    const parent = place.catalogue.find(({ name }) => name === mode.of)!;
    for (const company of companies) {
      const isLoaded = async ({ tables }: Stream) => (await liveCount(reading, company, tables)) !== undefined;
      if (!(await isLoaded(parent)) || !(await isLoaded(stream))) continue;
      plans.push(await planOf(reading, { ...place, company }, stream, mode));
    }
  }
  return plans;
}

async function planOf(
  reading: WarehouseReading,
  { config, catalogue, clock, company }: Place & { readonly company: string },
  stream: Stream,
  mode: Detail,
): Promise<DetailPlan> {
  const { audit } = policyOf(config, stream.name).details;
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
    auditOf: name => policyOf(config, name).details.audit,
  });
  const share =
    room === undefined ? request.audit : Math.min(1, Math.max(0, room - due) / Math.max(1, caused + unchanged));
  const budget = Math.ceil(share * (caused + unchanged));
  const looks = budget === 0 ? { caused: 0, oldest: 0, index: 0, sample: 0 } : divide(budget, caused);
  const nights = await samplesOf(reading.db, { company, stream: stream.name });
  const wrong = estimateWrong(nights)?.wrong;
  return {
    ...{ company, stream: stream.name, audit, looks },
    due,
    caused_later: caused - looks.caused,
    oldest_days: looks.oldest === 0 ? null : Math.ceil((caused + unchanged) / looks.oldest),
    change_unseen: nights.length === 0 ? null : foundADay(nights),
    estimated_wrong: wrong ?? null,
    wrong_in_a_week:
      wrong === undefined ? null : inAWeek(wrong.share, nights, looks.oldest + looks.index + looks.sample),
  };
}

/** As many change as looks found, and the more looks a night has than these nights had, the sooner it finds what is wrong. */
export function inAWeek(wrong: number, nights: readonly SampleRow[], looks: number): number {
  const mean = (of: (night: SampleRow) => number) => nights.reduce((sum, night) => sum + of(night), 0) / nights.length;
  const changing = mean(night => (night.live === 0 ? 0 : night.found / night.live));
  const sooner =
    looks /
    Math.max(
      1,
      mean(night => night.looks),
    );
  const foundOfWrong = Math.min(1, sooner * (wrong === 0 ? 1 : changing / wrong));
  let share = wrong;
  for (let night = 1; night <= 7; night++) share = Math.min(1, share * (1 - foundOfWrong) + changing);
  return share;
}
