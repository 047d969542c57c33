import { ConfigError } from "../errors.ts";
import { currencyMessages } from "./messages.ts";

/** What amounts are shown in beside their own currencies, and where its rates stand. */
export interface ReportingCurrency {
  /** The currency, as its three letters. */
  readonly report: string;
  /** A rate says how much of a currency one unit of this buys; undefined: EUR in the European Central Bank's file, else `report`. */
  readonly base?: string | undefined;
  /** How long a rate holds where none follows it. */
  readonly maxAgeMs: number;
}

/** What an amount of that day in that currency is multiplied by. */
export interface CurrencyFactor {
  readonly currency: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  /** A decimal with 15 digits behind the point. */
  readonly factor: string;
}

const DAY_MS = 86_400_000;
const SCALE = 15n;
/** Larger factors have no room beside an amount in a database's decimals. */
const MOST = 10n ** (SCALE + 8n);

type Rates = Map<string, Map<string, string>>;

/**
 * The factors of every day from the lines of a CSV file: either with columns `date`, `currency` and `rate`, or with a column
 * for each currency, as the European Central Bank publishes its history. A rate says how many units of the currency are one
 * of the base; it holds until the next one. Days on which the reporting currency has no rate itself have no factors.
 * @throws ConfigError that names the line and what was expected there
 */
export function currencyFactors(
  lines: readonly string[],
  { report, base: told, maxAgeMs }: ReportingCurrency,
): readonly CurrencyFactor[] {
  const delimiter = [";", "\t"].find(sign => lines[0]?.includes(sign)) ?? ",";
  const cells = (line: string) => line.split(delimiter).map(cell => cell.trim().replace(/^"(.*)"$/, "$1"));
  const header = cells(lines[0]?.replace(/^\uFEFF/, "") ?? "");
  const [date, currency, rate] = ["date", "currency", "rate"].map(name =>
    header.findIndex(cell => cell.toLowerCase() === name),
  ) as [number, number, number];
  const isLong = currency >= 0 && rate >= 0;
  const columns = header.flatMap((cell, at) => (/^[A-Z]{3}$/.test(cell) ? [{ code: cell, at }] : []));
  if (date < 0 || (!isLong && columns.length === 0))
    throw new ConfigError(currencyMessages.no_columns({ got: lines[0]?.slice(0, 80) ?? "" }));
  const rates: Rates = new Map();
  for (const [at, line] of lines.entries()) {
    if (at === 0 || line.trim() === "") continue;
    const row = cells(line);
    const wrong = (expected: string, got: string) =>
      new ConfigError(currencyMessages.invalid_line({ line: at + 1, expected, got }));
    const day = row[date] ?? "";
    if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) throw wrong("a date such as 2026-03-31", day);
    const found = isLong ? [{ code: (row[currency] ?? "").toUpperCase(), at: rate }] : columns;
    for (const { code, at: place } of found) {
      const value = row[place] ?? "";
      if (!isLong && !/\d/.test(value)) continue;
      if (!/^[A-Z]{3}$/.test(code)) throw wrong("a currency's three letters", code);
      if (!/^\d{1,15}(\.\d{1,15})?$/.test(value) || /^[0.]+$/.test(value))
        throw wrong(`a rate of ${code} above 0 such as 1.0837`, value);
      const own = rates.get(code) ?? new Map<string, string>();
      if ((own.get(day) ?? value) !== value) throw wrong(`one rate of ${code} for ${day}`, `a second one, ${value}`);
      rates.set(code, own.set(day, value));
    }
  }
  const base = told ?? (isLong ? report : "EUR");
  if (base !== report && !rates.has(report))
    throw new ConfigError(currencyMessages.no_rates({ report, found: [...rates.keys()].sort(), base }));
  for (const own of rates.values()) if (base !== report) for (const day of own.keys()) withBase(rates, base, day);
  return [...rates].flatMap(([code, own]) =>
    code === report ? [] : held(code, factorsOf(own, base === report ? undefined : rates.get(report)!), maxAgeMs),
  );
}

function withBase(rates: Rates, base: string, day: string): void {
  rates.set(base, (rates.get(base) ?? new Map<string, string>()).set(day, "1"));
}

function factorsOf(own: ReadonlyMap<string, string>, report: ReadonlyMap<string, string> | undefined) {
  return [...own]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([day, rate]) => {
      const factor = quotient(report === undefined ? "1" : report.get(day), rate);
      return factor === undefined ? [] : [{ day, factor }];
    });
}

/** Each day's: of a day without a rate the one before, as long as it holds. */
function held(
  currency: string,
  factors: readonly { readonly day: string; readonly factor: string }[],
  maxAgeMs: number,
): readonly CurrencyFactor[] {
  return factors.flatMap(({ day, factor }, at) => {
    const from = Date.parse(day);
    const next = Date.parse(factors[at + 1]?.day ?? "9999-12-31");
    const days = Math.ceil(Math.min(next - from, Math.max(maxAgeMs, DAY_MS)) / DAY_MS);
    return Array.from({ length: days }, (_, after) => ({
      currency,
      day: new Date(from + after * DAY_MS).toISOString().slice(0, 10),
      factor,
    }));
  });
}

/** Rounded half up; undefined where there is none, or one that is too large. */
function quotient(above: string | undefined, below: string): string | undefined {
  if (above === undefined) return undefined;
  const [over, under] = [above, below].map(text => {
    const [whole, part = ""] = text.split(".");
    return BigInt(`${whole}${part.padEnd(Number(SCALE), "0")}`);
  }) as [bigint, bigint];
  const scaled = (over * 10n ** SCALE * 2n + under) / (under * 2n);
  if (scaled === 0n || scaled >= MOST) return undefined;
  const digits = String(scaled).padStart(Number(SCALE) + 1, "0");
  return `${digits.slice(0, -Number(SCALE))}.${digits.slice(-Number(SCALE))}`;
}
