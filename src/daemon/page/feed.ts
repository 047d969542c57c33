import type { Clock } from "../../clock.ts";
import type { Log } from "../../logging.ts";
import { liveContent } from "./live.ts";
import { pageMessages } from "./messages.ts";
import type { PageSnapshot, TakeSnapshot } from "./page_snapshot.ts";
import type { PageSource } from "./source.ts";

/** A server-sent event: the run's progress as markup, or that the page has to be fetched again. */
export interface Message {
  readonly event: "progress" | "changed" | "alive";
  readonly data: string;
}

/** A visitor's messages until either side closes. For a slow visitor only the newest of each kind is kept. */
export interface Subscription extends AsyncIterable<Message> {
  close(): void;
}

export interface Feed {
  /** Undefined when there are too many visitors already. */
  subscribe(): Subscription | undefined;
  close(): void;
}

const PROGRESS_MS = 1_000;
/** How often the warehouse is read, to notice what other processes did. */
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

  // A failure here must not end the daemon that serves the page.
  const failed = (error: unknown): void => log.warn(pageMessages.no_news(), { err: error });

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
      // Not awaited: a slow warehouse must not delay the progress.
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
