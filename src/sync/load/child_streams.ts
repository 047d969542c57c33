import { type Detail, OBSERVED_ON, type Stream } from "../../catalog/stream.ts";
import type { ChildStream, Parents, ValueSource } from "../../warehouse/details/parents.ts";
import type { LoadCause, LoadTarget } from "../../warehouse/merge/load_target.ts";
import type { SyncContext } from "../context.ts";

/** A detail's key begins with its parent's, column by column. */
function pairs(detail: Stream, parent: Stream): ChildStream["on"] {
  return parent.key.map((name, i) => [detail.key[i]!, name] as const);
}

export const childStreamOf = (detail: Stream, parent: Stream): ChildStream => ({
  stream: detail.name,
  tables: detail.tables,
  on: pairs(detail, parent),
});

/** What a detail is asked for. @throws TypeError when the catalogue lacks it */
export function parentsOf(catalogue: readonly Stream[], stream: Stream, mode: Detail): Parents {
  const { of, by, only, everyDays } = mode;
  if (by === undefined) {
    const parent = streamNamed(catalogue, of, stream);
    return { kind: "rows", stream: of, tables: parent.tables, on: pairs(stream, parent), only };
  }
  return {
    kind: "values",
    own: stream.key[0]!,
    sources: sourcesOf(catalogue, stream, mode),
    aged: everyDays !== undefined,
  };
}

/** The columns whose values a detail is asked for. */
function sourcesOf(catalogue: readonly Stream[], stream: Stream, { of, by, also = [], only }: Detail): ValueSource[] {
  if (by === undefined) return [];
  return [`${of}.${by}`, ...also].map((place, i) => {
    const [name, column] = place.split(".") as [string, string];
    const source = streamNamed(catalogue, name, stream);
    return {
      stream: name,
      tables: source.tables,
      column,
      only: i === 0 ? only : undefined,
      latestBy: source.mode.kind === "snapshot" ? OBSERVED_ON : undefined,
    };
  });
}

/** The details whose detail state knows values of this stream's rows by the rows' hashes. */
export function valueDrivenBy(catalogue: readonly Stream[], stream: Stream): NonNullable<LoadTarget["valueDriven"]> {
  return catalogue.flatMap(detail => {
    const { mode } = detail;
    if (mode.kind !== "detail" || mode.by === undefined || mode.everyDays !== undefined) return [];
    const own = sourcesOf(catalogue, detail, mode).filter(source => source.stream === stream.name);
    return own.map(source => ({ stream: detail.name, source }));
  });
}

/** What else changes of a stream's rows make due, as far as its details are on and the columns that tell it are there. */
export function loadCausesOf(
  { catalogue, wanted, causes }: SyncContext["streams"],
  { name, tables }: Stream,
): readonly LoadCause[] {
  const has = ({ main }: Stream["tables"], wanted: string) => main.columns.some(column => column.name === wanted);
  return causes.flatMap(({ stream, column, parents, parentColumn, details }) => {
    const list = catalogue.find(other => other.name === parents);
    const on = details.filter(detail => wanted.has(detail));
    if (stream !== name || list === undefined || on.length === 0 || !has(tables, column)) return [];
    if (parentColumn !== undefined && !has(list.tables, parentColumn)) return [];
    return [{ column, parents: list.tables, parentColumn, details: on }];
  });
}

function streamNamed(catalogue: readonly Stream[], name: string, asking: Stream): Stream {
  const found = catalogue.find(other => other.name === name);
  if (found === undefined) throw new TypeError(`${asking.name}: its parent ${name} is not in the catalogue`);
  return found;
}

/** The details that are asked for by a stream's rows or by values that they carry, each with all it is asked for. */
export function askedWith(
  catalogue: readonly Stream[],
  { name }: Stream,
): readonly { readonly detail: Stream; readonly parents: Parents }[] {
  return catalogue.flatMap(detail => {
    if (detail.mode.kind !== "detail") return [];
    const parents = parentsOf(catalogue, detail, detail.mode);
    const asked = parents.kind === "rows" ? [parents] : parents.sources;
    return asked.some(each => each.stream === name) ? [{ detail, parents }] : [];
  });
}
