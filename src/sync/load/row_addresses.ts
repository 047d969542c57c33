import { type Feed, fixedPaths, type Scan, type Stream } from "../../catalog/stream.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import type { About } from "../../source/archive/about.ts";
import { buildPath } from "../../source/path.ts";
import { listedKeys, missingKeys } from "../../warehouse/merge/diff.ts";
import type { Diff, LoadTarget } from "../../warehouse/merge/load_target.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import type { SyncContext } from "../context.ts";
import { inParallel } from "../extract/parallel.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { deletesMessages } from "./messages.ts";

type Key = Readonly<Record<string, string>>;

/** What an address said of its row: 200, 404 with the error envelope, 403, or nothing that tells. */
type Said = "there" | "gone" | "forbidden" | "nothing";

/** A scan that missed rows, and what is known of it. */
export interface MissedRows {
  readonly stream: Stream;
  readonly mode: Scan | Feed;
  readonly record: ScanRecord;
  readonly diff: Diff;
  readonly target: LoadTarget;
  readonly before: StreamState["undecided"];
  readonly run: string;
  /** It was published before: missing a row once more proves nothing. */
  readonly seen: boolean;
  /** Values that a lookup asked with, by column, and that the service knows nothing of. */
  readonly unknown: readonly Readonly<Record<string, string>>[];
}

export interface Addresses {
  /** Whether rows of the list have an address that this key may read. */
  readonly exist: boolean;
  /** Keys of the missing rows whose address answered 404. */
  readonly gone: readonly Key[];
  /** Whether all missing rows were asked for, and each address said something. */
  readonly told: boolean;
  /** Values of the key that was asked for last: the next run goes on after it. */
  readonly asked: readonly string[];
}

/** Listed rows that are asked for in turn until one is answered. */
const CONTROLS = 3;

/**
 * Asks the addresses of at most `deletes.confirm_max` missing rows: those newly missed first, then those after the one asked for last. A 404 counts only
 * where the same path answers 200 for a listed row.
 */
export async function askAddresses(
  context: SyncContext,
  { mode: { confirm }, target, diff, before }: MissedRows,
  progress: StreamProgress,
): Promise<Addresses> {
  if (confirm === undefined) return { exist: false, gone: [], told: false, asked: [] };
  const after = before?.asked ?? [];
  const { streams, destination, service, policy } = context;
  const siblings = fixedPaths(streams.catalogue);
  const ask = (key: Key, about: Partial<About> = {}): Promise<Said> =>
    askOne(context, () => buildPath(confirm, key, siblings), about, progress);

  let control: Said = "nothing";
  for (const key of await listedKeys(destination, target, CONTROLS)) {
    control = await ask(key, { control: true });
    if (control === "there" || control === "forbidden") break;
  }
  if (control !== "there") {
    const forbidden = control === "forbidden";
    progress.notes.push(deletesMessages.addresses_unusable({ stream: target.stream, address: confirm, forbidden }));
    return { exist: !forbidden, gone: [], told: false, asked: after };
  }
  const keys = await missingKeys(destination, target, policy.deletes.confirmMax, after);
  progress.activity.waitingFor = `the addresses of ${keys.length} missing rows`;
  const gone: Key[] = [];
  let there = 0;
  const width = service.limiter.state.maximum;
  const answers = inParallel(keys, width, async key => ({ key, said: await ask(key) }));
  for await (const { key, said } of answers) {
    if (said === "gone") gone.push(key);
    else if (said === "there") there++;
  }
  progress.activity.waitingFor = undefined;
  progress.notes.push(
    deletesMessages.addresses_asked({
      ...{ stream: target.stream, address: confirm, asked: keys.length, gone: gone.length },
    }),
  );
  return { exist: true, gone, told: gone.length + there === diff.missing, asked: Object.values(keys.at(-1) ?? {}) };
}

async function askOne(
  { service, signal }: SyncContext,
  path: () => string,
  about: Partial<About>,
  progress: StreamProgress,
): Promise<Said> {
  try {
    progress.page(await service.api.get(path(), {}, { priority: 1, signal, about }));
    return "there";
  } catch (error) {
    progress.failedRequest(error);
    // An id that makes no path.
    if (error instanceof RangeError) return "nothing";
    if (!(error instanceof ApiError)) throw error;
    const { failure } = error;
    if (failure === "not_found") return "gone";
    if (failure === "forbidden") return "forbidden";
    // No answer is no proof, and no reason to keep the rest of the scan from the tables.
    if (!meetsOthers(error)) return "nothing";
    throw error;
  }
}
