import type { Simulator } from "../../simulator/simulator.ts";
import type { Column } from "../../src/catalog/columns.ts";
import { ANYWHERE, type Detail, OBSERVED_ON, type Rows, type Snapshot, type Stream } from "../../src/catalog/stream.ts";
import { Digits, expectedValue, parseExactly } from "./expected.ts";

/*
 * What the service would tell of a stream now, worked out from the catalogue's facts alone: which rows there are, with which
 * keys, and what came beside them. Nothing here comes from the engine.
 */

type Row = Record<string, unknown>;

/** A row as the service tells it. */
export interface Told {
  /** Of the main row, as text. */
  readonly key: readonly string[];
  readonly row: unknown;
  readonly page: Row;
  readonly context: Row;
}

const CORE_LISTS: readonly string[] = ["purchase_orders", "invoices", "items", "findings", "ingested"];

/** Every row that the service has for a stream; lookups, which only a configuration can ask for, have none. */
export function* toldBy(
  simulator: Simulator,
  stream: Stream,
  streams: readonly Stream[],
  day: string,
): Generator<Told> {
  const { mode } = stream;
  switch (mode.kind) {
    case "detail":
      for (const { values, fill } of askedFor(simulator, mode, streams, day)) {
        const pages = pagesOf(simulator, `${stream.path.replace(/\{[^}]+\}/, encodeURIComponent(fill))}`, mode.paged);
        if (pages === undefined) continue;
        if (mode.rows === undefined) yield { key: values, row: pages[0], page: {}, context: named(stream, values) };
        else yield* rowsOf(stream, { ...mode, rows: mode.rows }, pages, named(stream, values));
      }
      return;
    case "snapshot":
      for (const values of combinations(mode)) {
        const query = new URLSearchParams({ ...stream.query, limit: "1", ...values });
        const row = exact(simulator.truth.get(`${stream.path}?${query}`)) as Row;
        for (const field of mode.omit ?? []) delete row[field];
        yield { key: [day, ...Object.values(values)], row, page: {}, context: { [OBSERVED_ON]: day, ...values } };
      }
      return;
    default: {
      if (mode.kind === "scan" && mode.lookup !== undefined) return;
      if (CORE_LISTS.includes(stream.name)) {
        const page = exact(simulator.truth.get(`${stream.path}?limit=1`)) as Row;
        yield* keyed(stream, simulator.truth.rows(stream.name), page, {});
        return;
      }
      const paged = mode.kind === "feed" || mode.paged !== false;
      const query = new URLSearchParams(stream.query);
      if (mode.kind === "scan" && mode.limit !== undefined) query.set("limit", String(mode.limit));
      const path = query.size === 0 ? stream.path : `${stream.path}?${query}`;
      yield* rowsOf(stream, mode, pagesOf(simulator, path, paged) ?? [], {});
    }
  }
}

/** The data of a path's one answer, or of all its cursor pages; undefined for 404. */
function pagesOf(simulator: Simulator, path: string, paged = false): readonly unknown[] | undefined {
  const pages: unknown[] = [];
  const join = path.includes("?") ? "&" : "?";
  let next = paged ? `${path}${join}limit=100` : path;
  for (;;) {
    const answer = simulator.truth.answer(next);
    if (answer === undefined) return undefined;
    pages.push(exact(answer.data));
    const cursor = answer.pagination?.next_cursor;
    if (!paged || answer.pagination?.has_more !== true || typeof cursor !== "string") return pages;
    next = `${path}${join}limit=100&cursor=${encodeURIComponent(cursor)}`;
  }
}

function* rowsOf(stream: Stream, listing: Rows, pages: readonly unknown[], context: Row): Generator<Told> {
  // The simulator keeps rows whose place nobody knows under the list's own name, as the other lists do.
  const path = listing.rows === ANYWHERE ? stream.name : listing.rows;
  const sections = typeof path === "string" ? [[undefined, path]] : Object.entries(path.of);
  const places = new Map<string, number>();
  for (const page of pages) {
    for (const [section, path] of sections) {
      const rows = at(page, path === "" ? [] : path!.split(".")) as readonly unknown[];
      const beside = typeof listing.rows === "string" ? context : { ...context, [listing.rows.column]: section };
      yield* keyed(stream, rows, page as Row, beside, places);
    }
  }
}

/** On a row that came as a bare value: that value. */
const BARE = Symbol("bare");

const asObject = (row: unknown, { mode }: Stream): unknown => {
  const scalar = mode.kind === "snapshot" ? undefined : mode.scalar;
  const isRow = scalar === undefined || (typeof row === "object" && row !== null && !(row instanceof Digits));
  return isRow ? row : { [scalar]: row, [BARE]: row };
};

