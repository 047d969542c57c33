import { Draw } from "../../../simulator/random.ts";
import type { Death, Place } from "../engine/deaths.ts";
import { withFaults, withNeighbour, withUpgrade } from "../engine/faults.ts";
import { groups, type ListName, lists } from "../world/catalogue.ts";
import type { Change, Troubles, WorldFacts } from "../world/world.ts";
import {
  type Database,
  firstSettings,
  type Loss,
  type RunStep,
  type Settings,
  type Step,
  type Story,
} from "./story.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How many touches of each kind a run has about. */
const TOUCHES: Readonly<Record<Place, number>> = {
  fs: 150,
  duckdb: 220,
  pg: 240,
  http: 40,
  copy: 1,
  rename: 12,
  write: 15,
  commit: 16,
};
/** In a lake; a run makes the more of them the more streams it has. */
const LAKE_TOUCHES = { ...TOUCHES, duckdb: 250, pg: 200, commit: 35 };
/** Where a run dies in each database: those that are named twice are twice as likely. */
const placesOf: Readonly<Record<Database, [Place, ...Place[]]>> = {
  duckdb: ["fs", "duckdb", "duckdb", "rename", "write", "commit", "http", "copy"],
  postgres: ["pg", "pg", "commit", "http"],
  ducklake: ["duckdb", "duckdb", "pg", "commit", "http"],
};
/** Every so many scenarios one in which the server is killed, and in a lake one in which the files are away. */
const SERVER_EVERY = { duckdb: Number.POSITIVE_INFINITY, postgres: 50, ducklake: 10 };
const STORE_EVERY = 5;
/** A statement of a lake's takes some time: it is killed early in it or late. */
const LAKE_MS: [number, ...number[]] = [0, 2, 8, 25];
const salts: Readonly<Record<Database, number>> = { duckdb: 1, postgres: 2, ducklake: 3 };

