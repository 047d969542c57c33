import type { Model } from "../../catalog/model.ts";
import { DestinationError } from "../../errors.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { columnsIn } from "../../warehouse/ddl/database_catalog.ts";
import { unreadable } from "../../warehouse/ddl/rights.ts";
import { reportMessages } from "../messages.ts";

export interface Lack {
  readonly model: string;
  /** `beyond`: its values are more than the database can count with. */
  readonly why: "missing" | "outdated" | "beyond";
  readonly tables: readonly string[];
}

export type Lacks = ReadonlyMap<string, Lack>;

/**
 * Looks which models are there. DestinationError where none is, or where this role may not read them.
 * `schema`: where the views stand.
 */
export async function lacksOf(
  reading: WarehouseReading,
  schema: string,
  needed: readonly string[],
  models: readonly Model[],
): Promise<Lacks> {
  const present = await columnsIn(reading.db, schema);
  if (reading.dialect.isServer) await requireReadRights(reading, schema, needed);
  if (!needed.some(name => present.has(name))) throw new DestinationError(reportMessages.no_views({ schema }));
  const byName = new Map(models.map(model => [model.name, model]));
  const lacks = needed.flatMap((name): Lack[] => {
    const columns = present.get(name);
    const expected = byName.get(name)?.columns ?? [];
    if (columns === undefined) return [{ model: name, why: "missing", tables: missingTables(name, byName, present) }];
    const isWhole = expected.every(column => columns.has(column.name));
    return isWhole ? [] : [{ model: name, why: "outdated", tables: [] }];
  });
  return new Map(lacks.map(lack => [lack.model, lack]));
}

/** What is no model is a table; those that there is no view of have never been loaded. */
function missingTables(
  name: string,
  models: ReadonlyMap<string, Model>,
  present: ReadonlyMap<string, unknown>,
): readonly string[] {
  const model = models.get(name);
  if (model === undefined) return present.has(name) ? [] : [name];
  return [...new Set(model.needs.flatMap(need => missingTables(need, models, present)))];
}

async function requireReadRights({ db }: WarehouseReading, schema: string, needed: readonly string[]): Promise<void> {
  const denied = await unreadable(db, schema, needed);
  if (denied === undefined) return;
  const { role, names } = denied;
  throw new DestinationError(reportMessages.not_readable({ role, views: names, schema }));
}
