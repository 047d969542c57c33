import { firstSettings, type RunStep, type Settings, type Step, type Story } from "./story.ts";

/** A run as it is when nothing else is said. */
export const plainRun: RunStep = {
  do: "run",
  command: "sync",
  rejects: false,
  names: [],
  full: false,
  allDetails: false,
  confirmDeletes: false,
  from: undefined,
  to: undefined,
  restart: false,
  maxTimeMs: undefined,
  maxRequests: undefined,
  during: [],
  troubles: {},
  troublesAt: 1,
  death: undefined,
  second: undefined,
  beside: undefined,
  older: undefined,
  looks: [],
};

const updated: Step = { do: "change", change: { what: "update", list: "orders", count: 3 } };
const forgotten: Extract<Step, { do: "reset" }> = { do: "reset", names: ["orders"], drop: false, death: undefined };

/** Stories that once went wrong, as short as they could be made, by what must hold of them. */
export const found: Readonly<Record<string, Story>> = {
  "figures of the day that a run asked for and did not store are counted as asked for again": story(
    ["rates"],
    [{ ...plainRun, maxRequests: 2 }],
  ),
  "figures of the day that were stored before a run's requests were used up are counted once": {
    ...story(["prices", "rates", "notes"], [{ ...plainRun, maxRequests: 6 }]),
    archived: true,
  },
  "rows of a stream that is refused for its rejects are counted: the rejected, and those that are read again": story(
    ["parts"],
    [{ ...plainRun, troubles: { nullKeys: 0.9 } }],
    { fewRejects: true },
  ),
  "rows of a stream that is refused for fields that nobody documented are counted as asked for again": story(
    ["parts"],
    [{ do: "change", change: { what: "addition", list: "parts", count: 10 } }, plainRun],
    { unknownFields: "fail" },
  ),
  "a replay after a reset does not take rows through their earlier states once more": {
    ...story(["orders", "order_moves"], [plainRun, updated, plainRun, forgotten, { ...plainRun, command: "replay" }]),
    archived: true,
  },
  "a replay takes no event for deleted that a backfill brought which the archive lost": {
    ...story(
      ["events"],
      [
        { ...plainRun, full: true },
        { do: "change", change: { what: "insert", list: "events", count: 2 } },
        { ...plainRun, command: "backfill", from: "2026-02-03" },
        { do: "lose", how: "archive" },
        { ...plainRun, command: "replay" },
      ],
    ),
    facts: { ...story([], []).facts, pageRows: 100, totals: false },
    archived: true,
  },
  "a scan under way is begun anew once its volatile titles are to be masked: what was staged of them is as it came":
    story(
      ["orders"],
      [
        { ...plainRun, troubles: { expireCursorAfterPages: { pages: 1, times: 1 } } },
        {
          do: "configure",
          settings: { ...firstSettings(["orders"]), volatileTitles: true, titles: "mask" },
        },
        plainRun,
      ],
      { volatileTitles: true },
    ),
  "a tear that hits nothing of the work file leaves a reset that was not shown yet: rows are new again": {
    ...story(
      ["events"],
      [
        plainRun,
        { ...forgotten, names: ["events"], drop: true, death: { at: "copy", nth: 1, when: "before", of: "process" } },
        { do: "lose", how: "torn" },
      ],
    ),
    readers: "snapshot",
  },
  "a detail's rows come back with what they went with, and go again when its new answer lacks them": story(
    ["orders", "order_details"],
    [
      plainRun,
      { do: "change", change: { what: "update", list: "orders", count: 5 } },
      { do: "change", change: { what: "delete", list: "orders", count: 4 } },
      plainRun,
      { do: "change", change: { what: "restore", list: "orders", count: 4 } },
    ],
  ),
  "what was wrong with a title goes with the titles, also from another company's rows": {
    ...story(
      ["queue"],
      [
        { ...plainRun, troubles: { wrongTypes: 0.4 } },
        { do: "configure", settings: { ...firstSettings(["queue"]), titles: "exclude" } },
        { do: "neighbour", change: undefined, full: false, reset: undefined, death: undefined },
      ],
    ),
    neighbour: true,
  },
};

/** A story of a small service under a configuration that turns all of its streams on. */
export function story(streams: readonly string[], steps: readonly Step[], settings: Partial<Settings> = {}): Story {
  const configured: Step = { do: "configure", settings: { ...firstSettings(streams), ...settings } };
  return {
    seed: 1,
    database: "duckdb",
    facts: {
      seed: 1,
      sizes: { orders: 5, notes: 5, parts: 5, events: 5, queue: 5 },
      paging: "keyset",
      pageRows: 3,
      totals: true,
    },
    streams,
    readers: "direct",
    archived: false,
    hiding: false,
    neighbour: false,
    steps: [configured, ...steps],
  };
}
