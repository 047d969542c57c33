import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Collection, type Entry } from "../../../simulator/collection.ts";
import { type Faults, noFaults } from "../../../simulator/faults.ts";
import { type PagingMode, pageOf } from "../../../simulator/paging.ts";
import { hash } from "../../../simulator/random.ts";
import { notFound, Refusal } from "../../../simulator/refusal.ts";
import { type RequestLog, Requests } from "../../../simulator/requests.ts";
import { type Answer, type Match, type Request, type Route, routeTable } from "../../../simulator/routes.ts";
import { httpServer } from "../../../simulator/server.ts";
import { type Row, type Source, sourceOf } from "../../../simulator/source.ts";
import { type ListName, lists, REGIONS } from "./catalogue.ts";
import { nextPage, type OddCounts, oddly, oddNames } from "./odd_answers.ts";

/** Faults beside the simulator's: odd answers; a path that the key may not read: what lies below it, where it ends with a slash. */
export interface Troubles extends Faults, OddCounts {
  forbidden: string | null;
}

/** What a service is like that a scenario is run with. */
export interface WorldFacts {
  readonly seed: number;
  readonly sizes: Readonly<Record<ListName, number>>;
  readonly paging: PagingMode;
  /** Rows of a page at most. */
  readonly pageRows: number;
  /** Lists give their total. */
  readonly totals: boolean;
}

/** One thing that happens to a list; `count` rows, or fewer if there are not so many. */
export interface Change {
  readonly what: "update" | "insert" | "delete" | "restore" | "move" | "drift" | "addition";
  readonly list: ListName;
  readonly count: number;
}

/** A small service over the simulator's machinery. Its rows follow from the seed and the changes so far. */
export interface World {
  readonly url: string;
  readonly key: string;
  readonly troubles: Troubles;
  readonly requests: RequestLog;
  /** Requests since it was started. */
  readonly asked: () => number;
  /** Before each request is answered, with its number. */
  hook: ((nth: number) => void | Promise<void>) | undefined;
  /** Its own clock, ms. */
  now: number;
  change(change: Change): void;
  readonly sources: Readonly<Record<ListName, Source>>;
  /** Of each list's rows: how often it was taken away so far, and when last (by `turn`). */
  readonly removed: Readonly<Record<ListName, Map<string, number>>>;
  /** Each table and parent of which an answer was odd. */
  readonly odd: ReadonlySet<string>;
  /** How each parent's lines came in this step: by which fault, or whole. */
  readonly served: Set<string>;
  /** Counts what happens; set by whoever tells the story. */
  turn: number;
  readonly truth: { answer(path: string): Answer | undefined };
  close(): Promise<void>;
}

const DAY = 86_400_000;
export const EPOCH = Date.parse("2026-03-01T08:00:00Z");
const ids: Readonly<Record<ListName, string>> = {
  orders: "order_id",
  notes: "note_id",
  parts: "part_id",
  events: "event_id",
  queue: "queue_id",
};
/** How long the service takes for a request, by its own clock. */
const LATENCY = 200;

const isBelow = (path: string, forbidden: string | null): boolean =>
  forbidden !== null && (forbidden.endsWith("/") ? path.startsWith(forbidden) : path === forbidden);

