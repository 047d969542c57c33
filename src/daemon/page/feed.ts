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

export interface Feed {
  /** A visitor's messages until the signal or `close`. Undefined when there are too many visitors already. */
  subscribe(signal: AbortSignal): AsyncIterable<Message> | undefined;
  close(): void;
}

const PROGRESS_MS = 1_000;
/** How often the warehouse is read, to notice what other processes did. */
const LOOK_MS = 15_000;
const MOST_VISITORS = 64;

const alive: Message = { event: "alive", data: "" };
const changed: Message = { event: "changed", data: "" };

/** Each visitor has a loop of its own: a slow one gets the newest state, and without visitors nothing is read. */
export function createFeed(source: PageSource, takeSnapshot: TakeSnapshot, clock: Clock, log: Log): Feed {
  const closing = new AbortController();
  let visitors = 0;

  // A failure here must not end the daemon that serves the page.
  const failed = (error: unknown): void => log.warn(pageMessages.no_news(), { err: error });

  const progressNow = (): string | undefined => {
    try {
      const live = source.daemon?.live();
      return live && String(liveContent({ live, status: undefined, now: clock.now() }));
    } catch (error) {
      failed(error);
      return undefined;
    }
  };

  async function* messages(signal: AbortSignal): AsyncGenerator<Message> {
    let rest = new AbortController();
    let news: Message | undefined = alive;
    const deafen = source.daemon?.listen(() => {
      news = changed;
      rest.abort();
    });
    let progress: string | undefined;
    let print: string | undefined;
    const notice = ({ view, fresh }: PageSnapshot): void => {
      const found = fingerprint({ view, fresh });
      if (news !== changed) news = print === undefined || found === print ? alive : changed;
      print = found;
    };
    let next = clock.now();
    try {
      while (!signal.aborted) {
        const said = news;
        news = undefined;
        if (said !== undefined) yield said;
        const markup = progressNow();
        if (markup !== undefined && markup !== progress) yield { event: "progress", data: markup };
        progress = markup;
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
        await clock.sleep(PROGRESS_MS, AbortSignal.any([signal, rest.signal])).catch(() => undefined);
        rest = new AbortController();
      }
    } finally {
      visitors -= 1;
      deafen?.();
    }
  }

  return {
    subscribe(signal) {
      if (closing.signal.aborted || visitors >= MOST_VISITORS) return undefined;
      visitors += 1;
      return messages(AbortSignal.any([signal, closing.signal]));
    },
    close: () => closing.abort(),
  };
}

/** What has to differ for the page to be worth fetching anew. */
function fingerprint({ view, fresh }: PageSnapshot): string {
  const { unreadable } = view;
  if (fresh === undefined) return JSON.stringify([unreadable]);
  const { running, last_run, streams, warehouse } = fresh;
  return JSON.stringify([running?.run_id, last_run?.run_id, last_run?.status, warehouse, streams]);
}
