import { inDependencyOrder, type Model, modelSelect } from "../../catalog/model.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import type { Schemas } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import type { Catalog } from "../ddl/database_catalog.ts";
import type { Dialect } from "../dialect.ts";
import { viewsMessages } from "./messages.ts";
import type { PresentViews } from "./present_views.ts";
import { type Compile, isThere, tableViews } from "./table_views.ts";
import { printOf, storedDefinition, type View, type ViewOrder, type ViewRecord } from "./view.ts";

export interface ViewPlan {
  /** Views to be made or made anew, each after those it reads. */
  readonly changed: readonly View[];
  /** Views whose comments alone differ. */
  readonly recommented: readonly View[];
  readonly obsolete: readonly string[];
  /** All that are wanted and can be had, by name. */
  readonly wanted: ReadonlyMap<string, View>;
  readonly warnings: readonly Message[];
}

/** Compares the views that are there with those that the tables and models give. */
export function planViews(
  dialect: Dialect,
  place: Schemas,
  order: ViewOrder,
  {
    present,
    ...tables
  }: { readonly catalog: Catalog; readonly made: ReadonlySet<string>; readonly present: PresentViews },
  compile: Compile,
): ViewPlan {
  const warnings: Message[] = [];
  const isInTheWay = (name: string) => present.names.get(name) === false;
  const wanted = new Map<string, View>();
  const take = (view: View) => {
    if (isInTheWay(view.name)) warnings.push(viewsMessages.in_the_way({ view: `${order.schema}.${view.name}` }));
    else wanted.set(view.name, view);
  };
  if (order.wanted) {
    for (const view of tableViews(dialect, place, order, tables, compile)) take(view);
    // Tables of versions have no views, which would stand in for columns that are left out.
    const versions = new Set(
      order.catalogue
        .flatMap(({ tables: { main, children } }) => [main, ...children])
        .flatMap(table => (table.excluded?.length ? [] : [versionsName(table)])),
    );
    const has = (name: string) => wanted.has(name) || (versions.has(name) && isThere(place, tables, name));
    for (const model of inDependencyOrder(order.models)) {
      if (model.needs.every(has)) take(viewOfModel(dialect, model, place, order, has));
    }
  }
  const all = [...wanted.values()];
  const moved = new Set(viewsOfOthers(present, { ...place, shown: order.schema }, order.catalogue));
  const isBound = ({ name }: View) => !moved.has(name);
  const isDefined = (view: View) => {
    const before = present.names.get(view.name) === true ? present.record[view.name] : undefined;
    const { definition } = printOf(view);
    const is = [definition, ...(order.stored ? [storedDefinition(definition)] : [])];
    return before !== undefined && is.includes(before.definition) && isBound(view);
  };
  const isCommented = ({ name, ...view }: View) =>
    !present.bare.has(name) && present.record[name]?.comments === printOf({ name, ...view }).comments;
  return {
    changed: all.filter(view => !isDefined(view)),
    recommented: all.filter(view => isDefined(view) && !isCommented(view)),
    obsolete: Object.keys(present.record).filter(name => present.names.get(name) === true && !wanted.has(name)),
    wanted,
    warnings,
  };
}

/** The views that read another table than a stream's: one that was renamed or moved is still what the views of before read. */
export function viewsOfOthers(
  present: PresentViews,
  { schema, stateSchema, shown }: Schemas & { readonly shown: string },
  catalogue: readonly Stream[],
): readonly string[] {
  const places = [stateSchema, shown].map(schema => `${schema}.`);
  const ours = new Set(catalogue.flatMap(stream => namesOf(schema, stream)));
  const isOurs = (read: string) => ours.has(read) || places.some(place => read.startsWith(place));
  return [...present.reads].flatMap(([name, reads]) => (reads.every(isOurs) ? [] : [name]));
}

/** The tables of a stream, those of versions included, `schema.name`. */
const namesOf = (schema: string, { tables: { main, children } }: Stream): readonly string[] =>
  [main, ...children].flatMap(table => [table.name, versionsName(table)].map(name => `${schema}.${name}`));

export const isDone = ({ changed, recommented, obsolete }: ViewPlan): boolean =>
  changed.length + recommented.length + obsolete.length === 0;

export const recordOf = (views: Iterable<View>): ViewRecord =>
  Object.fromEntries([...views].map(view => [view.name, printOf(view)]));

export function viewOfModel(
  { product }: Dialect,
  model: Model,
  place: Schemas,
  order: Pick<ViewOrder, "schema" | "writtenFor" | "meanings" | "currency">,
  has: (name: string) => boolean,
): View {
  const places = {
    [`${order.writtenFor.schema}_analytics`]: order.schema,
    [order.writtenFor.schema]: place.schema,
    [order.writtenFor.stateSchema]: place.stateSchema,
  };
  return {
    name: model.name,
    select: modelSelect(model, has, places, { ...order, product }),
    comment: model.description,
    columns: model.columns.map(({ name, description }) => ({ name, comment: description })),
  };
}
