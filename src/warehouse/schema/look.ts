import { z } from "zod";
import type { Table } from "../../catalog/columns.ts";
import type { Clock } from "../../clock.ts";
import { digestOf } from "../../digest.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
import { buildIdentity } from "../../package_root.ts";
import type { Db } from "../database.ts";
import { altering } from "../ddl/alteration.ts";
import type { Looked } from "../ddl/present_tables.ts";
import type { Dialect } from "../dialect.ts";
import { UNFILLED } from "../merge/unfilled.ts";
import { factOf, factsOf, keepFact, recordedFacts } from "../state/facts.ts";
import { requireUsableState } from "../state/state_ddl.ts";
import { stateTables } from "../state_tables.ts";
import { VIEWS } from "../views/present_views.ts";
import { analyticsSchema } from "../views/view.ts";
import { TABLE_FACTS } from "./table_record.ts";

/** By the table's name, the columns that somebody added to it. */
export type Extensions = ReadonlyMap<string, NonNullable<Table["extended"]>>;

/** The database when a run begins. */
export interface Look {
  /** A hash of everything in the catalog, and in this build of the program, on which the preparation of tables and views depends. */
  readonly catalog: string;
  /** The facts in the table `warehouse`; undefined: there is no state. */
  readonly facts: ReadonlyMap<string, unknown> | undefined;
  /** Whether so much time has passed that somebody may have altered tables. */
  isOld(): boolean;
  again(): Promise<Look>;
}

/** The result of a preparation after which the catalog was as before it. */
export interface Seen {
  readonly extensions: Extensions;
  /** A hash of the comments of tables that stand still. */
  readonly comments: string;
  readonly warnings: readonly Message[];
}

export const SEEN = "seen";
/** Runs of other companies, or of some streams alone, alternate in one warehouse. */
const MOST_ORDERS = 8;
/** A run that waited for a lock or for the service takes longer. */
const FRESH_MS = 2_000;
const PERMISSION_DENIED = "42501";

const storedExtension = z.object({ others: z.array(z.string()), left: z.array(z.string()) });
const storedMessage = z.object({ code: z.string(), message: z.string(), fields: z.record(z.string(), z.unknown()) });
const storedSeen = z.object({
  extensions: z.record(z.string(), storedExtension),
  comments: z.string(),
  warnings: z.array(storedMessage),
});
const stored = z.object({ catalog: z.string(), orders: z.record(z.string(), storedSeen) });
const nothing = { catalog: "", orders: {} };

interface Looking {
  readonly clock: Pick<Clock, "now">;
  /** Roles that may read. */
  readonly readers: readonly string[];
  /** Whether there are to be functions beside tables of versions. */
  readonly functions: boolean;
}

/** Sends one statement to the catalog, and one for the facts. @throws ConfigError for state tables of another shape */
export async function lookAt(place: Looked, looking: Looking): Promise<Look> {
  const { db, dialect, schema, stateSchema } = place;
  const at = looking.clock.now();
  const query = dialect.catalogPrint({ schema, stateSchema, views: analyticsSchema(schema), ...looking });
  const [found] = await query.execute(db).then(
    ({ rows }) => rows,
    error => {
      // A hardened server hides some of its catalog: each run then prepares everything.
      if (codeOf(error) !== PERMISSION_DENIED) throw error;
      return [];
    },
  );
  const facts = found === undefined ? await recordedFacts(place) : found.has_state ? await factsOf(db) : undefined;
  const look: Look = {
    catalog: found === undefined ? "" : digestOf([found.print, stateTables, buildIdentity()]),
    facts,
    isOld: () => looking.clock.now() - at > FRESH_MS,
    again: () => lookAt(place, looking),
  };
  if (!isSame(look)) await requireUsableState(place);
  return look;
}

const seenIn = (fact: unknown) => stored.catch(nothing).parse(fact);

/** Whether the catalog is the same as at the last preparation that changed nothing. */
const isSame = ({ catalog, facts }: Look): boolean => catalog !== "" && seenIn(facts?.get(SEEN)).catalog === catalog;

/** The facts about tables and views. Another process that alters tables while this run waits for a lock changes them. */
export const recordsOf = (facts: NonNullable<Look["facts"]>): readonly unknown[] =>
  [...facts].filter(([key]) => [...TABLE_FACTS, VIEWS].includes(key) || key.startsWith(UNFILLED)).sort();

/** The last result for the same catalog and the same order; `rest` is the part of the order that is known once the locks are taken. */
export function seenOf(look: Look, order: string, rest?: string): Seen | undefined {
  if (!isSame(look)) return undefined;
  const found = Object.entries(seenIn(look.facts?.get(SEEN)).orders).find(([key]) =>
    rest === undefined ? key.startsWith(order) : key === order + rest,
  );
  return found && { ...found[1], extensions: new Map(Object.entries(found[1].extensions)) };
}

/** Stores the result for the next run. */
export async function rememberLook(
  db: Db,
  dialect: Dialect,
  { catalog }: Look,
  order: string,
  { extensions, ...others }: Seen,
): Promise<void> {
  if (catalog === "") return;
  await altering(db, dialect, async trx => {
    const before = seenIn(await factOf(trx, SEEN));
    const kept = before.catalog === catalog ? Object.entries(before.orders).filter(([key]) => key !== order) : [];
    const own = [order, { ...others, extensions: Object.fromEntries(extensions) }] as const;
    await keepFact(trx, SEEN, { catalog, orders: Object.fromEntries([...kept.slice(1 - MOST_ORDERS), own]) });
  });
}