/** The rows that have a key; `_index` counts those with equal other parts of it. */
function* keyed(
  stream: Stream,
  rows: Iterable<unknown>,
  page: Row,
  context: Row,
  places = new Map<string, number>(),
): Generator<Told> {
  const columns = keyColumns(stream);
  for (const raw of rows) {
    const row = asObject(exact(raw), stream);
    const own = columns.filter(column => column.name !== "_index");
    const parts = own.map(column =>
      expectedValue("id", column.source === "row" ? at(row, column.path) : context[column.name]),
    );
    // A row without its key is none that a table could hold.
    if (!parts.every(part => typeof part === "string")) continue;
    if (own.length === columns.length) {
      yield { key: parts as string[], row, page, context };
      continue;
    }
    const place = places.get(JSON.stringify(parts)) ?? 0;
    places.set(JSON.stringify(parts), place + 1);
    const key = columns.map(column =>
      column.name === "_index" ? String(place) : (parts[own.indexOf(column)] as string),
    );
    yield { key, row, page, context: { ...context, _index: place } };
  }
}

interface Asked {
  /** The parent's part of the key. */
  readonly values: readonly string[];
  /** What fills the path. */
  readonly fill: string;
}

/** What a detail is asked for: each row of its parent, or each value that rows of its parents carry. */
function* askedFor(simulator: Simulator, mode: Detail, streams: readonly Stream[], day: string): Generator<Asked> {
  const parent = streamCalled(streams, mode.of);
  if (mode.by === undefined) {
    for (const told of toldBy(simulator, parent, streams, day)) {
      if (mode.only !== undefined && carriedBy(parent, told, mode.only.column) !== mode.only.value) continue;
      const [parameter] = Object.values(mode.param ?? {});
      const fill = parameter === undefined ? told.key[0]! : String(carriedBy(parent, told, parameter));
      yield { values: told.key, fill };
    }
    return;
  }
  const columns = [[mode.of, mode.by], ...(mode.also ?? []).map(column => column.split("."))];
  const values = new Set<string>();
  for (const [name, column] of columns as [string, string][]) {
    const carrier = streamCalled(streams, name);
    for (const told of toldBy(simulator, carrier, streams, day)) {
      if (mode.only !== undefined && carriedBy(carrier, told, mode.only.column) !== mode.only.value) continue;
      const value = carriedBy(carrier, told, column);
      if (typeof value === "object" && value !== null) for (const field of Object.keys(value)) values.add(field);
      else {
        const text = expectedValue("id", value);
        if (typeof text === "string" && text !== "") values.add(text);
      }
    }
  }
  for (const value of values) yield { values: [value], fill: value };
}

const streamCalled = (streams: readonly Stream[], name: string): Stream =>
  streams.find(stream => stream.name === name)!;

function carriedBy(stream: Stream, told: Told, name: string): unknown {
  const column = stream.tables.main.columns.find(candidate => candidate.name === name)!;
  return column.source === "row" ? at(told.row, column.path) : told.context[name];
}

const named = (stream: Stream, values: readonly string[]): Row =>
  Object.fromEntries(values.map((value, index) => [stream.key[index]!, value]));

/** Every combination of a snapshot's parameters; one of none. */
function combinations({ parameters = {} }: Snapshot): readonly Record<string, string>[] {
  let sets: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(parameters))
    sets = sets.flatMap(set => values.map(value => ({ ...set, [name]: value })));
  return sets;
}

/** Fields of the simulator's that hold secrets: no table may show that they are there. */
const SECRETS: readonly string[] = ["webhook_secret", "api_key", "bot_token"];

const exact = (value: unknown): unknown =>
  parseExactly(JSON.stringify(value, (name, inner) => (SECRETS.includes(snakeCase(name)) ? undefined : inner)));

/** "Bot token" as "bot_token". */
const snakeCase = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, "_");

const keyColumns = (stream: Stream): Column[] =>
  stream.key.map(name => stream.tables.main.columns.find(column => column.name === name)!);

/** What stands at a path of field names; the value itself where the path is empty. */
export function at(row: unknown, path: readonly string[]): unknown {
  if (path.length === 0 && typeof row === "object" && row !== null && BARE in row) return row[BARE];
  return path.reduce<unknown>((value, field) => {
    return typeof value === "object" && value !== null && Object.hasOwn(value, field)
      ? (value as Row)[field]
      : undefined;
  }, row);
}
