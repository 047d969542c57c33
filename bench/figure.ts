export const warehouses = ["duckdb", "postgres"] as const;
export type Warehouse = (typeof warehouses)[number];
/** A lake, which one part measures beside the others. */
export type AnyWarehouse = Warehouse | "ducklake";

/** What our process did and used in one run; bytes are of bodies as they came. CPU includes the helper processes it waited for. */
export interface Load {
  readonly rows: number;
  readonly requests: number;
  readonly bytes: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly peakBytes: number;
}

/** One line of the table: a figure beside its floor or peer of the same run. */
export interface Figure {
  readonly part: string;
  readonly figure: string;
  /** Absent for what is the same with either. */
  readonly warehouse?: AnyWarehouse;
  readonly unit: "ms" | "bytes" | "rows" | "requests" | "statements" | "files" | "rows/s";
  readonly measured: number;
  /** What it is held against, in the same unit. */
  readonly against?: { readonly what: string; readonly value: number };
  /** `ratio` is measured to against. */
  readonly target?: { readonly of: "ratio" | "measured"; readonly most: number };
  readonly load?: Load;
}

/** measured ÷ against; two zeros are alike. */
export function ratioOf({ measured, against }: Figure): number | undefined {
  if (against === undefined) return undefined;
  return measured === against.value ? 1 : measured / against.value;
}

/** Undefined for a figure without a target. */
export function isMet(figure: Figure): boolean | undefined {
  const { target, measured } = figure;
  if (target === undefined) return undefined;
  return (target.of === "ratio" ? (ratioOf(figure) ?? Number.NaN) : measured) <= target.most;
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
