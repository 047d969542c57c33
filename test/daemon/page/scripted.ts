import type { PageSource } from "../../../src/daemon/page/source.ts";
import type { DaemonEvent, LiveRun } from "../../../src/daemon/schedule/events.ts";

type Daemon = NonNullable<PageSource["daemon"]>;
export type Progress = ReturnType<NonNullable<LiveRun["view"]>["snapshot"]>["streams"][number];

/** A daemon whose words and deeds the test decides. */
export interface ScriptedDaemon extends Daemon {
  /** A run that is going on, with its streams as they stand; undefined: none. */
  run(facts: Omit<LiveRun, "view"> | undefined, streams?: readonly Progress[]): void;
  /** The run that is going on knows its streams. */
  watch(view: LiveRun["view"]): void;
  plan(next: ReturnType<Daemon["nextRuns"]>): void;
  end(event: NonNullable<ReturnType<Daemon["last"]>>): void;
  refuse(refusal: ReturnType<Daemon["refusal"]>): void;
  tell(event: DaemonEvent): void;
  readonly listeners: number;
}

export function scriptedDaemon(): ScriptedDaemon {
  let live: LiveRun | undefined;
  let planned: ReturnType<Daemon["nextRuns"]> = [];
  let ended: ReturnType<Daemon["last"]>;
  let refused: ReturnType<Daemon["refusal"]>;
  const listeners = new Set<(event: DaemonEvent) => void>();
  return {
    live: () => live,
    nextRuns: () => planned,
    last: () => ended,
    refusal: () => refused,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    run(facts, streams) {
      const snapshot = { limitedBy: "latency", inFlight: 3, ceiling: 8, limited429: 0 };
      const view = streams === undefined ? undefined : { snapshot: () => ({ ...snapshot, streams }) };
      live = facts === undefined ? undefined : { ...facts, view };
    },
    watch: view => {
      live = live && { ...live, view };
    },
    plan: next => {
      planned = next;
    },
    end: event => {
      ended = event;
    },
    refuse: refusal => {
      refused = refusal;
    },
    tell: event => {
      for (const listener of listeners) listener(event);
    },
    get listeners() {
      return listeners.size;
    },
  };
}
