import { dayText, type MomentShape, momentText } from "./calendar.ts";
import { Draw } from "./random.ts";

/** A number as the service writes it: a numeral, a numeric string, or nothing. */
export type Loose = number | string | null;

const ONE_IN = 1 / 14;

/** Draws that come out the way the service writes them: loosely typed numbers, and nulls where they are allowed. */
export class Values extends Draw {
  /** The value, or null now and then. */
  maybe<T>(value: T): T | null {
    return this.chance(ONE_IN) ? null : value;
  }

  /** An amount given in hundredths: 1234.5, "1234.50", "1234.5" or null. */
  money(cents: number | null): Loose {
    if (cents === null) return null;
    const shape = this.next() & 31;
    if (shape < 2) return null;
    if (shape < 16) return cents / 100;
    return shape < 28 ? fixed(cents, 2) : String(cents / 100);
  }

  /** A decimal given as `scaled / 10^places`: numeral, padded string, plain string or null. */
  decimal(scaled: number | null, places: number): Loose {
    if (scaled === null) return null;
    const shape = this.next() & 31;
    if (shape < 2) return null;
    const value = scaled / 10 ** places;
    if (shape < 18) return value;
    return shape < 26 ? fixed(scaled, places) : String(value);
  }

  /** A whole number: 12, "12" or null. */
  count(value: number | null): Loose {
    if (value === null) return null;
    const shape = this.next() & 31;
    if (shape < 2) return null;
    return shape < 20 ? value : String(value);
  }

  /** A calendar date: "2026-03-01", rarely with a midnight behind it, or null. */
  date(day: number | null): string | null {
    if (day === null) return null;
    const shape = this.next() & 31;
    if (shape < 2) return null;
    const text = dayText(day);
    if (shape === 2) return `${text}T00:00:00Z`;
    return shape === 3 ? `${text}T00:00:00.000+02:00` : text;
  }

  /** A moment (UNIX milliseconds) in one of the ISO shapes, never null. */
  moment(ms: number): string {
    const shape = this.next() & 15;
    return momentText(ms, (shape < 8 ? 0 : shape < 12 ? 1 : shape < 14 ? 2 : 3) satisfies MomentShape);
  }
}

/** (123450, 2) → "1234.50"; three times as fast as toFixed, which shows in a row of fifty numbers. */
function fixed(scaled: number, places: number): string {
  if (scaled < 0) return `-${fixed(-scaled, places)}`;
  const unit = 10 ** places;
  const whole = Math.floor(scaled / unit);
  return `${whole}.${String(scaled - whole * unit).padStart(places, "0")}`;
}
