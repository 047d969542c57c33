import type { Kind } from "../catalog/columns.ts";
import type { CsvWriter } from "./csv.ts";
import { usual } from "./encode_usual_value.ts";
import { valueAt } from "./encode_value.ts";
import type { Formats } from "./moment.ts";

type Row = Readonly<Record<string, unknown>>;

/** One column of a line. */
export interface Field {
  /** Its place among all columns of the table. */
  readonly place: number;
  readonly kind: Kind;
  /** The field of the row itself that it is; undefined where its value comes from elsewhere. */
  readonly name: string | undefined;
  /** Whether no column before it is the same field. */
  readonly isFirst: boolean;
}

/** What writing a line's fields needs beside its row. Lists are by place. */
export interface LineContext {
  readonly formats: Formats;
  /** Values that are no fields of the row itself. */
  readonly beside: readonly unknown[];
  /** Counts the lines that lack a value. */
  readonly absent: Uint32Array;
  /** Writes a value that came in another form than the usual one of its kind. */
  readonly writeOther: (place: number, value: unknown) => void;
}

/** Writes fields of a row, each with the comma after it. Answers how many fields the row has of them. */
export type WriteFields = (writer: CsvWriter, row: Row, context: LineContext) => number;

/**
 * What writes these fields: a function of its own with their names and kinds written into it. V8 then knows where in a row
 * each stands and what is done with it, and a row is encoded in a fifth less time.
 */
export function writerOf(fields: readonly Field[]): WriteFields {
  const kinds = Object.keys(usual);
  const statements = fields.map(
    ({ place, kind, name, isFirst }) => `
      value = ${name === undefined ? `beside[${place}]` : ownField(name)};
      if (value === undefined) absent[${place}]++;
      else {
        ${name !== undefined && isFirst ? "found++;" : ""}
        if (value !== null && !usual_${kind}(writer, value, formats)) writeOther(${place}, value);
      }
      writer.next();`,
  );
  const body = `return function writeFields(writer, row, { formats, beside, absent, writeOther }) {
    let value, found = 0;
    ${statements.join("\n")}
    return found;
  }`;
  try {
    return new Function(...kinds.map(kind => `usual_${kind}`), body)(...Object.values(usual)) as WriteFields;
  } catch {
    // Node can be told to make no code out of texts.
    return (writer, row, context) => writeOneByOne(fields, writer, row, context);
  }
}

/** A field may be called like something that every object has (`constructor`): a row without it lacks it all the same. */
function ownField(name: string): string {
  const field = JSON.stringify(name);
  return name in Object.prototype ? `Object.hasOwn(row, ${field}) ? row[${field}] : undefined` : `row[${field}]`;
}

function writeOneByOne(
  fields: readonly Field[],
  writer: CsvWriter,
  row: Row,
  { formats, beside, absent, writeOther }: LineContext,
): number {
  let found = 0;
  for (const { place, kind, name, isFirst } of fields) {
    const value = name === undefined ? beside[place] : valueAt([name], row);
    if (value === undefined) absent[place]!++;
    else {
      if (name !== undefined && isFirst) found++;
      if (value !== null && !usual[kind](writer, value, formats)) writeOther(place, value);
    }
    writer.next();
  }
  return found;
}