export async function openWorld(facts: WorldFacts, companyId = "c-1"): Promise<World> {
  const { seed, sizes, paging, totals } = facts;
  const key = `sk-soak/${seed.toString(36)}+7f3a=`;
  const none = Object.fromEntries(oddNames.map(name => [name, 0])) as OddCounts;
  const quiet: Troubles = { ...noFaults(), ...none, forbidden: null };
  const odd = new Set<string>();
  const served = new Set<string>();
  const troubles: Troubles = { ...quiet };
  const requests = new Requests();
  const closing = new AbortController();
  const state = { drift: 0, additions: 0, asked: 0 };
  const gone = Object.fromEntries(lists.map(name => [name, [] as number[]])) as Record<ListName, number[]>;
  const removed = Object.fromEntries(lists.map(name => [name, new Map()])) as World["removed"];
  const sources = Object.fromEntries(lists.map((name, i) => [name, sourceNamed(name, i)])) as World["sources"];
  const find = routeTable(routes());

  function sourceNamed(name: ListName, place: number): Source {
    const letter = name[0]!.toUpperCase();
    return sourceOf(
      {
        path: `/${name}`,
        keyField: ids[name],
        key: number => `${letter}-${number}`,
        number: text => (/^[A-Z]-\d+$/.test(text) ? Number(text.slice(2)) : Number.NaN),
        row: entry => rowOf(name, entry),
        ranks: (count, collection) => Array.from({ length: count }, (_, i) => Math.min(collection.head, 0) - 1 - i),
      },
      new Collection(sizes[name], hash(seed, place)),
    );
  }

  function rowOf(name: ListName, entry: Entry): Row {
    const { number, revision: v } = entry;
    const chance = hash(seed, number, v, name.length);
    const row: Row = { [ids[name]]: `${name[0]!.toUpperCase()}-${number}`, v };
    if (name === "orders") {
      row["n_lines"] = chance % 4;
      row["vendor_id"] = chance % 9 === 0 ? null : `W-${chance % 5}`;
      row["is_open"] = chance % 3 > 0;
      row["ordered_at"] = new Date(timeOf(name, entry)).toISOString();
      row["lines"] = Array.from({ length: chance % 4 }, (_, i) => ({
        v,
        item: `i${i}`,
        qty: `${(chance >>> i) % 50}.5`,
      }));
    }
    // A few events have no time; inserted ones always do, or only a full scan would bring them.
    if (name === "events")
      row["happened_at"] =
        entry.insertedAt === undefined && number % 17 === 0 ? null : new Date(timeOf(name, entry)).toISOString();
    row["title"] = chance % 7 === 0 ? null : `t${chance % 1000}`;
    row["amount"] = chance % 2 === 0 ? `${chance % 10_000}.${chance % 100}` : chance % 10_000;
    row["age_days"] = state.drift + (number % 5);
    return row;
  }

  const timeOf = (name: ListName, { number, insertedAt }: Entry): number =>
    insertedAt ?? EPOCH - Math.round(((sizes[name] - number + 1) * 60 * DAY) / Math.max(1, sizes[name]));

  function routes(): Route[] {
    return [
      { template: "/auth/company-settings", answer: () => ({ data: { company_id: companyId, company_name: "Acme" } }) },
      ...(["orders", "notes", "parts", "events"] as const).map(name => ({
        template: `/${name}`,
        answer: (request: Request) => paged(name, request),
      })),
      {
        template: "/queue",
        answer: request => {
          const rows = [...sources.queue.collection.walk(Number.NEGATIVE_INFINITY)];
          return {
            data: {
              queue: rows.map(entry => sources.queue.row(entry, withAdditions(request.faults))),
              ...total("queue"),
            },
          };
        },
      },
      {
        template: "/orders/{order_id}",
        answer: request => ({ data: detailOf(live("orders", request.params["order_id"]!)) }),
      },
      { template: "/orders/{order_id}/moves", answer: movesOf },
      {
        template: "/parts/{part_id}",
        answer: request => ({ data: { part: live("parts", request.params["part_id"]!).number } }),
      },
      {
        template: "/vendors/{vendor_id}",
        answer: ({ params }) => ({ data: { vendor_id: params["vendor_id"], name: `Vendor ${params["vendor_id"]}` } }),
      },
      {
        template: "/rates",
        answer: ({ query }) => ({
          data: { v: state.drift, rate: `${hash(seed, state.drift, Number(query["period"])) % 90}.25` },
        }),
      },
      { template: "/prices", answer: ({ query }) => ({ data: { prices: pricesOf(query["region"] ?? "") } }) },
    ];
  }

  const total = (name: ListName) => (totals ? { total: sources[name].collection.count } : {});
  const withAdditions = (faults: Faults): Faults =>
    state.additions === 0 ? faults : { ...faults, unknownFields: Math.max(faults.unknownFields, state.additions) };

  function paged(name: ListName, request: Request): Answer {
    const asked = { ...request.query, limit: String(Math.min(facts.pageRows, Number(request.query["limit"] ?? 25))) };
    const { date_from: from, date_to: to } = request.query;
    const keep = (row: Row): boolean => {
      if (from === undefined && to === undefined) return true;
      const at = typeof row["happened_at"] === "string" ? Date.parse(row["happened_at"]) : Number.NaN;
      return (
        at >= (from === undefined ? -Infinity : Date.parse(from)) &&
        at < (to === undefined ? Infinity : Date.parse(to) + DAY)
      );
    };
    const { faults } = request;
    // The switches are counted down in place: they have to be the very object.
    faults.unknownFields = Math.max(faults.unknownFields, state.additions);
    const page = pageOf(sources[name], { ...request, query: asked }, paging, { keep });
    const data = { [name]: page.rows, ...(name === "orders" ? total(name) : {}) };
    return page.pagination === undefined ? { data } : { data, pagination: page.pagination };
  }

  function live(name: ListName, text: string): Entry {
    const entry = sources[name].collection.get(sources[name].family.number(text));
    if (entry === undefined) throw notFound(name);
    return entry;
  }

  function detailOf({ number, revision: v }: Entry): Row {
    const n = hash(seed, number, v, 99) % 4;
    const parts = Array.from({ length: n }, (_, i) => ({ v, name: `p${(v + i) % 3}` }));
    return { order_id: `O-${number}`, v, n_parts: n, note: v % 4 === 0 ? null : `n${v}`, parts };
  }

  /** The cursor holds the version, so that one answer never speaks of two. */
  function movesOf({ params, query }: Request): Answer {
    const entry = live("orders", params["order_id"]!);
    const [version, from = 0] = (query["cursor"] ?? "").split(".").filter(Boolean).map(Number);
    const v = version ?? entry.revision;
    const n = hash(seed, entry.number, v, 7) % 6;
    const size = Math.min(facts.pageRows, 3);
    const all = Array.from({ length: n }, (_, i) => ({ v, n_moves: n, place: `s${(v + i) % 4}` }));
    const more = from + size < n;
    const pagination = { next_cursor: more ? `${v}.${from + size}` : null, has_more: more, limit: size };
    return { data: { moves: all.slice(from, from + size) }, pagination };
  }

  function pricesOf(region: string): Row[] {
    if (!REGIONS.slice(0, 2).includes(region)) throw notFound("Region");
    return [0, 1, 2].map(i => ({ price_id: i, v: state.drift, amount: (hash(seed, state.drift, i) % 1000) / 4 }));
  }

  function change({ what, list, count }: Change): void {
    const { collection, family } = sources[list];
    const take = () => collection.choose(Math.min(count, collection.count));
    switch (what) {
      case "update":
        return collection.revise(take());
      case "insert":
        return void collection.insert(family.ranks(count, collection), world.now);
      case "delete": {
        // The last one stays: a list that is empty on a sudden is another story.
        const numbers = collection.choose(Math.max(0, Math.min(count, collection.count - 1)));
        for (const number of numbers) removed[list].set(family.key(number), world.turn);
        gone[list].push(...numbers);
        return collection.remove(numbers);
      }
      case "restore": {
        const numbers = gone[list].splice(-count);
        // Until now it was away, whenever it went: a run that is reading may have passed its place.
        for (const number of numbers) removed[list].set(family.key(number), world.turn);
        return collection.restore(numbers);
      }
      case "move": {
        const head = collection.head;
        return collection.move(take(), index => head - 1 - index);
      }
      case "drift":
        state.drift += count;
        return;
      case "addition":
        state.additions = Math.min(1, count / 10);
        return;
    }
  }

  const answer = (match: Match, request: Request): Record<string, unknown> => ({
    ...match.route.answer(request),
    meta: { company_id: companyId, api_version: "v1" },
  });
  const inner = httpServer(
    {
      key: () => key,
      seed,
      clock: () => new Date(world.now),
      compression: false,
      find,
      answer(match, request) {
        const note = (how: string, of: string) => {
          served.add(`${how} ${of}`);
          if (how !== "whole") odd.add(of);
        };
        return oddly(answer(match, request), match.route.template, request, world.now, note);
      },
      post: () => undefined,
      advance: () => undefined,
      control: () => false,
    },
    troubles,
    requests,
    closing.signal,
  );
  const server = createServer((message, response) => {
    state.asked += 1;
    world.now += LATENCY;
    const pass = () => {
      // Killed while the hook had its turn: nobody would tell when such a request ends.
      if (message.socket.destroyed) return;
      const { pathname } = new URL(message.url!, "http://world");
      if (isBelow(pathname, troubles.forbidden)) {
        const error = { code: "FORBIDDEN", message: "Not for this key", request_id: `r-${state.asked}` };
        response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify({ error }));
        return;
      }
      const instead = nextPage(troubles);
      if (instead === undefined) return void inner.emit("request", message, response);
      response.writeHead(instead, { "content-type": "text/html" }).end("<html><body>gateway</body></html>");
    };
    const hooked = world.hook?.(state.asked);
    if (hooked === undefined) pass();
    else hooked.then(pass, () => response.destroy());
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const world: World = {
    url: `http://127.0.0.1:${port}`,
    key,
    troubles,
    requests,
    asked: () => state.asked,
    hook: undefined,
    now: EPOCH,
    odd,
    served,
    turn: 0,
    change,
    sources,
    removed,
    truth: {
      answer(path) {
        const url = new URL(path, "http://world");
        const match = find(url.pathname);
        if (match === undefined) return undefined;
        const faults = { ...quiet };
        const query = Object.fromEntries(url.searchParams);
        try {
          return answer(match, {
            path: url.pathname,
            params: match.params,
            query,
            faults,
            draw: () => 0,
          }) as unknown as Answer;
        } catch (error) {
          if (error instanceof Refusal && error.status === 404) return undefined;
          throw error;
        }
      },
    },
    close() {
      closing.abort();
      inner.removeAllListeners();
      return new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return world;
}
