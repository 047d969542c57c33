import { createHash } from "node:crypto";
import { z } from "zod";
import type { Table } from "../../catalog/columns.ts";
import type { Db } from "../database.ts";
import type { Looked } from "../ddl/present_tables.ts";
import { UNFILLED } from "../merge/unfilled.ts";
import { factsOf, keepFact } from "../state/facts.ts";
import { requireUsableState } from "../state/state_ddl.ts";
import { VIEWS } from "../views/present_views.ts";
import { analyticsSchema } from "../views/view.ts";
import { TABLE_FACTS } from "./table_record.ts";

/** By the table's name, the columns that somebody added to it. */
export type Extensions = ReadonlyMap<string, NonNullable<Table["extended"]>>;

/** The database when a run begins. */
export interface Look {
  /** A hash of everything in the catalog on which the preparation of tables and views depends. */
  readonly catalog: string;
  /** The facts in the table `warehouse`; undefined: there is no state. */
  readonly facts: ReadonlyMap<string, unknown> | undefined;
}

/** The result of a preparation that changed nothing. */
export interface Seen {
  readonly extensions: Extensions;
  /** A hash of the comments of tables that stand still. */
  readonly comments: string;
}

export const SEEN = "seen";
/** Runs of other companies, or of some streams alone, alternate in one warehouse. */
const MOST_ORDERS = 8;

const storedExtension = z.object({ others: z.array(z.string()), left: z.array(z.string()) });
const storedSeen = z.object({ extensions: z.record(z.string(), storedExtension), comments: z.string() });
const stored = z.object({ catalog: z.string(), orders: z.record(z.string(), storedSeen) });
const nothing = { catalog: "", orders: {} };

/**
 * Sends one statement to the catalog, and one for the facts. `functions`: there are to be some beside tables of versions.
 * @throws ConfigError for state tables of another shape
 */
export async function lookAt(place: Looked, functions = true): Promise<Look> {
  const { db, dialect, schema, stateSchema } = place;
  const { rows } = await dialect
    .catalogPrint({ schema, stateSchema, views: analyticsSchema(schema), functions })
    .execute(db);
  const { print, has_state } = rows[0]!;
  const facts = has_state ? await factsOf(db) : undefined;
  const look = { catalog: print, facts };
  if (!isSame(look)) await requireUsableState(place);
  return look;
}

const seenBy = ({ facts }: Look) => stored.catch(nothing).parse(facts?.get(SEEN));

/** Whether the catalog is the same as at the last preparation that changed nothing. */
const isSame = (look: Look): boolean => seenBy(look).catalog === look.catalog;

/** The facts about tables and views. Another process that alters tables while this run waits for a lock changes them. */
export const recordsOf = (facts: NonNullable<Look["facts"]>): readonly unknown[] =>
  [...facts].filter(([key]) => [...TABLE_FACTS, VIEWS].includes(key) || key.startsWith(UNFILLED)).sort();

export const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** The last result for the same catalog and the same order; `rest` is the part of the order that is known once the locks are taken. */
export function seenOf(look: Look, order: string, rest?: string): Seen | undefined {
  if (!isSame(look)) return undefined;
  const found = Object.entries(seenBy(look).orders).find(([key]) =>
    rest === undefined ? key.startsWith(order) : key === order + rest,
  );
  return found && { ...found[1], extensions: new Map(Object.entries(found[1].extensions)) };
}

/** Stores the result for the next run. */
export async function rememberLook(db: Db, look: Look, order: string, { extensions, comments }: Seen): Promise<void> {
  const before = isSame(look) ? Object.entries(seenBy(look).orders) : [];
  const own = [order, { extensions: Object.fromEntries(extensions), comments }] as const;
  const others = before.filter(([key]) => key !== order).slice(1 - MOST_ORDERS);
  await keepFact(db, SEEN, { catalog: look.catalog, orders: Object.fromEntries([...others, own]) });
}
