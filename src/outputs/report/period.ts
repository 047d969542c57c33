/** Whole months up to the one under way, and as many before; days as `2026-03-01`. */
export interface Period {
  readonly today: string;
  readonly from: string;
  /** The day after its last: the first of the month under way. */
  readonly until: string;
  readonly before: string;
  /** Its last month, and the one before: their first days. */
  readonly month: string;
  readonly monthBefore: string;
  /** `2025-11`, … in order; the one under way is not among them. */
  readonly months: readonly string[];
}

export function periodUpTo(today: string, length: number): Period {
  const present = Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 1;
  const months = Array.from({ length }, (_, index) => named(present - length + index));
  return {
    today,
    from: `${months[0]}-01`,
    until: `${named(present)}-01`,
    before: `${named(present - 2 * length)}-01`,
    month: `${named(present - 1)}-01`,
    monthBefore: `${named(present - 2)}-01`,
    months,
  };
}

function named(number: number): string {
  const year = String(Math.floor(number / 12)).padStart(4, "0");
  return `${year}-${String((number % 12) + 1).padStart(2, "0")}`;
}
