import { type Kysely, sql } from "kysely";
import { INDEX_COLUMN, type Table } from "../columns.ts";
import { restOf, type Taken } from "../encode/places.ts";
import type { Stage } from "./destination.ts";
import { columnList } from "./fragments.ts";
import type { StateTables } from "./state_tables.ts";

/** How many rows of each key a stage holds, where they are told apart by their place: the scan goes on counting from there. */
export async function placesIn(db: Kysely<StateTables>, stage: Stage, { columns, key }: Table): Promise<Taken[]> {
  const rest = restOf(key.map(name => columns.find(column => column.name === name)!));
  const texts = rest.map(({ name }, i) => sql`, cast(${sql.id(name)} as varchar) as ${sql.id(`k${i}`)}`);
  const grouped = rest.length === 0 ? sql`` : sql`group by ${columnList(rest.map(({ name }) => name))}`;
  const { rows } = await sql<
    Record<string, unknown>
  >`select max(${sql.id(INDEX_COLUMN)}) + 1 as places${sql.join(texts, sql``)}
    from ${stage.keys()} s ${grouped}`.execute(db);
  return rows.map(row => ({ rest: rest.map((_, i) => String(row[`k${i}`])), places: Number(row["places"] ?? 0) }));
}
