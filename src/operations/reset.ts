import { type Asking, asksNothing, loadedColumn } from "../catalog/lookup.ts";
import type { Detail, Stream } from "../catalog/stream.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { lockGroupOf, select } from "../config/selection.ts";
import { LostFileError } from "../errors.ts";
import { configured } from "../privacy/configured_catalog.ts";
import { parentsOf } from "../sync/load/child_streams.ts";
import { policyOf } from "../sync/run/jobs.ts";
import { holderOf } from "../sync/run/opening.ts";
import { choicesOf } from "../sync/stream/snapshot.ts";
import { openDestination } from "../warehouse/connect/open.ts";
import { hasUnpublished, openReading } from "../warehouse/connect/reading.ts";
import { type Looked, liveCount, withTables } from "../warehouse/ddl/present_tables.ts";
import type { Destination } from "../warehouse/destination.ts";
import { distinctValues } from "../warehouse/read/distinct_values.ts";
import { dropTables, forgetProgress } from "../warehouse/schema/removal.ts";
import { dropStages } from "../warehouse/state/drop_stages.ts";
import { compareIdentity, forgetCompany } from "../warehouse/state/identity.ts";
import { loadStreamState } from "../warehouse/state/run_log.ts";
import { ensureState } from "../warehouse/state/state_ddl.ts";
import { publishedAmong, recountDetail } from "../warehouse/state/table_counts.ts";
import { forgetStored } from "../warehouse/views/stored_models.ts";

export interface ResetOrder {
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly names: readonly string[];
  readonly companies: readonly string[];
  /** The company's rows too, and tables that are empty then. */
  readonly drop: boolean;
}

/** One stream of a company, and what the next run will ask for it; null: not known. */
export interface ResetLine {
  readonly company: string;
  readonly stream: string;
  readonly requests: number | null;
}

/** The streams that were named, and of lists the details: their detail state speaks of the list's rows. */
export function resetStreams({ config, catalogue, names }: ResetOrder): readonly Stream[] {
  const all = configured(catalogue, config);
  const { named } = select(all, all, names);
  const wanted = new Set(named);
  const isOf = ({ mode }: Stream): boolean => {
    if (mode.kind !== "detail") return false;
    const parent = all.find(other => other.name === mode.of);
    return wanted.has(mode.of) || (parent !== undefined && isOf(parent));
  };
  for (const stream of all) if (isOf(stream)) wanted.add(stream.name);
  return all.filter(stream => wanted.has(stream.name));
}

/** A detail that was never loaded has nothing to forget, unless it is named itself. */
async function withSomething(
  looked: Parameters<typeof withTables>[0],
  { names }: ResetOrder,
  streams: readonly Stream[],
): Promise<readonly Stream[]> {
  const loaded = await withTables(looked, streams);
  return streams.filter(
    stream => stream.mode.kind !== "detail" || names.includes(stream.name) || loaded.includes(stream),
  );
}

/** What a reset would mean, read without a lock; undefined when nothing has been loaded yet. */
export async function planReset(order: ResetOrder): Promise<readonly ResetLine[] | undefined> {
  const streams = resetStreams(order);
  await using reading = await openReading(order.config.destination);
  if (reading === undefined && !(await hasUnpublished(order.config.destination))) return undefined;
  const lines: ResetLine[] = [];
  const something = reading === undefined ? streams : await withSomething(reading, order, streams);
  for (const company of order.companies) {
    for (const stream of something) {
      const asking = policyOf(order.config, stream.name);
      const cost = reading && costFromStart(reading, company, stream, order.catalogue, asking);
      const requests = await cost?.catch(error => {
        if (!(error instanceof LostFileError)) throw error;
      });
      lines.push({ company, stream: stream.name, requests: requests ?? null });
    }
  }
  return lines;
}

