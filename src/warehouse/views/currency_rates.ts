import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type CurrencyFactor, currencyFactors, type ReportingCurrency } from "../../catalog/currency_rates.ts";
import { ConfigError, TributaryError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import { factOf, keepFact } from "../state/facts.ts";
import { viewsMessages } from "./messages.ts";

/** `rates`: a file's path, or `table:` and the name of a table of the warehouse with columns date, currency and rate. */
export interface CurrencySource extends ReportingCurrency {
  readonly rates: string;
}

const TABLE = /^table:(\w+)\.(\w+)$/;

/** The rates that views are to read; undefined: they read them already. */
type NewRates = { readonly digest: string; readonly factors: readonly CurrencyFactor[] } | undefined;

export const CURRENCY = "currency";
const ROWS_A_STATEMENT = 5_000;

/** New rates; or a warning where they cannot be read, as no currency may keep a run from loading rows. */
interface ReadRates {
  readonly rates: NewRates;
  readonly warnings: readonly Message[];
}

/** Reads rates that are not those in the warehouse; writes nothing. Rates that cannot be read stay the last ones of that currency, or there are none. */
export async function readRates(db: Db, isLoaded: boolean, currency: CurrencySource | undefined): Promise<ReadRates> {
  const kept = isLoaded ? await factOf(db, CURRENCY) : undefined;
  const none = kept === undefined ? undefined : { digest: "", factors: [] };
  if (currency === undefined) return { rates: none, warnings: [] };
  const { report, base, maxAgeMs } = currency;
  try {
    const lines = await linesOf(db, currency);
    const all = [JSON.stringify([report, base, maxAgeMs]), ...lines].join("\n");
    const digest = `${report} ${createHash("sha256").update(all).digest("hex").slice(0, 16)}`;
    const rates = kept === digest ? undefined : { digest, factors: currencyFactors(lines, currency) };
    return { rates, warnings: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const are_kept = String(kept).startsWith(`${report} `);
    const warning = viewsMessages.rates_not_new({ reason: error.message, are_kept, report });
    return { rates: are_kept ? undefined : none, warnings: [warning] };
  }
}

/** How many rates a reading would find, and the last day that has one. @throws ConfigError where they cannot be read */
export async function inspectRates(db: Db | undefined, currency: CurrencySource) {
  const factors = currencyFactors(await linesOf(db, currency), { ...currency, maxAgeMs: 0 });
  return { rates: factors.length, last: factors.reduce((last, { day }) => (day > last ? day : last), "") };
}

/** Whether a table has them, which only a connection can read. */
export const areInTable = ({ rates }: CurrencySource): boolean => TABLE.test(rates);

async function linesOf(db: Db | undefined, { rates }: CurrencySource): Promise<readonly string[]> {
  try {
    const table = TABLE.exec(rates);
    if (table === null) return (await readFile(rates, "utf8")).split(/\r?\n/);
    const text = (name: string) => sql`cast(${sql.id(name)} as varchar)`;
    const { rows } = await sql<{ line: string | null }>`
      select ${text("date")} || ',' || ${text("currency")} || ',' || ${text("rate")} as line
      from ${sql.id(table[1]!, table[2]!)} order by 1`.execute(db!);
    return ["date,currency,rate", ...rows.flatMap(({ line }) => line ?? [])];
  } catch (error) {
    if (error instanceof TributaryError) throw error;
    const reason = String(error instanceof Error ? error.message : error);
    throw new ConfigError(viewsMessages.rates_unreadable({ rates, reason }));
  }
}

/** Puts rates that were read in the place of those in the warehouse. */
export async function keepRates(db: Db, stateSchema: string, rates: NewRates): Promise<void> {
  if (rates === undefined) return;
  const { digest, factors } = rates;
  await db.transaction().execute(async trx => {
    await trx.deleteFrom("currency_factors").execute();
    for (let at = 0; at < factors.length; at += ROWS_A_STATEMENT) {
      // As text, for so many parameters take longer than all else: each was checked, and is letters, digits and signs between them.
      const values = factors
        .slice(at, at + ROWS_A_STATEMENT)
        .map(({ currency, day, factor }) => `('${currency}', date '${day}', '${factor}')`);
      await sql`insert into ${sql.id(stateSchema, "currency_factors")} (currency_code, rate_date, factor) values ${sql.raw(values.join(", "))}`.execute(
        trx,
      );
    }
    await keepFact(trx, CURRENCY, digest === "" ? undefined : digest);
  });
}
