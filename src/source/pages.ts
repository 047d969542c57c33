import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../errors.ts";
import { isConfidential } from "../rows/confidential.ts";
import type { Answer, Api, GetOptions, Query } from "./api.ts";
import { cursorFault, type Pagination, readEnvelope } from "./envelope.ts";
import { sourceMessages } from "./messages.ts";

/** One page of a listing: `cursor` fetched it, `nextCursor` fetches the next; `isLast`: the service says that it has none. Counts include retries and pages asked again. */
export interface Page extends Pick<Answer, "bytes" | "requests" | "retries"> {
  /** Undefined where a row was skipped. */
  readonly date: Date | undefined;
  readonly data: unknown;
  readonly around: Answer["around"];
  /** The page was this row, and has no data. */
  readonly skipped?: SkippedRow;
  readonly cursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly isLast: boolean;
  /** The most rows that it was asked to hold; undefined: all there are. */
  readonly limit: number | undefined;
  /** Gives back what a large page takes of the memory that all share: done for whoever asks for the next one, too. */
  readonly release: () => void;
}

/** A row whose answer is no JSON: the row behind `offset` others of a page of `rows`. Its text is undefined where fields are taken out of answers. */
export interface SkippedRow {
  readonly text: string | undefined;
  readonly cursor: string | undefined;
  readonly offset: number;
  readonly rows: number;
}

/** A listing from its start, or from `cursor` on. `paged` false: one request, one complete page. */
export interface PageRequest {
  readonly path: string;
  readonly query: Query;
  readonly limit: number;
  readonly cursor?: string;
  readonly paged: boolean;
  /** Pages that were read before its first one. */
  readonly pagesBefore?: number;
  /** What tells a page from others: its first row and its last one, by their keys; none of an empty page. */
  readonly edgesOf?: (data: unknown) => readonly string[];
  readonly read?: GetOptions["read"] | undefined;
  readonly signal?: AbortSignal;
  readonly priority?: number;
  /** False: no page is requested ahead. For listings that wait between pages: a page read ahead would hold memory that what they wait for needs. */
  readonly ahead?: false;
  /** A row that is no JSON becomes a page of its own, where the answer names the page behind it. Else it ends the reading. */
  readonly skips?: boolean;
}

/** Rows to ask for a page, from what came. */
interface PageSize {
  rows: number;
  /** The service takes no other number than the request's: pages are read however large they are. */
  isFixed: boolean;
  /** As many as the service answers with. */
  most: number;
  /** Pages that were given out, those before the first one included. */
  pages: number;
  /** The page of so many rows that it did not answer with, until its rows have come in smaller pages; how many have. `page` is known with the first. */
  spoilt: { readonly rows: number; came: number; page?: number } | undefined;
  /** How many such pages there were without a skipped row. */
  spoils: number;
  skips: number;
  /** The last row was skipped: the next one that comes makes pages as large as before. */
  isBehindSkipped: boolean;
}

// Asked for in turn when a page is larger than the body ceiling, or the service fails at it.
const smallerLimits = [25, 5, 1];
/** Pages of rows that are about as large as the ones before stay below the ceiling, mostly. */
const AIMED_AT = 0.6;

/** Pages in a row without a new row after which a listing is not believed to end. A filter that is applied after paging makes a few that are empty. */
const STALE_PAGES = 20;

/** Rows of a listing that are skipped at most: each costs up to 24 requests. */
const MOST_SKIPS = 20;

interface Coming {
  readonly cursor: string | undefined;
  readonly page: Promise<Page>;
  abort(reason: unknown): void;
}

/**
 * The pages of one listing. The next page is requested before the present one is given out, if possible by the cursor guessed from its text. Leaving
 * the loop cancels it. Throws ApiError "malformed" after the page whose cursor came before, or that promises more without one, or that is the last of
 * several without a new row.
 */
