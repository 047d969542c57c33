import { type MeaningTests, passes } from "../../catalog/meaning.ts";
import { fixedPaths } from "../../catalog/stream.ts";
import { selectedByConfig } from "../../config/selection.ts";
import type { Message } from "../../message.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { isObject } from "../../rows/reject.ts";
import { buildPath } from "../../source/path.ts";
import { asDue } from "../../sync/context.ts";
import { runAttempts } from "../../sync/run/attempts.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import { openClient } from "../../sync/run/service.ts";
import { openReading } from "../../warehouse/connect/reading.ts";
import { rowsWith } from "../../warehouse/state/uploads.ts";
import { feedRows, unlessRefused } from "./lookup.ts";
import { uploadMessages } from "./messages.ts";
import type { UploadOrder } from "./upload.ts";

export interface Followed {
  /** Documents that are not processed as far as anything says, with the status that was seen last. */
  readonly pending: ReadonlyMap<string, string | null>;
  /** Documents whose processing failed, with their last status. */
  readonly failed: ReadonlyMap<string, string>;
  /** Why nothing was waited for. */
  readonly unread?: Message;
  /** The run that loaded what the others became, and their rows by table. */
  readonly sync?: RunReport;
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
  const { config, company, flow } = order;
  const pending = new Map<string, string | null>(documents.map(id => [id, null]));
  const failed = new Map<string, string>();
  const tests = config.meanings["processed"] ?? {};
  if (Object.keys(tests).length === 0) return { pending, failed, unread: uploadMessages.processed_unknown(), rows: {} };
  const until = tools.clock.now() + waitMs;
  await untilProcessed(order, tools, { pending, failed, tests, since, until });
  const done = documents.filter(id => !pending.has(id) && !failed.has(id));
  if (done.length === 0) return { pending, failed, rows: {} };
  const include = [...config.streams.include, ...Object.keys(flow.results)];
  const on = selectedByConfig(configured(order.catalogue, config), { ...config.streams, include });
  const read = on.filter(({ name }) => name in flow.results);
  const run = {
    ...{ command: "tributary upload", refresh: asDue },
    selection: { names: read.map(({ name }) => name), named: [], company: company.name },
    limits: { maxTimeMs: undefined, maxRequests: undefined, waitMs: Math.max(0, until - tools.clock.now()) },
  };
  const sync = await runAttempts({ ...order, ...run }, tools);
  await using reading = await openReading(config.destination);
  const rows: Record<string, Followed["rows"][string]> = {};
  for (const { name, tables } of reading === undefined ? [] : read) {
    const place = { company: company.name, table: tables.main.name, column: flow.results[name]! };
    rows[place.table] = await rowsWith(reading!, place, done);
  }
  return { pending, failed, sync, rows };
}

interface Waiting {
  /** Processed and failed ones are taken out. */
  readonly pending: Map<string, string | null>;
  readonly failed: Map<string, string>;
  readonly tests: MeaningTests[string];
  readonly since: string;
  readonly until: number;
}

async function untilProcessed(
  { config, company, version, flow, catalogue }: UploadOrder,
  { clock, random, log, signal }: RunTools,
  { pending, failed, tests, since, until }: Waiting,
): Promise<void> {
  const tools = { clock, random, log, signal, version, maxRequests: undefined };
  await using api = await openClient(company, config.api, tools);
  const { record, feed } = flow;
  const note = (id: string, status: unknown, isProcessed: boolean) => {
    if (typeof status === "string") pending.set(id, status);
    const hasFailed = !isProcessed && typeof status === "string" && passes(flow.record.failed, status);
    if (hasFailed) failed.set(id, status);
    if (isProcessed || hasFailed) pending.delete(id);
  };
  // A record's fields are not documented; the name of the one that tells how far it is stands in the documents.
  const lookAtRecord = async (id: string) => {
    const path = buildPath(record.path, { doc_id: id }, fixedPaths(catalogue));
    const { data } = await api.get(path, {}, { signal });
    const status = isObject(data) ? data[record.status] : undefined;
    const test = tests[feed.status];
    note(id, status, typeof status === "string" && test !== undefined && passes(test, status));
  };
  const lookAtFeed = async () => {
    for await (const row of feedRows(api, flow, since, signal)) {
      const id = String(row[feed.id]);
      const isProcessed = Object.entries(tests).some(([column, test]) => passes(test, row[column]));
      if (pending.has(id)) note(id, row[feed.status], isProcessed);
    }
  };
  for (let round = 0; ; round++) {
    await Promise.all([...pending.keys()].map(id => unlessRefused(() => lookAtRecord(id))));
    if (pending.size > 0) await unlessRefused(lookAtFeed);
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 1.5 ** round, until - clock.now());
    if (pending.size === 0 || pauseMs <= 0) return;
    await clock.sleep(pauseMs, signal);
  }
}
