import { z } from "zod";

/** Where a listing goes on. `nextCursor` may be missing although `hasMore` is true: that is the reader's to judge. */
export interface Pagination {
  readonly nextCursor: string | undefined;
  readonly hasMore: boolean;
  readonly limit: number | undefined;
}

/** A success envelope; rows inside `data` are not looked at here. */
export interface Envelope {
  readonly data: unknown;
  readonly pagination: Pagination | undefined;
  readonly meta: unknown;
}

/** What the service said about a failure. */
export interface Complaint {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
}

const success = z.object({ data: z.unknown(), pagination: z.unknown().optional(), meta: z.unknown().optional() });

const pagination = z.object({
  next_cursor: z.string().nullish(),
  has_more: z.boolean(),
  limit: z.number().nullish().catch(undefined),
});

const said = z.coerce.string().nullish().catch(undefined);
const failure = z.object({ error: z.object({ code: said, message: said, request_id: said }) });

/** The envelope of a 2xx answer; undefined when there is no `data`. A pagination block of another shape counts as absent. */
export function readEnvelope(json: unknown): Envelope | undefined {
  const read = success.safeParse(json);
  // z.unknown() accepts a missing key.
  if (!read.success || !("data" in read.data) || read.data.data === undefined) return undefined;
  return { data: read.data.data, pagination: readPagination(read.data.pagination), meta: read.data.meta };
}

function readPagination(block: unknown): Pagination | undefined {
  if (block === undefined || block === null) return undefined;
  const read = pagination.safeParse(block);
  if (!read.success) return undefined;
  const { next_cursor, has_more, limit } = read.data;
  return { nextCursor: next_cursor || undefined, hasMore: has_more, limit: limit ?? undefined };
}

/** The error envelope of an answer, or undefined when the answer is not the service's. */
export function readComplaint(json: unknown): Complaint | undefined {
  const read = failure.safeParse(json);
  if (!read.success) return undefined;
  const { code, message, request_id } = read.data.error;
  return { code: code ?? undefined, message: message ?? undefined, requestId: request_id ?? undefined };
}
