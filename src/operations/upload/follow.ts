import { passes } from "../../catalog/meaning.ts";
import { fixedPaths, type UploadFlow } from "../../catalog/stream.ts";
import { selectedByConfig } from "../../config/selection.ts";
import { LockedError } from "../../errors.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { isObject } from "../../rows/reject.ts";
import type { Api } from "../../source/api.ts";
import { buildPath, PathError } from "../../source/path.ts";
import { asDue } from "../../sync/context.ts";
import { runAttempts } from "../../sync/run/attempts.ts";
import { holderOf } from "../../sync/run/opening.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import { openClient } from "../../sync/run/service.ts";
import { inState } from "../../warehouse/connect/open.ts";
import { openReading } from "../../warehouse/connect/reading.ts";
import { noteProcessed, rowsWith } from "../../warehouse/state/uploads.ts";
import { feedRows, unlessRefused } from "./lookup.ts";
import type { UploadOrder } from "./upload.ts";

/** What became of documents that were waited for. */
export interface Followed {
  /** Documents that are not processed as far as anything says, with the status that was seen last. */
  readonly pending: ReadonlyMap<string, string | null>;
  /** Why nothing was waited for. */
  readonly unread: string | undefined;
  /** The run that loaded what the others became. */
  readonly sync: RunReport | undefined;
  /** By table. */
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Waits until the service says that documents are processed, in a value that the configuration takes for that, and loads what they
 * became. No lock is held while it waits. `since`: when the oldest was sent. @throws ApiError, StoppedError, LockedError, DestinationError
 */
export async function followUploads(
  order: UploadOrder,
  tools: RunTools,
  documents: readonly string[],
  { since, waitMs }: { readonly since: string; readonly waitMs: number },
): Promise<Followed> {
  const { config, company, flow, catalogue } = order;
  const tests = config.meanings["processed"] ?? {};
  if (Object.keys(tests).length === 0) return { pending: allOf(documents), unread: UNREAD, sync: undefined, rows: {} };
  const until = tools.clock.now() + waitMs;
  const pending = await untilProcessed(order, tools, documents, { since, until, tests });
  const done = documents.filter(id => !pending.has(id));
  if (done.length === 0) return { pending, unread: undefined, sync: undefined, rows: {} };
  const leftMs = Math.max(0, until - tools.clock.now());
  const all = configured(catalogue, config);
  const include = [...config.streams.include, ...Object.keys(flow.results)];
  const on = selectedByConfig(all, { ...config.streams, include });
  const read = on.filter(({ name }) => name in flow.results);
  const sync = await runAttempts(
    {
      ...order,
      command: "tributary upload",
      selection: { names: read.map(({ name }) => name), named: [], company: company.name },
      refresh: asDue,
      limits: { maxTimeMs: undefined, maxRequests: undefined, waitMs: leftMs },
    },
    tools,
  );
  await note(order, tools, done, leftMs);
  const reading = await openReading(config.destination);
  try {
    const rows: Record<string, Followed["rows"][string]> = {};
    for (const { name, tables } of reading === undefined ? [] : read) {
      const table = tables.main.name;
      rows[table] = await rowsWith(reading!, company.name, { table, column: flow.results[name]! }, done);
    }
    return { pending, unread: undefined, sync, rows };
  } finally {
    await reading?.close();
  }
}

const UNREAD =
  "Nothing says when a document is processed: the service does not document the values that mean it. Set meanings.processed in the configuration, such as { status: [done] }; `tributary meanings processed` shows the values that your service sends.";

const allOf = (documents: readonly string[]) => new Map<string, string | null>(documents.map(id => [id, null]));

async function untilProcessed(
  { config, company, version, flow, catalogue }: UploadOrder,
  { clock, random, log, signal }: RunTools,
  documents: readonly string[],
  { since, until, tests }: Waiting,
): Promise<Map<string, string | null>> {
  const pending = allOf(documents);
  const { api } = await openClient(company, config.api, {
    clock,
    random,
    log,
    signal,
    version,
    maxRequests: undefined,
  });
  const siblings = fixedPaths(catalogue);
  try {
    for (let round = 0; ; round++) {
      await Promise.all(
        [...pending.keys()].map(id => lookAtRecord(api, flow, { id, siblings, tests, pending }, signal)),
      );
      if (pending.size > 0) await unlessRefused(() => lookAtFeed(api, flow, { since, tests, pending }, signal));
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 1.5 ** round, until - clock.now());
      if (pending.size === 0 || pauseMs <= 0) return pending;
      await clock.sleep(pauseMs, signal);
    }
  } finally {
    await api.close();
  }
}

interface Waiting {
  readonly since: string;
  readonly until: number;
  readonly tests: Readonly<Record<string, Parameters<typeof passes>[0]>>;
}

interface Pending {
  readonly tests: Waiting["tests"];
  readonly pending: Map<string, string | null>;
}

/** The document's own record may tell its status, by a name that stands in the documents; its fields are not documented. */
async function lookAtRecord(
  api: Api,
  { record, feed }: UploadFlow,
  { id, siblings, tests, pending }: Pending & { readonly id: string; readonly siblings: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const test = tests[feed.status];
  if (test === undefined) return;
  let path: string;
  try {
    path = buildPath(record.path, { doc_id: id }, siblings);
  } catch (error) {
    if (error instanceof PathError) return;
    throw error;
  }
  const answer = await unlessRefused(() => api.get(path, {}, { signal }));
  const status = isObject(answer?.data) ? answer.data[record.status] : undefined;
  if (typeof status !== "string") return;
  pending.set(id, status);
  if (passes(test, status)) pending.delete(id);
}

async function lookAtFeed(
  api: Api,
  flow: UploadFlow,
  { since, tests, pending }: Pending & Pick<Waiting, "since">,
  signal: AbortSignal,
): Promise<void> {
  for await (const row of feedRows(api, flow, since, signal)) {
    const id = String(row[flow.feed.id]);
    if (!pending.has(id)) continue;
    const status = row[flow.feed.status];
    if (typeof status === "string") pending.set(id, status);
    if (Object.entries(tests).some(([column, test]) => passes(test, row[column]))) pending.delete(id);
    if (pending.size === 0) return;
  }
}

/** In the ledger; where another run has the warehouse by now it is told by the next call. */
async function note(
  { config, company }: UploadOrder,
  { clock, log }: RunTools,
  done: readonly string[],
  waitMs: number,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const opener = { runId: `upload-${now}`, holder: holderOf("tributary upload", now), clock };
  try {
    await inState(config.destination, opener, waitMs, async destination => {
      await noteProcessed(destination.db, company.name, done, now);
      await destination.releaseToReaders();
    });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    log.debug({ err: error }, "the ledger of uploads was not brought up to date");
  }
}
