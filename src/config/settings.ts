import { type Cause, causesOf, possibleFor } from "../catalog/cause.ts";
import type { Kind } from "../catalog/columns.ts";
import {
  type Asking,
  asksNothing,
  loadedColumn,
  lookupOf,
  parameterNamed,
  requiredParameters,
  saysAnything,
  unanswered,
  waitsFor,
} from "../catalog/lookup.ts";
import type { Relation } from "../catalog/relation.ts";
import { mayWiden, type Stream } from "../catalog/stream.ts";
import { ConfigError, refuse } from "../errors.ts";
import type { Message } from "../message.ts";
import { nearest } from "../nearest_name.ts";
import type { StreamSettings } from "./config.ts";
import { configMessages } from "./messages.ts";

/** What the config says of a stream that is compared with the catalogue. */
export type OwnSettings = Pick<StreamSettings, "volatile"> &
  Partial<Pick<StreamSettings, "key" | "unknownFields" | keyof Asking>> & {
    readonly details?: Partial<NonNullable<StreamSettings["details"]>> | undefined;
  };

/** Checks a stream's settings against the catalogue. @throws ConfigError that names every wrong key and the known ones */
export function requireSettings(catalogue: readonly Stream[], stream: Stream, own: OwnSettings): void {
  const asking = { ...asksNothing, ...own };
  const place = `streams.settings.${stream.name}`;
  const faults = [...columnFaults(catalogue, stream, own)];
  if (lookupOf(stream) !== undefined) faults.push(...askingFaults(catalogue, stream, asking, place));
  else if (asking.values.length + Object.keys(asking.from).length + Object.keys(asking.rename).length > 0)
    faults.push(configMessages.no_lookup({ stream: stream.name }));
  else {
    const { mode } = stream;
    const known = mode.kind === "snapshot" ? Object.keys(mode.parameters ?? {}) : [];
    for (const name of Object.keys(asking.parameters))
      faults.push(...unknown(`${place}.parameters`, name, known, `parameter of ${stream.name}`));
  }
  refuse(faults);
}

/** Which changes of rows make which details due, as relations and configuration say. @throws ConfigError for a stream that has nothing to do with a detail's rows */
export function configuredCauses(
  catalogue: readonly Stream[],
  relations: readonly Relation[],
  settings: Readonly<Record<string, OwnSettings>>,
): readonly Cause[] {
  const ownOf = (detail: string) => ({
    with: settings[detail]?.details?.with ?? [],
    without: settings[detail]?.details?.without ?? [],
  });
  const faults = Object.keys(settings).flatMap(detail => {
    const possible = possibleFor(catalogue, relations, detail);
    const { with: added, without } = ownOf(detail);
    return [...added, ...without]
      .filter(name => !possible.includes(name))
      .map(name => configMessages.unrelated_cause({ stream: detail, name, possible }));
  });
  refuse(faults);
  return causesOf(catalogue, relations, ownOf);
}

/** Lookups that take their values from each other would wait for each other. @throws ConfigError that names them */
export function requireOrder(catalogue: readonly Stream[], settings: Readonly<Record<string, OwnSettings>>): void {
  const next = (stream: Stream): Stream[] => {
    const tables = waitsFor(stream, { ...asksNothing, ...settings[stream.name] });
    if (tables.length === 0) return [];
    return catalogue.filter(({ tables: { main, children } }) =>
      [main, ...children].some(table => tables.includes(table.name)),
    );
  };
  const visit = (stream: Stream, way: readonly Stream[]): void => {
    if (way.includes(stream)) {
      const circle = [...way.slice(way.indexOf(stream)), stream].map(({ name }) => name);
      throw new ConfigError(configMessages.circular_values({ streams: circle }));
    }
    for (const other of next(stream)) visit(other, [...way, stream]);
  };
  for (const name of Object.keys(settings)) {
    const stream = catalogue.find(each => each.name === name);
    if (stream !== undefined) visit(stream, []);
  }
}

function* columnFaults(catalogue: readonly Stream[], stream: Stream, own: OwnSettings): Generator<Message> {
  const { name, mode } = stream;
  const place = `streams.settings.${name}`;
  const changeable = stream.tables.main.columns.filter(column => !stream.key.includes(column.name));
  // Where fields get columns that the documents don't name, only the warehouse knows them all.
  for (const column of own.unknownFields === "column" ? [] : own.volatile)
    yield* unknown(`${place}.volatile`, column, namesOf(changeable), `column of ${name} that may be volatile`);
  yield* keyFaults(catalogue, stream, own);
  if (own.details === undefined) return;
  if (mode.kind !== "detail") return yield configMessages.no_details({ stream: name });
  const { with: added = [], without = [] } = own.details;
  for (const [key, names] of Object.entries({ with: added, without }))
    for (const named of names) yield* unknown(`${place}.details.${key}`, named, namesOf(catalogue), "stream");
}