/** Forgets marks, cursors, stages and detail states under the streams' locks; with `drop` rows too. Answers sentences. @throws LockedError, DestinationError, ConfigError */
export async function reset(
  order: ResetOrder,
  run: { readonly runId: string; readonly clock: Clock; readonly waitMs: number; readonly version: string },
): Promise<readonly string[]> {
  const { config, catalogue, companies } = order;
  const streams = resetStreams(order);
  const { runId, clock, waitMs, version } = run;
  const startedAt = new Date(clock.now()).toISOString();
  const holder = holderOf("tributary reset", startedAt);
  await using destination = await openDestination(config.destination, { runId, holder, clock }, waitMs);
  const { db, dialect, schema, stateSchema } = destination;
  await ensureState(db, dialect, stateSchema);
  // Not the company's address: that a service has moved is one of the reasons for a reset.
  await compareIdentity(db, { schema, companies: [], program: version });
  const lockGroups = [...new Set(streams.map(stream => lockGroupOf(catalogue, stream)))];
  const done: string[] = [];
  const something = await withSomething(destination, order, streams);
  for (const company of companies) await destination.lock(company, lockGroups, waitMs);
  for (const company of companies) {
    // Details first: once their list has no rows theirs would stay behind.
    for (const stream of something.toReversed()) done.push(...(await resetStream(destination, order, company, stream)));
    if (!order.drop || !(await forgetCompany(db, company))) continue;
    await forgetStored(destination, company);
    done.push(`${company}: nothing of it is left`);
  }
  if ((await destination.releaseState()).isPending) await destination.releaseToReaders();
  return [...destination.warnings.map(({ message }) => message), ...done];
}

async function resetStream(
  destination: Destination,
  { drop, catalogue, companies, config }: ResetOrder,
  company: string,
  stream: Stream,
): Promise<readonly string[]> {
  const { db, dialect, schema, stateSchema } = destination;
  await dropStages(destination, company, stream.tables);
  const withRoom = <T>(work: () => Promise<T>) => destination.withRoom("write", work, { tables: stream.tables });
  const { grantSelectTo } = config.destination;
  const removal = { schema, stateSchema, company, tables: stream.tables, grantSelectTo };
  if (drop)
    return withRoom(() => dropTables(db, dialect, removal)).catch(async (error: unknown) => {
      if (!(error instanceof LostFileError)) throw error;
      const known = await db.selectFrom("streams").select("company").where("stream", "=", stream.name).execute();
      if (known.some(row => !companies.includes(row.company))) throw error;
      return withRoom(() => dropTables(db, dialect, { ...removal, unread: true }));
    });
  await withRoom(() =>
    db.transaction().execute(async trx => {
      await forgetProgress(trx, company, stream.name);
      const { mode } = stream;
      if (mode.kind === "detail" && (await publishedAmong(trx, company, [stream])).size > 0)
        await recountDetail(trx, destination, { company, stream, parent: parentsOf(catalogue, stream, mode) });
    }),
  );
  return [`${stream.name}: forgot how far it was read for ${company}; its rows stay`];
}

/** Requests that it takes to read a stream from the start, as far as the warehouse knows; undefined: unknown. */
export async function costFromStart(
  looked: Looked,
  company: string,
  stream: Stream,
  catalogue: readonly Stream[],
  asking: Asking = asksNothing,
): Promise<number | undefined> {
  const { mode } = stream;
  switch (mode.kind) {
    case "snapshot":
      return choicesOf(mode, asking).length;
    case "detail": {
      if (mode.by !== undefined) return costOfValues(looked, company, mode, mode.by, catalogue);
      const parent = catalogue.find(other => other.name === mode.of);
      return parent === undefined ? undefined : liveCount(looked, company, parent.tables);
    }
    default: {
      const { lastFullPages } = await loadStreamState(looked.db, company, stream.name);
      return lastFullPages ?? undefined;
    }
  }
}

/** One request for each distinct value; how many names a JSON column holds is not counted here. */
async function costOfValues(
  looked: Looked,
  company: string,
  { of, also = [] }: Detail,
  by: string,
  catalogue: readonly Stream[],
): Promise<number | undefined> {
  const columns = [`${of}.${by}`, ...also].map(named => loadedColumn(catalogue, named));
  const known = columns.filter(column => column !== undefined);
  if (known.length < columns.length || known.some(({ kind }) => kind === "json")) return undefined;
  return (await distinctValues(looked, company, known)).length;
}
