import { ASKED_WITH, type Lookup, parameterColumn, pathParameters, type Stream } from "./stream.ts";

/** What the config says a stream asks with; values are text, names as the config spells them. */
export interface Asking {
  /** Sets of values, each asked for by itself. */
  readonly values: readonly Readonly<Record<string, string>>[];
  /** Values of single parameters: all combinations, with each set. */
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  /** Columns (`table.column`) whose distinct live values a parameter takes. */
  readonly from: Readonly<Record<string, readonly string[]>>;
  /** Other names under which query parameters are sent. */
  readonly rename: Readonly<Record<string, string>>;
}

export const asksNothing: Asking = { values: [], parameters: {}, from: {}, rename: {} };

/** A lookup's question before its path is built: by parameter's own name, and what its rows know of it, by column. */
export interface ValueSet {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly context: Readonly<Record<string, string>>;
}

type Values = Readonly<Record<string, string>>;

/** The facts of a stream that is a lookup; undefined for others. */
export function lookupOf({ mode }: Pick<Stream, "mode">): Lookup | undefined {
  return mode.kind === "scan" ? mode.lookup : undefined;
}

/** The parameters that each question needs a value for. */
export function requiredParameters(stream: Stream): readonly string[] {
  return [...pathParameters(stream.path), ...(lookupOf(stream)?.ask ?? [])];
}

/** A parameter's own name for what the config calls it; undefined where the stream has no such parameter. */
export function parameterNamed(stream: Stream, name: string): string | undefined {
  const column = parameterColumn(name);
  const own = requiredParameters(stream).find(parameter => [parameter, parameterColumn(parameter)].includes(column));
  return own ?? (lookupOf(stream)?.passes === true ? name : undefined);
}

/** Whether the config gives all that the lookup asks with. */
export function isAsked(stream: Stream, asking: Asking | undefined): boolean {
  return asking !== undefined && saysAnything(asking) && unanswered(stream, asking).length === 0;
}

/** Whether the config names values at all. */
export function saysAnything({ values, parameters, from }: Asking): boolean {
  return values.length + Object.keys(parameters).length + Object.keys(from).length > 0;
}

/** Parameters that no key of the config gives values for, nor a column that the stream itself names. */
export function unanswered(stream: Stream, asking: Asking): readonly string[] {
  const { values } = asking;
  const shared = new Set([...namesOf(stream, asking.parameters), ...Object.keys(sourcesOf(stream, asking))]);
  const inAllSets = (name: string) => values.length > 0 && values.every(set => namesOf(stream, set).includes(name));
  return requiredParameters(stream).filter(name => !shared.has(name) && !inAllSets(name));
}

/** The columns (`table.column`) that parameters take their values from, by parameter. */
export function sourcesOf(stream: Stream, asking: Asking): Readonly<Record<string, readonly string[]>> {
  const configured = Object.entries(asking.from).map(([name, columns]) => [own(stream, name), columns] as const);
  const given = new Set([
    ...namesOf(stream, asking.parameters),
    ...asking.values.flatMap(set => namesOf(stream, set)),
    ...configured.map(([name]) => name),
  ]);
  const byItself = Object.entries(lookupOf(stream)?.from ?? {})
    .map(([name, columns]) => [own(stream, name), columns] as const)
    .filter(([name]) => !given.has(name));
  return Object.fromEntries([...configured, ...byItself]);
}

/** The tables whose columns give a lookup its values: their streams are read before it. */
export function waitsFor(stream: Stream, asking: Asking): readonly string[] {
  if (lookupOf(stream) === undefined) return [];
  const columns = Object.values(sourcesOf(stream, asking)).flat();
  return [...new Set(columns.map(column => column.split(".")[0]!))];
}

/** Every question that the config asks, each once; `found` are the values of the columns, by parameter. */
export function valueSets(
  stream: Stream,
  asking: Asking,
  found: Readonly<Record<string, readonly string[]>>,
): readonly ValueSet[] {
  const parameters = Object.entries(asking.parameters).map(([name, values]) => [own(stream, name), values] as const);
  const sets = asking.values.length === 0 ? [{}] : asking.values.map(set => renamed(stream, set));
  const choices = combinations([...Object.entries(found), ...parameters]);
  const unique = new Map<string, ValueSet>();
  for (const set of sets) {
    for (const choice of choices) {
      const question = questionOf(stream, asking, { ...set, ...choice });
      unique.set(JSON.stringify(Object.entries(question.context)), question);
    }
  }
  return [...unique.values()];
}

/** All ways to take one value of each name; one empty way for no names. */
export function combinations(choices: readonly (readonly [name: string, values: readonly string[]])[]): Values[] {
  return choices.reduce<Values[]>(
    (sets, [name, values]) => sets.flatMap(set => values.map(value => ({ ...set, [name]: value }))),
    [{}],
  );
}

function questionOf(stream: Stream, { rename }: Asking, values: Values): ValueSet {
  const inPath = new Set(pathParameters(stream.path));
  const required = new Set(requiredParameters(stream));
  const sentAs = Object.fromEntries(Object.entries(rename).map(([name, other]) => [own(stream, name), other]));
  const names = Object.keys(values);
  const pick = (some: readonly string[], as: (name: string) => string): Values =>
    Object.fromEntries(some.map(name => [as(name), values[name]!]));
  const passed = names.filter(name => !inPath.has(name)).sort();
  const context = pick([...required], parameterColumn);
  const askedWith = passed.map(name => `${name}=${values[name]}`).join("&");
  return {
    path: pick([...inPath], name => name),
    query: pick(passed, name => sentAs[name] ?? name),
    context: lookupOf(stream)?.passes === true ? { ...context, [ASKED_WITH]: askedWith } : context,
  };
}

const own = (stream: Stream, name: string): string => parameterNamed(stream, name) ?? name;

const renamed = (stream: Stream, values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [own(stream, name), value]));

const namesOf = (stream: Stream, values: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(values).map(name => own(stream, name));

/** Where a `table.column` of the catalogue stands, and its kind; undefined for one that no stream has. */
export function loadedColumn(catalogue: readonly Stream[], named: string) {
  const [table, column] = named.split(".");
  for (const stream of catalogue) {
    const found = [stream.tables.main, ...stream.tables.children].find(candidate => candidate.name === table);
    if (found === undefined) continue;
    const there = found.columns.find(candidate => candidate.name === column);
    return there === undefined ? undefined : { stream, table: found.name, column: there.name, kind: there.kind };
  }
  return undefined;
}
