import { type JobName, nights, type Result, type Warehouse } from "./jobs.ts";

/** One line of the report. CPU in ms, memory in bytes; undefined where a figure has no such side. */
export interface Figure {
  readonly figure: string;
  readonly unit: "ms" | "bytes";
  readonly measured: number;
  readonly min: number;
  readonly max: number;
  /** The same of fetching and parsing alone; for growth, the figure of the smaller size. */
  readonly floor: number;
  readonly ratio: number;
  /** The ratio without what both cost at 100 rows. */
  readonly rowPath: number | undefined;
  readonly wallMs: number;
  readonly target: { readonly of: "ratio" | "measured"; readonly most: number };
  readonly met: boolean;
}

const RATIO: Readonly<Record<Exclude<JobName, "floor">, number>> = {
  "duckdb first load": 3,
  "duckdb unchanged night": 2,
  "postgres first load": 2,
  "postgres unchanged night": 2,
};
const MEMORY: Readonly<Record<Exclude<JobName, "floor">, number>> = {
  "duckdb first load": 512e6,
  "duckdb unchanged night": 350e6,
  "postgres first load": 200e6,
  "postgres unchanged night": 200e6,
};
const GROWTH = 1.15;

/** CPU against the floor. `few` are the same jobs with hardly any rows: what a run costs before its first. */
export function cpuFigures(
  results: readonly Result[],
  few: readonly Result[],
  measured: readonly Warehouse[],
): Figure[] {
  const floor = median(of(results, "floor").map(cpu));
  const still = median(of(few, "floor").map(cpu));
  return jobsOf(measured).map(job => {
    const own = of(results, job);
    const value = median(own.map(cpu));
    const ratio = value / floor;
    const rowPath = (value - median(of(few, job).map(cpu))) / (floor - still);
    const rows = own[0]?.rows ?? 0;
    return {
      ...spread(own.map(cpu)),
      figure: `${job}, CPU, ${rows.toLocaleString("en-US")} rows`,
      unit: "ms",
      floor,
      ratio,
      rowPath,
      wallMs: median(own.map(({ wallMs }) => wallMs)),
      target: { of: "ratio", most: RATIO[job] },
      met: ratio <= RATIO[job],
    };
  });
}

/** Peaks of resident memory at two sizes, and how much the larger takes more. */
export function memoryFigures(
  smaller: readonly Result[],
  larger: readonly Result[],
  measured: readonly Warehouse[],
): Figure[] {
  return jobsOf(measured).flatMap(job => {
    const [small, large] = [peakFigure(smaller, job), peakFigure(larger, job)];
    const ratio = large.measured / small.measured;
    const growth: Figure = {
      ...large,
      figure: `${job}, memory, the larger against the smaller`,
      floor: small.measured,
      ratio,
      target: { of: "ratio", most: GROWTH },
      met: ratio <= GROWTH,
    };
    return [small, large, growth];
  });
}

function peakFigure(results: readonly Result[], job: Exclude<JobName, "floor">): Figure {
  const own = of(results, job);
  const peaks = spread(own.map(peak));
  const floor = median(of(results, "floor").map(peak));
  return {
    ...peaks,
    figure: `${job}, memory, ${(own[0]?.rows ?? 0).toLocaleString("en-US")} rows`,
    unit: "bytes",
    floor,
    ratio: peaks.measured / floor,
    rowPath: undefined,
    wallMs: median(own.map(({ wallMs }) => wallMs)),
    target: { of: "measured", most: MEMORY[job] },
    met: peaks.measured < MEMORY[job],
  };
}

const jobsOf = (measured: readonly Warehouse[]) =>
  measured.flatMap(warehouse => nights.map(night => `${warehouse} ${night}` as const));
const of = (results: readonly Result[], job: JobName) => results.filter(result => result.job === job);
const cpu = ({ cpuMs }: Result) => cpuMs;
const peak = ({ peakBytes }: Result) => peakBytes;

function spread(values: readonly number[]): { measured: number; min: number; max: number } {
  return { measured: median(values), min: Math.min(...values), max: Math.max(...values) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
