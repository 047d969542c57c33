import { ApiError } from "../../errors.ts";
import { Mutex } from "../../mutex.ts";
import type { Answer, Api, GetOptions } from "../../source/api.ts";
import type { Line } from "../../source/archive/line.ts";
import type { ArchiveFile } from "../../source/archive/places.ts";
import { linesOf } from "../../source/archive/reading.ts";
import { BodyError, parseJson } from "../../source/body.ts";
import { readComplaint, readEnvelope } from "../../source/envelope.ts";
import { requestKey } from "./archive_contents.ts";
import { replayMessages } from "./messages.ts";

/** Files of a stream, and the place of each one's first line, where that is known. */
export interface Lines {
  readonly files: readonly ArchiveFile[];
  readonly firsts?: readonly number[];
}

/** An `Api` over archived lines, by their places in `wanted`. Files are read once, front to back: ask in about their order. `alone`: each answer is its only page. */
export function archivedApi(lines: Lines, wanted: ReadonlyMap<string, number>, alone = false): Api {
  const places = new Map([...wanted].map(([key, ordinal]) => [ordinal, key]));
  const waiting = new Map<string, Line>();
  let reader: AsyncGenerator<{ readonly line: Line; readonly ordinal: number }> | undefined;
  const turns = new Mutex();
  const stats = { requests: 0, retries: 0, limited: 0, bytes: 0, failures: {}, retryWaitMs: 0, limitedWaitMs: 0 };

  async function take(key: string): Promise<Line | undefined> {
    reader ??= linesFrom(lines, places);
    while (!waiting.has(key)) {
      const next = await reader.next();
      if (next.done === true) return undefined;
      const { line, ordinal } = next.value;
      const its = places.get(ordinal);
      if (its !== undefined) waiting.set(its, line);
    }
    const line = waiting.get(key);
    waiting.delete(key);
    return line;
  }

  return {
    async get(path, query, options) {
      options?.signal?.throwIfAborted();
      const key = requestKey(path, query);
      if (!wanted.has(key)) throw missing(path);
      const line = await turns.run(() => take(key));
      if (line === undefined) throw missing(path);
      return answerOf(line, path, alone, options);
    },
    stats,
    close: async () => void (await reader?.return(undefined)),
  };
}

/** Lines and their places, from the first file on that holds one of `places`. */
async function* linesFrom({ files, firsts = [] }: Lines, places: ReadonlyMap<number, string>) {
  // Not spread into arguments: a first load has more answers than a call may have of those.
  const first = places.keys().reduce((least, place) => Math.min(least, place), Number.POSITIVE_INFINITY);
  let ordinal = 0;
  for (const [index, { path }] of files.entries()) {
    const next = firsts[index + 1];
    if (next !== undefined && next <= first) ordinal = next;
    else for await (const line of linesOf(path, () => undefined)) yield { line, ordinal: ordinal++ };
  }
}

function answerOf({ head, body }: Line, path: string, alone: boolean, options: GetOptions = {}): Answer {
  const { paged = false, read } = options;
  const json = jsonOf(body, head, read);
  const { status } = head;
  if (status === 404) {
    const reason = readComplaint(json)?.message?.slice(0, 300);
    const facts = { failure: "not_found", path, status, attempts: 0 } as const;
    throw new ApiError(replayMessages.archived_not_found({ path, reason }), facts);
  }
  const envelope = readEnvelope(json, paged);
  if (envelope === undefined) throw missing(path);
  const { pagination } = envelope;
  return {
    ...envelope,
    pagination: alone && pagination !== undefined ? { ...pagination, hasMore: false } : pagination,
    date: new Date(head.date),
    bytes: body.length,
    requests: 0,
    retries: 0,
    status,
  };
}

/** A disk that damages a file changes bodies more often than what stands around them. */
function jsonOf(body: Buffer, { at, request: { path } }: Line["head"], read: GetOptions["read"]): unknown {
  try {
    return read === undefined ? parseJson(body) : read(body, parseJson);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const message = replayMessages.answer_damaged({ path, at, reason: error.message });
    throw new ApiError(message, { failure: "invalid", path, attempts: 0 }, error);
  }
}

function missing(path: string): ApiError {
  return new ApiError(replayMessages.answer_missing({ path }), { failure: "invalid", path, attempts: 0 });
}
