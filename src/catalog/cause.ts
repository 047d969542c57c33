import { INDEX_COLUMN } from "./columns.ts";
import { type Relation, relationName } from "./relation.ts";
import { detailsOf, type Stream } from "./stream.ts";

/** A row of one list that changes, comes or goes makes details of another list's rows due: of those that it names, or that name it. */
export interface Cause {
  /** The stream whose rows change. */
  readonly stream: string;
  /** The changed row's column that tells the parents. */
  readonly column: string;
  /** The parents are the rows with that value in this column of their own; absent: it is their key. */
  readonly parentColumn: string | undefined;
  /** The list whose rows are the parents. */
  readonly parents: string;
  /** Streams of its details. */
  readonly details: readonly string[];
}

/** What the configuration adds to a detail stream's causes, by the stream whose rows change, and takes away. */
export interface OwnCauses {
  readonly with: readonly string[];
  readonly without: readonly string[];
}

/** What makes which details due: by the relations that say so, and by what the configuration says. */
export function causesOf(
  catalogue: readonly Stream[],
  relations: readonly Relation[],
  ownOf: (detail: string) => OwnCauses,
): readonly Cause[] {
  return possibleCauses(catalogue, relations).flatMap(({ said, ...cause }) => {
    const details = cause.details.filter(detail => {
      const own = ownOf(detail);
      return !own.without.includes(cause.stream) && (said.includes(detail) || own.with.includes(cause.stream));
    });
    return details.length === 0 ? [] : [{ ...cause, details }];
  });
}

/** The streams whose rows may make a stream's details due. */
export const possibleFor = (catalogue: readonly Stream[], relations: readonly Relation[], detail: string) => [
  ...new Set(
    possibleCauses(catalogue, relations)
      .filter(({ details }) => details.includes(detail))
      .map(({ stream }) => stream),
  ),
];

/** Each relation in both directions, with all details of the parents; `said`: those that the relation itself says are due. */
function possibleCauses(
  catalogue: readonly Stream[],
  relations: readonly Relation[],
): readonly (Cause & { readonly said: readonly string[] })[] {
  return relations.flatMap(relation => {
    const from = catalogue.find(({ name, mode }) => name === relation.from.table && mode.kind !== "detail");
    const to = keyedBy(catalogue, relation);
    if (from === undefined || to === undefined) return [];
    const { list, at } = to;
    const column = relation.from.columns[at]!;
    const { to: toDetails = [], from: fromDetails = [] } = relation.refreshes ?? {};
    requireDetails(catalogue, relation, [...toDetails, ...fromDetails]);
    const there = { stream: from.name, column, parentColumn: undefined, parents: list.name };
    const back = { stream: list.name, column: list.key[0]!, parentColumn: column, parents: from.name };
    return [
      { ...there, details: namesOf(detailsOf(catalogue, list)), said: toDetails },
      ...(isKeyed(from) ? [{ ...back, details: namesOf(detailsOf(catalogue, from)), said: fromDetails }] : []),
    ].filter(({ stream, parents }) => stream !== parents);
  });
}

const namesOf = (streams: readonly Stream[]): readonly string[] => streams.map(({ name }) => name);

/** The list that a relation's far end belongs to, and which of the end's columns is its key: also where the end is a table of its details. */
function keyedBy(
  catalogue: readonly Stream[],
  { to }: Relation,
): { readonly list: Stream; readonly at: number } | undefined {
  const owner = catalogue.find(({ tables: { main, children } }) =>
    [main, ...children].some(table => table.name === to.table),
  );
  if (owner === undefined) return undefined;
  const { mode } = owner;
  const list =
    mode.kind === "detail"
      ? mode.by === undefined
        ? catalogue.find(({ name }) => name === mode.of)
        : undefined
      : owner;
  if (list === undefined || !isKeyed(list)) return undefined;
  const at = to.columns.indexOf(mode.kind === "detail" ? owner.key[0]! : list.key[0]!);
  return at < 0 ? undefined : { list, at };
}

/** Whether a value tells a row: a key of several columns is named by none. */
const isKeyed = ({ key, mode }: Stream): boolean =>
  mode.kind !== "detail" && key.length === 1 && !key.includes(INDEX_COLUMN);

/** A name that is no detail stream would never be noticed: nothing would be due. */
function requireDetails(catalogue: readonly Stream[], relation: Relation, names: readonly string[]): void {
  const wrong = names.find(name => catalogue.some(other => other.name === name && other.mode.kind !== "detail"));
  if (wrong !== undefined)
    throw new TypeError(`${relationName(relation)} refreshes ${wrong}, which is no detail stream`);
}
