import { count, id, record, table, text } from "../../schemas/fields.ts";
import { type Detail, defineStream, detail, list, type Stream } from "../../src/catalog/stream.ts";
import type { Part, StreamSync, SyncContext } from "../../src/sync/context.ts";
import { fromService, runCompany } from "../../src/sync/run/jobs.ts";
import { runSync } from "../../src/sync/run/run.ts";
import { fetchPart, type Gathered, type PartResult, syncDetails } from "../../src/sync/stream/details.ts";
import { syncStream } from "../../src/sync/stream/sync_stream.ts";
import { StreamProgress } from "../../src/sync/stream_progress.ts";
import { openDestination } from "../../src/warehouse/connect/open.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import type { Setting } from "../support/run.ts";

const mails = defineStream({
  name: "mails",
  path: "/mails",
  mode: list({ rows: "mails" }),
  row: record("A mail.", { id: id().describe("Its id."), version: count().describe("Which version it is.") }),
  key: ["id"],
  preset: "core",
});
const words = table("mail_thread_words", "Its words.", { word: text().describe("A word.") });
const threads = defineStream({
  name: "mail_threads",
  path: "/mails/{id}/threads",
  mode: detail({ of: "mails", rows: "threads" }),
  row: record("A thread.", {
    thread_id: id().describe("Its id."),
    version: count().describe("Which version it is."),
    words,
  }),
  key: ["mail_id", "thread_id"],
  preset: "core",
});
const facts = defineStream({
  name: "mail_facts",
  path: "/mails/{id}",
  mode: detail({ of: "mails" }),
  row: record("What is known of a mail.", {
    id: id().describe("Its id."),
    size: count().describe("Its size."),
    marks: table("mail_marks", "Its marks.", { mark: text().describe("A mark.") }),
  }),
  key: ["id"],
  preset: "core",
});

/** A list with details of one row each, and of many. */
export const mailbox: readonly Stream[] = [mails, threads, facts];

/** What a test does to one part of a stream. */
export interface Doing {
  readonly part: Part;
  readonly stream: string;
  readonly destination: Destination;
  /** Fetches it, in a session of its own. */
  readonly fetch: (context?: Partial<SyncContext>) => Promise<PartResult>;
}

/** Runs whose details other sessions fetch, each so many parts of it; `meanwhile` is done for each part instead of one fetch. */
export function inParts(
  of: number,
  meanwhile: (doing: Doing) => Promise<PartResult> = ({ fetch }) => fetch(),
): NonNullable<Setting["run"]> {
  return (order, tools) => {
    const sessionOf = (runId: string) => {
      const holder = { pid: process.pid, host: "here", command: "worker", startedAt: "2026-03-15T12:00:00Z" };
      return openDestination(order.config.destination, { runId, holder, clock: tools.clock }, 0);
    };
    const fetchOne = async ({ context, stream, mode }: StreamSync, index: number): Promise<PartResult> => {
      const part = { name: `${index + 1} of ${of}`, index, of };
      const destination = await sessionOf(context.runId);
      try {
        await destination.lock(context.company, ["mails"], 0, part.name);
        const own = { ...context, destination, part, inTurn: <T>(publish: () => Promise<T>) => publish() };
        const fetch = async (more: Partial<SyncContext> = {}) => {
          const progress = new StreamProgress(new Date(tools.clock.now()).toISOString());
          let result: PartResult | undefined;
          await syncStream({ context: { ...own, ...more }, stream, mode, progress }, async sync => {
            result = await fetchPart(sync as StreamSync<Detail>);
          });
          return result!;
        };
        return await meanwhile({ part, stream: stream.name, destination, fetch });
      } finally {
        await destination.close();
      }
    };
    const gather = (sync: StreamSync) => async (): Promise<Gathered> => {
      await sync.context.destination.share(`0 of ${of}`).catch(error => {
        if (!(error instanceof TypeError)) throw error;
      });
      const settled = await Promise.allSettled(Array.from({ length: of }, (_, index) => fetchOne(sync, index)));
      const failed = settled.find(each => each.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const results = settled.flatMap(each => (each.status === "fulfilled" ? [each.value] : []));
      const sum = (name: "ok" | "absent" | "failed") => results.reduce((all, each) => all + each[name], 0);
      return {
        parts: results.map((_, index) => `${index + 1} of ${of}`),
        counts: {
          ...{ ok: sum("ok"), absent: sum("absent"), failed: sum("failed") },
          firstFailure: results.find(each => each.firstFailure !== undefined)?.firstFailure,
          blocked: results.find(each => each.blocked !== undefined)?.blocked,
        },
      };
    };
    const source = {
      ...fromService,
      async runCompany(...[context, service, run]: Parameters<typeof runCompany>) {
        const isDetail = ({ stream }: { readonly stream: Stream }) => stream.mode.kind === "detail";
        await runCompany(context, service, { ...run, jobs: run.jobs.filter(job => !isDetail(job)) });
        for (const job of run.jobs.filter(isDetail))
          await runCompany(context, service, {
            ...{ ...run, jobs: [job] },
            work: sync => syncDetails(sync as StreamSync<Detail>, undefined, gather(sync)),
          });
      },
    };
    return runSync({ ...order, source }, tools);
  };
}