const TEXTS: readonly Kind[] = ["id", "text"];
/** A field that its column is called after. */
const FIELD = /^[a-z][a-z0-9_]{0,62}$/;

/** A key may only become wider: details, child tables and lookups begin with the stream's own. */
function* keyFaults(catalogue: readonly Stream[], stream: Stream, own: OwnSettings): Generator<Message> {
  const { key = [] } = own;
  if (key.length === 0) return;
  const { name, tables } = stream;
  if (!mayWiden(catalogue, stream)) return yield configMessages.fixed_key({ stream: name });
  const further = key.slice(stream.key.length);
  const isWider = stream.key.every((column, nth) => key[nth] === column) && further.length > 0;
  if (!isWider || new Set(key).size < key.length)
    yield configMessages.no_wider_key({ stream: name, key: stream.key, got: key });
  const possible = tables.main.columns.filter(({ kind, source }) => source === "row" && TEXTS.includes(kind));
  const documented = tables.main.columns.map(column => column.name);
  const isNew = (column: string) => !documented.includes(column) && FIELD.test(column);
  for (const column of further)
    if (own.unknownFields !== "column" || !isNew(column))
      yield* unknown(`streams.settings.${name}.key`, column, namesOf(possible), `text or id of ${name}`);
}

function* askingFaults(
  catalogue: readonly Stream[],
  stream: Stream,
  asking: Asking,
  place: string,
): Generator<Message> {
  const { values, parameters, from, rename } = asking;
  const named = [
    ...values.flatMap((set, index) => Object.keys(set).map(name => [`values[${index}]`, name] as const)),
    ...Object.keys(parameters).map(name => ["parameters", name] as const),
    ...Object.keys(from).map(name => ["from", name] as const),
    ...Object.keys(rename).map(name => ["rename", name] as const),
  ];
  const givenBy = new Map<string, string>();
  let areKnown = true;
  for (const [key, name] of named) {
    const own = parameterNamed(stream, name);
    if (own === undefined) {
      areKnown = false;
      yield* unknown(`${place}.${key}`, name, requiredParameters(stream), `parameter of ${stream.name}`);
    } else if (key !== "rename") {
      const kind = key.startsWith("values") ? "values" : key;
      const other = givenBy.get(own);
      if (other !== undefined && other !== kind)
        yield configMessages.values_twice({ stream: stream.name, parameter: name, keys: [other, kind] });
      givenBy.set(own, kind);
    }
  }
  for (const name of Object.keys(rename))
    if (stream.path.includes(`{${parameterNamed(stream, name)}}`))
      yield configMessages.renamed_in_path({ stream: stream.name, parameter: name });
  for (const [name, columns] of Object.entries(from))
    for (const column of columns) yield* unloaded(catalogue, `${place}.from.${name}`, column);
  const missing = unanswered(stream, asking);
  if (areKnown && saysAnything(asking) && missing.length > 0)
    yield configMessages.parameter_without_values({ ...requiredOf(stream), missing });
}

function* unloaded(catalogue: readonly Stream[], place: string, named: string): Generator<Message> {
  if (loadedColumn(catalogue, named) !== undefined) return;
  const [table = "", column = ""] = named.split(".");
  const tables = catalogue.flatMap(({ tables: { main, children } }) => [main, ...children]);
  const found = tables.find(each => each.name === table);
  if (found === undefined) yield* unknown(place, table, namesOf(tables), "table");
  else yield* unknown(place, column, namesOf(found.columns), `column of ${table}`);
}

/** The values that a lookup needs, as messages name them. */
export const requiredOf = (stream: Stream) => ({
  stream: stream.name,
  required: requiredParameters(stream),
  takes_others: lookupOf(stream)?.passes === true,
});

const namesOf = (named: readonly { readonly name: string }[]): string[] => named.map(({ name }) => name);

function* unknown(where: string, name: string, known: readonly string[], expected: string): Generator<Message> {
  if (known.includes(name)) return;
  const near = nearest(name, known);
  const few = near === undefined && known.length <= 12 ? known : undefined;
  yield configMessages.unknown_name({ where, name, expected, near, known: few });
}
