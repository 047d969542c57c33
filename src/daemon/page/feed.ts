import type { Clock } from "../../clock.ts";
import type { Log } from "../../logging.ts";
import { liveContent } from "./live.ts";
import type { PageSnapshot, TakeSnapshot } from "./page_snapshot.ts";
import type { PageSource } from "./source.ts";

/** What a visitor's page is told: how far the run is, as markup, or that it should fetch itself anew. */
export interface Message {
  readonly event: "progress" | "changed" | "alive";
  readonly data: string;
}

/** A visitor's messages until one of the two sides leaves. Of each kind only the newest is kept for one who is slow. */
export interface Subscription extends AsyncIterable<Message> {
  close(): void;
}

/** Tells all visitors the same. */
export interface Feed {
  /** Undefined when there are too many visitors already. */
  subscribe(): Subscription | undefined;
  close(): void;
}

const PROGRESS_MS = 1_000;
/** What other processes do is noticed by looking. */
const LOOK_MS = 15_000;
const MOST_VISITORS = 64;

/** Works only while somebody listens. */
export function createFeed(source: PageSource, takeSnapshot: TakeSnapshot, clock: Clock, log: Log): Feed {
  const visitors = new Set<ReturnType<typeof mailbox>>();
  let working: AbortController | undefined;
  let progress: string | undefined;
  let closed = false;
  const tell = (message: Message): void => {
    for (const { put } of visitors) put(message);
  };
  const deafen = source.daemon?.listen(() => tell({ event: "changed", data: "" }));

  // Whoever serves the page has better things to do than to end over it.
  const failed = (error: unknown): void => log.warn({ err: error }, "the status page could not tell how things stand");

  const showProgress = (): void => {
    try {
      const live = source.daemon?.live();
      const markup = live && String(liveContent({ live, status: undefined, now: clock.now() }));
      if (markup !== undefined && markup !== progress) tell({ event: "progress", data: markup });
      progress = markup;
    } catch (error) {
      failed(error);
    }
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    let print: string | undefined;
    let next = clock.now();
    const notice = ({ view, fresh }: PageSnapshot): void => {
      const found = fingerprint({ view, fresh });
      tell({ event: print === undefined || found === print ? "alive" : "changed", data: "" });
      print = found;
    };
    while (!signal.aborted) {
      showProgress();
      // A warehouse that takes its time does not hold up the progress.
      if (clock.now() >= next) {
        next = Number.POSITIVE_INFINITY;
        void takeSnapshot()
          .then(notice)
          .catch(failed)
          .finally(() => {
            next = clock.now() + LOOK_MS;
          });
      }
      await clock.sleep(PROGRESS_MS, signal).catch(() => undefined);
    }
  };

  return {
    subscribe() {
      if (closed || visitors.size >= MOST_VISITORS) return undefined;
      const box = mailbox(() => {
        visitors.delete(box);
        if (visitors.size > 0) return;
        working?.abort();
        working = undefined;
        progress = undefined;
      });
      visitors.add(box);
      box.put(progress === undefined ? { event: "alive", data: "" } : { event: "progress", data: progress });
      if (working === undefined) {
        working = new AbortController();
        void work(working.signal);
      }
      return box;
    },
    close() {
      closed = true;
      deafen?.();
      for (const box of [...visitors]) box.close();
    },
  };
}

/** What has to differ for the page to be worth fetching anew. */
function fingerprint({ view, fresh }: PageSnapshot): string {
  const { unreadable } = view;
  if (fresh === undefined) return JSON.stringify([unreadable]);
  const { running, last_run, streams, warehouse } = fresh;
  return JSON.stringify([running?.run_id, last_run?.run_id, last_run?.status, warehouse, streams]);
}

function mailbox(left: () => void): Subscription & { put(message: Message): void } {
  const waiting = new Map<Message["event"], Message>();
  let open = true;
  let wake = Promise.withResolvers<void>();
  return {
    put(message) {
      waiting.set(message.event, message);
      wake.resolve();
    },
    close() {
      if (!open) return;
      open = false;
      wake.resolve();
      left();
    },
    async *[Symbol.asyncIterator]() {
      while (open) {
        await wake.promise;
        wake = Promise.withResolvers();
        const messages = [...waiting.values()];
        waiting.clear();
        for (const message of messages) if (open) yield message;
      }
    },
  };
}
