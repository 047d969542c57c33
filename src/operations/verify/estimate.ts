import type { Stream } from "../../catalog/stream.ts";
import { nothingLoaded } from "../../errors.ts";
import { pagesOf } from "../../sync/extract/listing.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { companiesOf } from "../../sync/run/run.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import { openReading, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { liveCount, withTables } from "../../warehouse/ddl/present_tables.ts";
import { loadStreamState } from "../../warehouse/state/run_log.ts";
import { fetchedCount } from "../../warehouse/state/verifications.ts";
import type { VerifyEstimate } from "./report.ts";
import { COMPARED, type VerifyOrder, verifiedStreams } from "./verify.ts";

type Order = Pick<VerifyOrder, "config" | "catalogue" | "names" | "company" | "sample">;

/** What a verification would request, by what the warehouse knows: nothing is asked for, nothing written. */
export async function estimateVerify(order: Order): Promise<VerifyEstimate> {
  const { config } = order;
  const companies = companiesOf(config, order.company);
  const { all, wanted } = verifiedStreams(order);
  await using reading = await openReading(config.destination);
  if (reading === undefined) throw nothingLoaded(COMPARED);
  const loaded = await withTables(reading, wanted);
  const streams: VerifyEstimate["streams"][number][] = [];
  for (const { name: company } of companies)
    for (const stream of loaded)
      streams.push({ company, stream: stream.name, ...(await costOf(order, reading, company, stream, all)) });
  // One more of each company, to learn whose key it is.
  const requests = streams.reduce((sum, line) => sum + line.requests, companies.length);
  return { dry_run: true, requests, streams };
}

async function costOf(
  { config, sample }: Order,
  reading: WarehouseReading,
  company: string,
  stream: Stream,
  catalogue: readonly Stream[],
): Promise<{ readonly requests: number; readonly why: string }> {
  const { mode } = stream;
  const policy = policyOf(config, stream.name);
  if (mode.kind === "snapshot") return { requests: choicesOf(mode, policy).length, why: "today's figures" };
  if (mode.kind === "detail") {
    const fetched = await fetchedCount(reading, company, stream.name);
    const requests = Math.min(fetched, sample ?? fetched);
    return { requests, why: requests < fetched ? `a sample of ${fetched} details` : "each detail by its own path" };
  }
  if (mode.kind === "scan" && mode.lookup !== undefined) {
    const { asked } = await questionsOf({ looked: reading, company, catalogue }, stream, mode, policy);
    return { requests: asked.length, why: "a request for each set of values" };
  }
  const state = await loadStreamState(reading.db, company, stream.name);
  const live = (await liveCount(reading, company, stream.tables)) ?? 0;
  const pages = state.lastFullPages ?? pagesOf(live);
  return { requests: pages + policy.statuses.length, why: "the list, whole" };
}
