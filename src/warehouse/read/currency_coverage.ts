import { sql } from "kysely";
import { z } from "zod";
import { columnsIn } from "../ddl/database_catalog.ts";
import type { Destination } from "../destination.ts";
import { factOf, keepFact } from "../state/facts.ts";
import { CURRENCY } from "../views/currency_rates.ts";
import { analyticsSchema } from "../views/view.ts";

/** The model that counts them. */
const MODEL = "currency_coverage";

const coverage = z.object({ currency: z.string().nullable(), rows: z.number(), unconverted: z.number() });
/** `rates`: those that stood in the warehouse then. */
const stored = z.object({ rates: z.unknown(), currencies: z.array(coverage) });

/** How many rows of a currency have an amount, and no rate on their day. */
export type CurrencyCoverage = Readonly<z.output<typeof coverage>>;

/** By currency, most rows without a rate first. Counts only after a change of rates, or of rows (`isChanged`). */
export async function currencyCoverage(
  { db, schema }: Pick<Destination, "db" | "schema">,
  isChanged: boolean,
): Promise<readonly CurrencyCoverage[]> {
  const before = stored.safeParse(await factOf(db, MODEL)).data;
  const rates = await factOf(db, CURRENCY);
  if (before !== undefined && before.rates === rates && !isChanged) return before.currencies;
  const views = analyticsSchema(schema);
  // A view of another owner may have the name.
  if ((await columnsIn(db, views)).get(MODEL)?.has("unconverted_count") !== true) return [];
  const { rows } = await sql<Record<string, unknown>>`
    select currency_code, sum(row_count) as n, sum(unconverted_count) as unconverted
    from ${sql.id(views, MODEL)} group by currency_code order by 3 desc, 1`.execute(db);
  const currencies = rows.map(row => ({
    currency: row["currency_code"] as string | null,
    ...{ rows: Number(row["n"]), unconverted: Number(row["unconverted"]) },
  }));
  await db.transaction().execute(trx => keepFact(trx, MODEL, { rates, currencies }));
  return currencies;
}