export async function* readPages(api: Api, request: PageRequest): AsyncGenerator<Page> {
  const seen = new Set<string>();
  const stale = createStaleness();
  let coming: Coming | undefined;
  let guessed: Coming | undefined;
  let isAwaited = false;
  const { limit } = request;
  const size: PageSize = {
    ...{ rows: limit, isFixed: false, most: limit, pages: request.pagesBefore ?? 0 },
    ...{ spoilt: undefined, spoils: 0, skips: 0, isBehindSkipped: false },
  };

  const fetch = (cursor: string | undefined): Coming => {
    const own = new AbortController();
    // A page that was here when the signal came is given out, and no request follows it.
    if (request.signal?.aborted) own.abort(request.signal.reason);
    const onBody = async (body: Buffer): Promise<void> => {
      // One page ahead and no more, whoever is slow.
      if (isAwaited && request.ahead !== false && coming?.cursor === cursor) await guess(cursorAhead(body));
    };
    const page = readPage(api, request, cursor, size, { signal: own.signal, onBody });
    // Its consumer may never come for it; whoever awaits it still sees the rejection.
    page.catch(() => {});
    own.signal.addEventListener("abort", () => void page.then(({ release }) => release()).catch(() => {}));
    return { cursor, page, abort: reason => own.abort(reason) };
  };
  const guess = async (cursor: string | undefined): Promise<void> => {
    if (cursor === undefined || cursor === guessed?.cursor) return;
    // What would be the end of the listing is for the parsed page to say.
    if (seen.has(cursor) || stale.pages + 1 >= STALE_PAGES) return;
    guessed?.abort(undefined);
    guessed = fetch(cursor);
    await sent();
  };
  const abort = () => {
    coming?.abort(request.signal?.reason);
    guessed?.abort(request.signal?.reason);
  };

  request.signal?.throwIfAborted();
  request.signal?.addEventListener("abort", abort, { once: true });
  try {
    if (request.cursor !== undefined) seen.add(request.cursor);
    coming = fetch(request.cursor);
    while (coming !== undefined) {
      isAwaited = true;
      const page: Page = handOut(request, size, await coming.page);
      isAwaited = false;
      const next: string | undefined = page.nextCursor;
      size.pages++;
      if (request.edgesOf !== undefined && page.skipped === undefined) stale.note(request.edgesOf(page.data));
      const wrong = page.isLast ? undefined : whyEndless(next, seen, stale.pages);
      const right: Coming | undefined = next === guessed?.cursor ? guessed : undefined;
      if (right === undefined) guessed?.abort(undefined);
      guessed = undefined;
      const follow = () => (next === undefined || wrong !== undefined ? undefined : (right ?? fetch(next)));
      coming = request.ahead === false ? undefined : follow();
      if (next !== undefined) seen.add(next);
      if (coming !== undefined && right === undefined) await sent();
      try {
        yield page;
      } finally {
        page.release();
      }
      coming ??= follow();
      if (wrong !== undefined) throw endless(request.path, size.pages, wrong);
    }
  } finally {
    request.signal?.removeEventListener("abort", abort);
    abort();
  }
}

/** All of a listing in one request. Throws ApiError "malformed" where the answer promises more: what it lacks would be taken for deleted. */
export async function getWhole(api: Api, path: string, query: Query, options: GetOptions): Promise<Answer> {
  const answer = await api.get(path, query, options);
  if (answer.pagination?.hasMore !== true) return answer;
  answer.release?.();
  const facts = { failure: "malformed", path, attempts: answer.requests } as const;
  throw new ApiError(sourceMessages.unexpected_pages({ path }), facts);
}

/** Resolves when a request that was just made is on its way: undici takes a turn of the loop to check its connection, and work would hold it up. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
}

/** Counts the pages in a row that brought no new row, by the first and last rows of all pages: of each it keeps a hash. */
function createStaleness() {
  const edges = new Set<number>();
  let pages = 0;
  return {
    get pages() {
      return pages;
    },
    note(page: readonly string[]): void {
      const hashes = page.map(edge => createHash("md5").update(edge).digest().readUIntBE(0, 6));
      pages = hashes.every(hash => edges.has(hash)) ? pages + 1 : 0;
      for (const hash of hashes) edges.add(hash);
    },
  };
}

function whyEndless(next: string | undefined, seen: ReadonlySet<string>, stale: number): string | undefined {
  if (next === undefined) return "has_more is true, but next_cursor is missing";
  if (seen.has(next)) return "the same next_cursor came twice";
  return stale < STALE_PAGES ? undefined : `the ${STALE_PAGES}th page in a row brought no new row`;
}

