import { DAY_MS, dayText, momentText } from "../calendar.ts";

/*
 * Dates, moments and numbers as the other vocabulary writes them. Quantities are halved where prices are doubled, so that
 * what a line costs is what it was.
 */

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const MIDNIGHT = /^.{10}T00:00:00(?:\.000)?(?:Z|[+-]\d{2}:\d{2})$/;
const NUMERAL = /^-?\d+(?:\.\d+)?$/;
const QUANTITY = /(?:^|_)(?:qty|quantity)(?:$|_(?!tolerance|label|received_source))/;
const PRICE = /(?:^|_)price$|^last_cost$|^historical_low$|^best_alternative$/;
const DAYS = /(?:^|_)(?:days|days_late|days_left|days_past_requested|days_variance|lead_time_p90)$|lead_time_days/;
const SETTING = /tolerance|period|pilot/;
const AMOUNT = /amount|total|spend|savings|_pct$/;
/** By these a feed is read: a day alone would lose what a window of it holds. */
const READ_BY: ReadonlySet<string> = new Set(["created_at", "ts", "received_at", "detected_at"]);

export const isDate = (text: string): boolean => DATE.test(text) || MOMENT.test(text);

/** A date or moment in a shape that the field's name and the row's own hash choose; the day of a date stays. */
export function dateSaid(written: string, name: string, choice: number): string {
  const text = MIDNIGHT.test(written) && !/_at$|^ts$/.test(name) ? written.slice(0, 10) : written;
  if (DATE.test(text)) {
    const suffix = ["", "T00:00:00.000Z", "T00:00:00+05:30", "T17:45:10.123456-03:00"][choice % 4] ?? "";
    return text + suffix;
  }
  const at = Date.parse(text);
  if (Number.isNaN(at)) return text;
  const utc = momentText(at, 1).slice(0, -1);
  if (choice % 4 === 0 && !READ_BY.has(name)) return text.slice(0, 10);
  if (choice % 4 === 1) return `${utc}457Z`;
  if (choice % 4 === 2) return `${utc.replace("T", " ")}+00:00`;
  return `${momentText(at + 19_800_000, 1).slice(0, -1)}+05:30`;
}

/** A day about `day` for a field that had none. */
export const someDate = (day: number, choice: number): string => dayText(day - (choice % 300));

export const someMoment = (day: number, choice: number): string => momentText((day - (choice % 300)) * DAY_MS, 0);

type Scale = "quantity" | "price" | "days" | "amount" | "other";

/** How the numbers of a field are translated, by the name of the field. */
export function scaleOf(name: string): Scale {
  if (QUANTITY.test(name)) return "quantity";
  if (PRICE.test(name)) return "price";
  if (DAYS.test(name) && !SETTING.test(name)) return "days";
  return AMOUNT.test(name) ? "amount" : "other";
}

/** A number of a field: a fraction where it was whole, another scale, another numeral for the same value. */
export function numberSaid(value: number | string, scale: Scale, choice: number): number | string {
  if (scale === "other" || (typeof value === "string" && !NUMERAL.test(value))) return value;
  const number = Number(value);
  const scaled = scale === "quantity" ? number / 2 : scale === "price" ? number * 2 : number;
  if (scale === "days") return typeof value === "number" ? number + 0.5 : String(number + 0.5);
  if (typeof value === "number") return scaled;
  if (choice % 8 === 0 && scaled !== 0) return scaled.toExponential();
  if (choice % 8 === 1 && scaled > 0) return `00${scaled}`;
  return choice % 8 === 2 && Number.isInteger(scaled) ? `${scaled}.0` : String(scaled);
}
