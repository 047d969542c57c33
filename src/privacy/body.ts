import { TributaryError } from "../errors.ts";
import type { Envelope } from "../source/envelope.ts";

/** The JSON text of an answer whose data was changed, its numerals digit for digit. */
export function bodyOf({ data, pagination, meta }: Envelope): Buffer {
  const block = pagination && {
    next_cursor: pagination.nextCursor ?? null,
    has_more: pagination.hasMore,
    limit: pagination.limit ?? null,
  };
  return Buffer.from(jsonText({ data, pagination: block, meta }));
}

/** JSON of values as they were parsed. @throws TributaryError where they are nested too deeply to be written again */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TributaryError(
      "Expected an answer that can be kept without its personal data, but it is nested too deeply to be written again.",
      1,
      error,
    );
  }
}