async function readPage(
  api: Api,
  request: PageRequest,
  cursor: string | undefined,
  size: PageSize,
  given: Required<Pick<GetOptions, "signal" | "onBody">>,
): Promise<Page> {
  const paged = request.paged || cursor !== undefined;
  // A cursor does not live for ever: after a pause the pages go on before anything else begins.
  const priority = (request.priority ?? 1) + (cursor === undefined ? 0 : 1);
  const options = { ...given, paged, priority, holds: true };
  let refused = 0;
  let tooLarge: unknown;
  for (;;) {
    const limit = request.paged ? size.rows : undefined;
    // One row can't be made smaller, nor what comes without a limit.
    const maxBytes = limit === undefined || limit === 1 || size.isFixed ? undefined : api.pageBytes;
    const query = {
      ...request.query,
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const came: Came = { body: undefined, text: undefined };
    const read = limit === 1 ? readNoting(came, request.read) : request.read;
    try {
      const onBody = async (body: Buffer): Promise<void> => {
        came.body = body;
        if (limit !== undefined) resize(api, size, body.length / limit);
        await given.onBody(body);
      };
      const answer = await api.get(request.path, query, { ...options, maxBytes, onBody, read });
      return { ...pageOf(answer, cursor, refused), limit };
    } catch (error) {
      if (!(error instanceof ApiError) || limit === undefined) throw error;
      const smaller = smallerLimits.find(rows => rows < limit);
      if (isSpoilt(error)) {
        const attempts = error.attempts + refused;
        const skipped = smaller === undefined ? skippedPage(request, error, cursor, size, came) : undefined;
        if (skipped !== undefined) return { ...skipped, requests: attempts, retries: attempts - 1 };
        if (smaller === undefined) throw spoiltPage(error, cursor, size, attempts);
        size.spoilt ??= { rows: limit, came: 0 };
        size.most = smaller;
        size.rows = smaller;
      } else if (error.failure === "too_large" && smaller !== undefined && !size.isFixed) {
        tooLarge ??= error;
        size.rows = smaller;
      } else if (tooLarge !== undefined && error.failure === "invalid" && !size.isFixed) {
        size.isFixed = true;
        size.rows = request.limit;
      } else throw error;
      refused += error.attempts;
    }
  }
}

/** The next page is asked for with as many rows as will fit, if they are of so many bytes each. */
function resize({ pageBytes }: Api, size: PageSize, bytes: number): void {
  if (size.isFixed || pageBytes === undefined) return;
  size.rows = size.most * bytes <= pageBytes ? size.most : Math.max(1, Math.floor((AIMED_AT * pageBytes) / bytes));
}

/** Whether an answer failed as it does where one row spoils it, or so many rows take too long; not as where the service is down. */
const isSpoilt = ({ failure, status = 0 }: ApiError): boolean =>
  (failure === "unavailable" || failure === "malformed") && [200, 500, 504].includes(status);

/**
 * Notes a page that the consumer gets; one that was only guessed counts for nothing. Behind a page that the service failed at, pages are as large as
 * before. Behind a second one they stay as small as it answers with, unless a skipped row was at fault.
 */
function handOut({ limit: usual }: PageRequest, size: PageSize, page: Page): Page {
  const { skipped, limit = 0 } = page;
  const { isBehindSkipped } = size;
  if (skipped !== undefined) {
    size.skips++;
    size.spoilt ??= { rows: limit, came: 0 };
  } else if (size.spoilt === undefined) return page;
  const { came: offset, rows } = size.spoilt;
  size.spoilt.page ??= size.pages + 1;
  size.spoilt.came += limit;
  size.isBehindSkipped = skipped !== undefined;
  if (skipped !== undefined) return { ...page, skipped: { ...skipped, offset, rows } };
  if (!isBehindSkipped && size.spoilt.came < rows) return page;
  size.spoilt = undefined;
  if (!isBehindSkipped && ++size.spoils > 1) return page;
  size.most = usual;
  size.rows = usual;
  return page;
}

/** The failure of a page of one row: where rows of the same page came in smaller ones, it is the row's and not the service's. */
function spoiltPage(error: ApiError, cursor = "", { spoilt }: PageSize, attempts: number): ApiError {
  if (spoilt === undefined || spoilt.came === 0) return new ApiError(error, { ...error, attempts }, error.cause);
  const { message: reason, path } = error;
  const { page = 1, came: offset, rows } = spoilt;
  const facts = { failure: "malformed", path, attempts } as const;
  return new ApiError(sourceMessages.spoilt_row({ path, page, cursor, offset, rows, reason }), facts);
}

/** The last answer to the request for a single row: its body, and its text where the client takes no fields out of answers. */
interface Came {
  body: Buffer | undefined;
  text: string | undefined;
}

/** Reads an answer as before, and notes its text. The client calls it only where it takes no fields out of answers. */
function readNoting(came: Came, read: PageRequest["read"]): NonNullable<PageRequest["read"]> {
  return (body, parse) => {
    came.text = body.toString();
    return read === undefined ? parse(body) : read(body, parse);
  };
}

/** The page of a row that is no JSON, if its answer ends with the pagination of a page of one row. Without that, the place behind the row is not known. */
function skippedPage(
  request: PageRequest,
  error: ApiError,
  cursor: string | undefined,
  size: PageSize,
  { body, text }: Came,
): Omit<Page, "requests" | "retries"> | undefined {
  if (request.skips !== true || body === undefined || error.status !== 200 || error.failure !== "unavailable")
    return undefined;
  const pagination = paginationAtEnd(body);
  if (pagination?.limit !== 1 || size.skips >= MOST_SKIPS) return undefined;
  // With the counters beside the rows, the same row would be another reject each night.
  const end = text?.lastIndexOf("]", text.lastIndexOf('"pagination"')) ?? 0;
  const rowText = text?.slice(text.indexOf("["), end + 1);
  const isLast = !pagination.hasMore;
  return {
    ...{ data: undefined, around: {}, date: undefined, bytes: body.length, limit: 1, release: () => undefined },
    ...{ cursor, isLast, nextCursor: isLast ? undefined : pagination.nextCursor },
    skipped: { text: isClean(rowText) ? rowText : undefined, cursor, offset: 0, rows: 1 },
  };
}

/** No field can be taken out of a text, so none that holds a confidential name is kept. */
const isClean = (text = ""): boolean =>
  !text.includes("\\u") && !text.matchAll(/"([^"]*)"\s*:/g).some(([, name]) => isConfidential(name!));