/** The scenario that belongs to a seed. */
export function storyOf(seed: number, database: Database): Story {
  const draw = new Draw(seed * 7919 + salts[database]);
  // Their own: the rest of a story is what it was before titles could be treated, and files be lost.
  const treating = new Draw(seed * 104_729 + 11);
  const losing = new Draw(seed * 65_537 + 5);
  const often = (share: number): boolean => draw.chance(share);
  const upTo = (n: number): number => draw.between(1, n);
  const size = (): number => (often(0.15) ? draw.between(60, 120) : draw.between(3, 30));
  const streams = chosenStreams(draw);
  const facts: WorldFacts = {
    seed,
    sizes: Object.fromEntries(lists.map(name => [name, name === "orders" ? Math.min(40, size()) : size()])) as Record<
      ListName,
      number
    >,
    paging: often(0.5) ? "keyset" : "offset",
    pageRows: often(0.2) ? 100 : draw.between(3, 12),
    totals: often(0.7),
  };
  const archived = often(0.35);
  const moves = often(0.4);
  const hiding = moves || facts.paging === "offset";
  const hidden = new Set<ListName>();
  const own = lists.filter(name => streams.includes(name));
  const steps: Step[] = [];
  const runs = draw.between(2, 4);
  let settings = firstSettings(streams, seed);
  let deaths = 0;
  for (let run = 0; run < runs; run++) {
    const between = draw.below(3);
    for (let i = 0; i < between; i++) {
      const change = changeOf();
      if (change !== undefined) steps.push({ do: "change", change });
    }
    if (often(0.5)) steps.push({ do: "clock", ms: clockStep() });
    if (often(0.25)) {
      settings = { ...otherSettings(draw, settings, streams), titles: titlesOf(treating) };
      steps.push({ do: "configure", settings });
    }
    if (run > 0 && often(0.08)) {
      const names = [draw.pick(streams as [string, ...string[]])];
      steps.push({ do: "reset", names, drop: often(0.5), death: often(0.3) ? deathOf() : undefined });
    }
    if (run > 0 && losing.chance(0.1)) steps.push({ do: "lose", how: losing.pick<Loss>(["removed", "torn"]) });
    steps.push(runOf(run));
  }
  const readers = often(0.6) ? "snapshot" : "direct";
  const losable = database === "duckdb" && readers === "snapshot";
  const possible = steps.filter(step => step.do !== "lose" || losable);
  const unlucky = withFaults(possible, seed, streams, archived);
  const { neighbour, steps: all } = withNeighbour(unlucky, seed, database, streams);
  return { seed, database, facts, streams, readers, archived, hiding, neighbour, steps: withUpgrade(all, seed) };

  function clockStep(): number {
    if (often(0.3)) return draw.between(1, 40) * DAY;
    return draw.between(1, 30) * HOUR;
  }

  function changeOf(): Change | undefined {
    if (own.length === 0 || often(0.1)) return { what: "drift", list: "orders", count: 1 };
    const list = draw.pick(own as [ListName, ...ListName[]]);
    const what = draw.pick<Change["what"]>([
      "update",
      "update",
      "update",
      "insert",
      "insert",
      "delete",
      "restore",
      "move",
      "addition",
    ]);
    const count = often(0.1) ? 10 : upTo(3);
    // Rows without an address that are hidden in two scans, and rows that come to stand where they are yet to be read, are
    // what the rules on absence cannot tell from rows that are gone: see README.
    if (hiding && what === "restore") return undefined;
    if (what === "move" && !moves) return undefined;
    if (what === "move" && list === "events") return undefined;
    const hides = what === "move" || (what === "delete" && facts.paging === "offset");
    const known = list === "orders" || list === "parts" || list === "queue";
    if (hides && !known) {
      if (hidden.has(list)) return undefined;
      hidden.add(list);
    }
    return { what, list, count: what === "addition" ? upTo(5) : count };
  }

  function deathOf(): Death {
    const isLake = database === "ducklake";
    const at = draw.pick<Place>(placesOf[database]);
    const when = draw.pick<Death["when"]>(["before", "during", "after"]);
    const nth = 1 + Math.floor((isLake ? LAKE_TOUCHES : TOUCHES)[at] * (draw.next() / 4_294_967_296) ** 1.2);
    const backend = database !== "duckdb" && at !== "http" && often(0.25);
    const afterMs =
      isLake && when === "during" && (at === "duckdb" || at === "commit") ? draw.pick(LAKE_MS) : undefined;
    const ofLake = isLake && seed % STORE_EVERY === 0 ? "store" : backend ? "backend" : "process";
    const of = seed % SERVER_EVERY[database] === 0 ? "server" : ofLake;
    return { at, nth, when, of, ...(afterMs === undefined ? {} : { afterMs }) };
  }

  function runOf(nth: number): RunStep {
    const during: { at: number; change: Change }[] = [];
    if (often(0.45)) {
      const count = upTo(2);
      for (let i = 0; i < count; i++) {
        const change = changeOf();
        if (change !== undefined) during.push({ at: upTo(25), change });
      }
    }
    const dies = often(deaths === 0 ? 0.4 : 0.25);
    if (dies) deaths++;
    const replay = nth > 0 && often(archived ? 0.25 : 0.03);
    const backfill = nth > 0 && !replay && often(0.12);
    const sync = !replay && !backfill;
    const troubled = often(0.35);
    const second = often(0.04);
    const anyNames = often(0.12);
    const day = (n: number) => new Date(Date.parse("2026-03-01") - n * DAY).toISOString().slice(0, 10);
    const from = backfill && often(0.7) ? day(draw.between(5, 50)) : undefined;
    return {
      do: "run",
      command: replay ? "replay" : backfill ? "backfill" : "sync",
      rejects: replay && (!archived || often(0.3)),
      names: anyNames && settings.on.length > 0 ? [draw.pick(settings.on as [string, ...string[]])] : [],
      full: sync && often(0.2),
      allDetails: sync && often(0.08),
      confirmDeletes: sync && often(0.1),
      from,
      to: from !== undefined && often(0.4) ? day(draw.between(0, 4)) : undefined,
      restart: backfill && often(0.2),
      maxTimeMs: often(0.06) ? draw.between(2, 12) * 1000 + 321 : undefined,
      maxRequests: often(0.06) ? draw.between(2, 30) : undefined,
      during: during.sort((a, b) => a.at - b.at),
      troubles: troubled ? troublesOf(draw, second) : {},
      troublesAt: often(0.4) ? 1 : upTo(20),
      death: dies ? deathOf() : undefined,
      second: second ? upTo(12) : undefined,
      beside: undefined,
      older: undefined,
      looks: often(0.5) ? [upTo(10), draw.between(5, 40)] : [],
    };
  }
}

