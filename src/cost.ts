import { sql } from "kysely";
import type { WarehouseReading } from "./destinations/reading.ts";
import { loadStreamState } from "./destinations/run_log.ts";
import { ledgerName } from "./destinations/state_tables.ts";
import type { Stream } from "./stream.ts";

/** Rows a company's stream lists at present; undefined where its tables don't know. */
export async function liveCount(
  { db, schema, stateSchema }: Pick<WarehouseReading, "db" | "schema" | "stateSchema">,
  company: string,
  stream: Stream,
): Promise<number | undefined> {
  const { name } = stream.tables.main;
  const ledger = ledgerName(name);
  const { rows: found } = await sql<{ n: number }>`select count(*) as n from information_schema.tables
    where (table_schema = ${stateSchema} and table_name = ${ledger}) or (table_schema = ${schema} and table_name = ${name})`.execute(
    db,
  );
  if (Number(found[0]?.n ?? 0) < 2) return undefined;
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.id(stateSchema, ledger)}
    where _company = ${company} and deleted_at is null`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

/** Requests that it takes to read a stream from the start, as far as the warehouse knows; undefined: unknown. */
export async function costFromStart(
  reading: Pick<WarehouseReading, "db" | "schema" | "stateSchema">,
  company: string,
  stream: Stream,
  catalogue: readonly Stream[],
): Promise<number | undefined> {
  const { mode } = stream;
  switch (mode.kind) {
    case "snapshot":
      return 1;
    case "detail": {
      const parent = catalogue.find(other => other.name === mode.of);
      return parent === undefined ? undefined : liveCount(reading, company, parent);
    }
    default: {
      const { lastFullPages } = await loadStreamState(reading.db, company, stream.name);
      return lastFullPages ?? undefined;
    }
  }
}