function pageOf(answer: Answer, cursor: string | undefined, refused: number): Omit<Page, "limit"> {
  const isLast = answer.pagination?.hasMore !== true;
  return {
    data: answer.data,
    around: answer.around,
    cursor,
    nextCursor: isLast ? undefined : answer.pagination.nextCursor,
    isLast,
    date: answer.date,
    bytes: answer.bytes,
    requests: answer.requests + refused,
    retries: answer.retries + refused,
    release: answer.release ?? (() => undefined),
  };
}

function endless(path: string, page: number, reason: string): ApiError {
  return new ApiError(sourceMessages.endless_pages({ path, page, reason }), { failure: "malformed", path });
}

/** How far from its end a body is looked at: the pagination block stands behind the rows, and little stands behind it. */
const TAIL = 2_048;

const block = /^"pagination"\s*:\s*(\{[^{}]*\})/;
/** One that needs no JSON to be read. */
const named = /"next_cursor"\s*:\s*"([!#-[\]-~]+)"/;
const promised = /"has_more"\s*:\s*true\b/;

/** The next cursor that a page's JSON seems to name, found in 2 µs where parsing takes a millisecond; a guess, undefined where none can be seen. */
export function cursorAhead(body: Buffer): string | undefined {
  const text = body.toString("latin1", Math.max(0, body.length - TAIL));
  const at = text.lastIndexOf('"pagination"');
  const found = at < 0 ? undefined : block.exec(text.slice(at))?.[1];
  return found !== undefined && promised.test(found) ? named.exec(found)?.[1] : undefined;
}

/** The pagination at the end of a page's text, whatever the rows before it are. Together with the text behind it, it has to close the envelope. */
function paginationAtEnd(body: Buffer): Pagination | undefined {
  const text = body.toString("utf8", Math.max(0, body.length - TAIL));
  const at = text.lastIndexOf('"pagination"');
  try {
    const { pagination } = readEnvelope({ data: null, ...JSON.parse(`{${text.slice(at)}`) }, true) ?? {};
    return cursorFault(pagination?.nextCursor ?? "") === undefined ? pagination : undefined;
  } catch {
    return undefined;
  }
}
