import type { Message } from "../../message.ts";
import type { Query } from "../../source/api.ts";
import type { Head } from "../../source/archive/line.ts";
import { type ArchiveFile, filesIn, folderOf } from "../../source/archive/places.ts";
import { headsOf } from "../../source/archive/reading.ts";
import type { Question } from "../../sync/extract/lookups.ts";
import { replayMessages } from "./messages.ts";

/** A request whose answer is archived; `ordinal` is its last line's place among all of the stream. */
export interface ArchivedRequest extends Question {
  readonly ordinal: number;
  readonly part: number;
  readonly next: string | null;
}

/** A scan in the archive. Of windows that are read side by side those of one run count as a scan. */
export interface ArchivedScan {
  /** Its id; of windows every id that one of their publishes had. */
  readonly ids: Set<string>;
  readonly windows: boolean;
  full: boolean;
  accepted: boolean;
  parts: number;
  run: string;
  /** When its first answer came and its last one, by the clock of the run. */
  readonly begunAt: string;
  endedAt: string;
  /** The service's time at its first answer. */
  readonly date: string;
  /** By what they asked for, in the order of the last lines. */
  readonly requests: Map<string, ArchivedRequest>;
  /** Questions whether missing rows are gone. */
  readonly confirms: Map<string, ArchivedRequest>;
  /** The runs that asked them: the one that published it need not have read a page. */
  readonly confirmedBy: Set<string>;
}

/** When a run's first answer of a stream came: by the clock of the run, and by the service's, which has whole seconds. */
export interface Begin {
  readonly begunAt: string;
  readonly date: string;
}

export interface ArchivedFile extends ArchiveFile, Begin {}

export interface ArchiveContents {
  readonly files: readonly ArchivedFile[];
  readonly firsts: readonly number[];
  /** In the order in which they ended, complete or not. */
  readonly scans: readonly ArchivedScan[];
  readonly odd: readonly Message[];
}

export async function archivedFiles(root: string, company: string, stream: string): Promise<readonly ArchivedFile[]> {
  const files = await filesIn(folderOf(root, company, stream));
  const begun = new Map<string, Begin>();
  for (const { path, run } of files) {
    if (begun.has(run)) continue;
    // A file without a whole line tells no time but by its name, to the second.
    for await (const head of headsOf(path, () => undefined)) {
      begun.set(run, { begunAt: head.at, date: head.date });
      break;
    }
  }
  const order = [...begun].sort(([, a], [, b]) => byBegin(a, b));
  return order.flatMap(([run, times]) => files.filter(file => file.run === run).map(file => ({ ...file, ...times })));
}

/** By the service's time, and within a second of it by ours. */
export function byBegin(a: Begin, b: Begin): number {
  if (a.date === b.date) return a.begunAt < b.begunAt ? -1 : 1;
  return a.date < b.date ? -1 : 1;
}

/** Reads through files of a stream and notes which scans they hold; bodies are left alone. */
export async function readArchiveContents(files: readonly ArchivedFile[]): Promise<ArchiveContents> {
  const scans = new Map<string, ArchivedScan>();
  const firsts: number[] = [];
  const odd: Message[] = [];
  let ordinal = 0;
  for (const { path } of files) {
    firsts.push(ordinal);
    const damage = (reason: string) => void odd.push(replayMessages.file_damaged({ file: path, reason }));
    for await (const head of headsOf(path, damage)) note(scans, head, ordinal++);
  }
  const ended = [...scans.values()].sort((a, b) => lastOf(a) - lastOf(b));
  return { files, firsts, scans: ended, odd };
}

export async function* requestsIn(
  files: readonly ArchivedFile[],
): AsyncGenerator<{ readonly head: Head; readonly held: ArchivedRequest }> {
  let ordinal = 0;
  for (const { path } of files)
    for await (const head of headsOf(path, () => undefined)) yield { head, held: heldOf(head, ordinal++) };
}

const heldOf = ({ request, part, context = {}, next }: Head, ordinal: number): ArchivedRequest => ({
  ...{ ordinal, part, path: request.path, query: request.query, context, next },
});

function note(scans: Map<string, ArchivedScan>, head: Head, ordinal: number): void {
  const { scan, run, at, request, window, parts, full } = head;
  const name = window ? `windows of ${run}` : scan;
  const known = scans.get(name) ?? {
    ids: new Set<string>(),
    windows: window,
    full,
    accepted: head.accepted,
    parts,
    run,
    begunAt: at,
    endedAt: at,
    date: head.date,
    requests: new Map(),
    confirms: new Map(),
    confirmedBy: new Set(),
  };
  scans.set(name, known);
  known.ids.add(scan);
  const key = requestKey(request.path, request.query);
  const held = heldOf(head, ordinal);
  if (head.confirms) {
    known.confirms.set(key, held);
    known.confirmedBy.add(run);
    known.accepted ||= head.accepted;
    return;
  }
  // Anew at the end: the order is that of the last lines.
  known.requests.delete(key);
  known.requests.set(key, held);
  Object.assign(known, { run, endedAt: at, parts, full, accepted: known.accepted || head.accepted });
}

function lastOf({ requests, confirms }: ArchivedScan): number {
  return [...requests.values()].at(-1)?.ordinal ?? [...confirms.values()].at(-1)?.ordinal ?? 0;
}

/** What a scan's parts asked for, in their order: undefined where one of them, or a page of one, is missing. */
export function partsOf({ requests, parts }: ArchivedScan): readonly ArchivedRequest[] | undefined {
  const begins = firstPages(requests);
  const ordered: ArchivedRequest[] = [];
  for (let part = 0; part < parts; part++) {
    const first = begins.get(part);
    if (first === undefined || !isWhole(requests, first)) return undefined;
    ordered.push(first);
  }
  return ordered;
}

export function firstPages(requests: ReadonlyMap<string, ArchivedRequest>): ReadonlyMap<number, ArchivedRequest> {
  const first = [...requests.values()].filter(({ query }) => query["cursor"] === undefined);
  return new Map(first.map(held => [held.part, held]));
}

export function isWhole(requests: ReadonlyMap<string, ArchivedRequest>, first: ArchivedRequest): boolean {
  const seen = new Set<string>();
  let page: ArchivedRequest | undefined = first;
  while (page !== undefined && page.next !== null) {
    if (seen.has(page.next)) return false;
    seen.add(page.next);
    page = requests.get(requestKey(first.path, { ...first.query, cursor: page.next }));
  }
  return page !== undefined;
}

/** What a request asks for: its path and query, whatever order its parameters have and however many rows a page may hold. */
export function requestKey(path: string, query: Query): string {
  const asked = Object.entries(query).filter(([name]) => name !== "limit");
  return JSON.stringify([path, ...asked.map(([name, value]) => [name, String(value)]).sort()]);
}
