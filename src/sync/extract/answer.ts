import type { Detail, Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import { textOf, valueAt } from "../../rows/encode_value.ts";
import { type Envelope, shown } from "../../source/envelope.ts";
import { lackIn } from "../../source/evidence.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { extractMessages } from "./messages.ts";
import { besideRows, insteadOfRows, nameOf, placeOfRows, sectionsIn } from "./rows_in_answer.ts";

/** An answer, or a page of one, that is not what was asked for: the request failed. */
export class UnfitError extends Error {
  override readonly name = "UnfitError";
}

type Came = Pick<Envelope, "data" | "around">;

/** Whether more rows than came are said to be there, which a note says once a run. */
export function notesLack(answer: Came, rows: number, path: string, progress: StreamProgress): boolean {
  const lack = lackIn(answer, rows);
  if (lack !== undefined) noteOnce(progress, extractMessages.more_rows({ path, ...lack, rows }));
  return lack !== undefined;
}

export function noteOnce({ notes }: StreamProgress, note: Message): void {
  if (notes.every(({ code }) => code !== note.code)) notes.push(note);
}

/** The rows of an answer or of a page of it, what stands beside and around them, and the column that tells arrays side by side apart. */
export interface Part {
  readonly rows: readonly { readonly section: string | undefined; readonly row: unknown }[];
  readonly beside: Record<string, unknown>;
  readonly around: Envelope["around"];
  readonly column: string | undefined;
}

/** The rows in a detail's data: itself, or the elements of its array. Rows that name a key column have to name what was `asked`. @throws UnfitError */
export function partOf(
  stream: Stream,
  { rows: place }: Detail,
  { data, around }: Came,
  asked: readonly (readonly [column: string, value: string])[],
  path: string,
): Part {
  if (place === undefined) {
    const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
    if (!isObject && !(takesAnything(stream) && data !== null && data !== undefined))
      throw new UnfitError(`${path}: expected an object as data, got ${nameOf(data)}`);
    const other = isObject ? otherKey(stream, data as Record<string, unknown>, asked, true) : undefined;
    if (other !== undefined) throw new UnfitError(extractMessages.other_key({ path, ...other }).message);
    return { rows: [{ section: undefined, row: data }], beside: {}, around, column: undefined };
  }
  // The publish of details holds back answers by which too many rows would leave, those with null among them.
  const sections = sectionsIn(data, place, true);
  if (sections === undefined)
    throw new UnfitError(`${path}: expected rows at ${placeOfRows(place)}, got ${insteadOfRows(data, place)}`);
  const rows = sections.flatMap(({ section, rows: elements }) => elements.map(row => ({ section, row })));
  for (const { row } of rows) {
    if (typeof row !== "object" || row === null) continue;
    const other = otherKey(stream, row as Record<string, unknown>, asked, false);
    if (other !== undefined) throw new UnfitError(extractMessages.other_key({ path, ...other }).message);
  }
  return { rows, beside: besideRows(data), around, column: typeof place === "string" ? undefined : place.column };
}

const takesAnything = ({ tables }: Stream): boolean =>
  tables.main.columns.some(column => column.source === "row" && column.path.length === 0);

/** A key that an answer names instead of the one that was asked for. */
interface OtherKey {
  readonly column: string;
  readonly expected: string;
  readonly got: string | undefined;
}

/** The key that rows name instead of what a lookup asked for; undefined where they agree or name none. */
export function otherThanAsked(
  stream: Stream,
  rows: readonly unknown[],
  asked: Readonly<Record<string, string>>,
): OtherKey | undefined {
  const objects = rows.map(besideRows);
  return objects.map(row => otherKey(stream, row, Object.entries(asked), false)).find(each => each !== undefined);
}

/** An answer that names its key must name the one that was asked for; `isRequired`: one that should name it has to. */
function otherKey(
  stream: Stream,
  row: Record<string, unknown>,
  asked: readonly (readonly [column: string, value: string])[],
  isRequired: boolean,
): OtherKey | undefined {
  for (const [name, expected] of asked) {
    const column = stream.tables.main.columns.find(candidate => candidate.name === name);
    if (column?.source !== "row") continue;
    const came = textOf(valueAt(column.path, row));
    if (came !== expected && (came !== undefined || isRequired))
      return { column: name, expected, got: came === undefined ? came : shown(came, 80) };
  }
  return undefined;
}
