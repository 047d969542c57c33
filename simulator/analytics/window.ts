import { dayText } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { invalid } from "../refusal.ts";
import type { Request } from "../routes.ts";
import type { Values } from "../values.ts";

/** Days since 1970 that figures are taken of, both ends included. */
export interface Window {
  readonly first: number;
  readonly last: number;
  readonly days: number;
}

/** The trailing window that `period` asks for in days; 30 unless it says otherwise. */
export function periodOf(company: Company, request: Request): Window {
  return trailing(company.today(), wholeNumber(request, "period", 30));
}

/** The trailing window that `months` asks for; 12 unless it says otherwise. */
export function monthsOf(company: Company, request: Request): Window & { readonly months: number } {
  const months = wholeNumber(request, "months", 12);
  return { ...trailing(company.today(), Math.round(months * 30.44)), months };
}

export function trailing(last: number, days: number): Window {
  return { first: last - days + 1, last, days };
}

export function before({ first, days }: Window): Window {
  return trailing(first - 1, days);
}

/** What of dated things is within the window. */
export function within<T extends { readonly day: number }>(things: readonly T[], { first, last }: Window): T[] {
  return things.filter(({ day }) => day >= first && day <= last);
}

export function monthOf(day: number): string {
  return dayText(day).slice(0, 7);
}

/** A window as answers describe it: now an object, now a text, now nothing. */
export function described(v: Values, { first, last, days }: Window): unknown {
  return v.pick<unknown>([{ days, from: dayText(first), to: dayText(last) }, `Last ${days} days`, null]);
}

function wholeNumber(request: Request, name: string, usual: number): number {
  const text = request.query[name];
  if (text === undefined || text === "") return usual;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw invalid(name, `${name} must be a whole number from 1 to 9999, got '${text}'`);
  return Number(text);
}
