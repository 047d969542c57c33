import type { Request } from "../routes.ts";
import type { Row, Source } from "../source.ts";

/** Every row of a source in order: what a list without pages answers. */
export function completeRows(source: Source, { faults }: Pick<Request, "faults">): Row[] {
  return Array.from(source.collection.walk(Number.NEGATIVE_INFINITY), entry => source.row(entry, faults));
}