function chosenStreams(draw: Draw): string[] {
  const count = draw.between(1, 3);
  const chosen = new Set<string>();
  for (let i = 0; i < count; i++) for (const name of groups[draw.below(groups.length)]!) chosen.add(name);
  return [...chosen];
}

const titlesOf = (draw: Draw): Settings["titles"] =>
  draw.chance(0.4) ? draw.pick<Settings["titles"]>(["exclude", "hash", "mask"]) : "keep";

function otherSettings(draw: Draw, before: Settings, streams: readonly string[]): Settings {
  const on = draw.chance(0.4) ? streams.filter(() => draw.chance(0.7)) : streams;
  return {
    ...before,
    on: on.length === 0 ? streams : on,
    volatileTitles: draw.chance(0.2),
    start: draw.chance(0.2) ? draw.pick(["2026-01-20", "2026-02-10"]) : undefined,
    audit: draw.pick([0, 0, 0.2]),
    maxDetails: draw.chance(0.2) ? draw.between(1, 10) : undefined,
    publishEvery: draw.chance(0.4) ? "7s" : "15m",
    statuses: draw.chance(0.15),
    guarded: draw.chance(0.15),
    fewRejects: draw.chance(0.2),
    concurrency: draw.chance(0.15) ? 4 : 1,
    unknownFields: draw.chance(0.3) ? draw.pick(["column", "fail"]) : "keep",
    history: !before.history,
  };
}

function troublesOf(draw: Draw, second: boolean): Partial<Troubles> {
  const next = () => ({ next: draw.between(1, draw.chance(0.2) ? 12 : 3) });
  const all: Partial<Troubles> = {
    error500: next(),
    badGateway: next(),
    cutConnection: next(),
    truncatedBody: next(),
    hang: second ? 0 : { next: 1 },
    slowBody: 200_000,
    repeatRows: draw.between(1, 3),
    repeatCursor: { next: 1 },
    endless: draw.pick(["first", "last"] as const),
    expireCursorAfterPages: {
      pages: draw.between(1, 3),
      times: draw.between(1, 2),
      status: draw.pick([400, 410, 422]),
    },
    missingPagination: next(),
    hasMoreWithoutCursor: { next: 1 },
    emptyPage: next(),
    wrongTypes: 0.1,
    nullKeys: 0.1,
    next429: draw.between(1, 4),
    planLimit: { remaining: draw.between(1, 25) },
    bareNotFound: draw.between(1, 6),
    webPage: draw.between(1, 3),
    redirectTo: "http://127.0.0.1:9",
  };
  const rare = new Set<string>(["hang", "redirectTo"]);
  const names = Object.keys(all).filter(name => !rare.has(name) || draw.chance(0.15)) as (keyof Troubles)[];
  const count = draw.chance(0.3) ? 2 : 1;
  const chosen = Array.from({ length: count }, () => names[draw.below(names.length)]!);
  return Object.fromEntries(chosen.map(name => [name, all[name]]));
}
