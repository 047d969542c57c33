import { sql } from "kysely";
import { z } from "zod";
import { type Models, parseModel } from "../../../src/catalog/model.ts";
import { defineStream, list, type Stream, snapshot } from "../../../src/catalog/stream.ts";
import { type Catalog, readCatalog } from "../../../src/warehouse/ddl/database_catalog.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { tableOrder, viewOrder } from "../../../src/warehouse/schema/prepare_warehouse.ts";
import { type Ensured, ensureTables, type TableOrder } from "../../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../../src/warehouse/state/state_ddl.ts";

const field = (kind: string, description = `About the ${kind}.`) => z.unknown().meta({ kind, description });

/** A list with a child table; `more` are further fields. */
export const items = (more: Readonly<Record<string, string>> = {}): Stream =>
  defineStream({
    name: "items",
    path: "/items",
    mode: list({ rows: "items" }),
    row: z
      .object({
        item_id: field("id"),
        name: field("text").nullable(),
        tags: z.array(z.object({ tag: field("text") })).meta({ table: "item_tags", description: "An item's tags." }),
        ...Object.fromEntries(Object.entries(more).map(([name, kind]) => [name, field(kind).nullable()])),
      })
      .meta({ description: "It's items." }),
    key: ["item_id"],
    preset: "core",
  });

export const sites: Stream = defineStream({
  name: "sites",
  path: "/sites",
  mode: list({ rows: "sites" }),
  row: z.object({ site_id: field("id") }).meta({ description: "Sites." }),
  key: ["site_id"],
  preset: "core",
});

/** Figures by day and period, with a child table. */
export const figures: Stream = defineStream({
  name: "figures",
  path: "/figures",
  mode: snapshot({ parameters: { period: ["30", "90"] } }),
  row: z
    .object({
      total: field("count").nullable(),
      parts: z
        .array(z.object({ part: field("text").nullable() }))
        .meta({ table: "figure_parts", description: "Parts." }),
    })
    .meta({ description: "Figures." }),
  key: ["observed_on", "period"],
  preset: "core",
});

export const written = (...texts: readonly (readonly [name: string, text: string])[]): Models => ({
  models: texts.map(([name, text]) => parseModel(name, text)),
  meanings: [],
  writtenFor: { schema: "procurement", stateSchema: "_tributary" },
});

export const noModels = written();

/** What a warehouse is to have. */
export interface Wish {
  readonly on?: readonly Stream[];
  /** On or off. */
  readonly catalogue?: readonly Stream[];
  readonly models?: Models;
  readonly versioned?: readonly string[];
  readonly wanted?: boolean;
  readonly grantSelectTo?: readonly string[];
}

export function orderOf(place: Pick<Destination, "schema" | "stateSchema">, wish: Wish): TableOrder {
  const { on = [items()], models = noModels, wanted = true, grantSelectTo = [] } = wish;
  return {
    ...tableOrder(place, { streams: on, grantSelectTo, versioned: new Set(wish.versioned) }),
    views: viewOrder(place, wish.catalogue ?? on, { wanted, models, meanings: {} }),
  };
}

/** Makes tables and views, as a run does. */
export async function ensure(destination: Destination, wish: Wish = {}): Promise<Ensured> {
  const { db, dialect, stateSchema } = destination;
  await ensureState(db, dialect, stateSchema);
  return ensureTables(db, dialect, orderOf(destination, wish));
}

export async function rowsOf<T = Record<string, unknown>>({ db }: Pick<Destination, "db">, text: string): Promise<T[]> {
  return (await sql<T>`${sql.raw(text)}`.execute(db)).rows;
}

/** The views that are there, by name. */
export async function viewsIn(
  { db, dialect }: Destination,
  schema = "procurement_analytics",
): Promise<Catalog["tables"]> {
  const { tables } = await readCatalog(db, dialect, [schema]);
  return new Map([...tables.values()].filter(({ isTable }) => !isTable).map(table => [table.name, table]));
}

export const columnsOf = async (destination: Destination, view: string): Promise<string[]> => [
  ...((await viewsIn(destination)).get(view)?.columns.keys() ?? []),
];
