import type { Clock } from "../../clock.ts";
import { TributaryError } from "../../errors.ts";
import type { Status } from "../../operations/status.ts";
import type { History } from "../../warehouse/read/run_history.ts";
import type { StreamRecord } from "../../warehouse/read/stream_record.ts";
import type { View } from "./page_model.ts";
import type { PageSource } from "./source.ts";

export interface PageSnapshot {
  readonly view: View;
  /** The warehouse's status as it was read just now; undefined when it could not be. */
  readonly fresh: Status | undefined;
}

/** Keeps what was read last while the warehouse cannot be read; never rejects. */
export type TakeSnapshot = () => Promise<PageSnapshot>;

/** What is known of one stream: its record, undefined while a run has the file, or why it cannot be read. */
export type StreamLook = { readonly record: StreamRecord | undefined } | { readonly unreadable: string };

export interface PageSnapshots {
  readonly take: TakeSnapshot;
  /** Reads once for each reading of the status; never rejects. */
  readonly look: (company: string, stream: string) => Promise<StreamLook>;
}

export function createPageSnapshots(source: PageSource, clock: Clock, redact: (text: string) => string): PageSnapshots {
  let read: { readonly status: Status; readonly history: Promise<History | undefined> } | undefined;
  const looks = new Map<string, Promise<StreamLook>>();
  let known: Pick<View, "status" | "history"> = { status: undefined, history: undefined };

  const find = async (): Promise<{ readonly fresh: Status | undefined; readonly unreadable: string | undefined }> => {
    try {
      const fresh = await source.status();
      if (read?.status !== fresh) {
        read = { status: fresh, history: source.history() };
        looks.clear();
      }
      const history = await read.history;
      // While a run has locked the file its contents are those that were read last.
      if (fresh.warehouse.note === null) known = { status: fresh, history };
      else known = { status: held(fresh, known.status), history: known.history };
      return { fresh, unreadable: undefined };
    } catch (error) {
      return { fresh: undefined, unreadable: redact(messageOf(error)) };
    }
  };

  const take = async (): Promise<PageSnapshot> => {
    const { fresh, unreadable } = await find();
    const { daemon } = source;
    const view: View = {
      now: clock.now(),
      lateAfterMs: source.lateAfterMs(),
      groups: source.groups,
      unreadable,
      ...known,
      live: daemon?.live(),
      nextRuns: daemon?.nextRuns(),
      last: daemon?.last(),
      refusal: daemon?.refusal(),
    };
    return { view, fresh };
  };
  const look = (company: string, stream: string): Promise<StreamLook> => {
    const key = JSON.stringify([company, stream]);
    const kept = looks.get(key);
    if (kept !== undefined) return kept;
    const found = source.record(company, stream).then(
      record => ({ record }),
      (error: unknown) => ({ unreadable: redact(messageOf(error)) }),
    );
    looks.set(key, found);
    return found;
  };
  return { take, look };
}

function held(now: Status, before: Status | undefined): Status {
  if (before === undefined) return now;
  return { ...before, running: now.running, warehouse: { ...before.warehouse, note: now.warehouse.note } };
}

function messageOf(error: unknown): string {
  if (error instanceof TributaryError) return error.message;
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `The warehouse could not be looked at: ${what}. Run \`tributary check\`, which says what is wrong with it.`;
}
