import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { control } from "./control.ts";
import { type Faults, noFaults, touches } from "./faults.ts";
import type { Simulator } from "./handle.ts";
import type { PagingMode } from "./paging.ts";
import { Draw } from "./random.ts";
import { Refusal } from "./refusal.ts";
import { Requests } from "./requests.ts";
import { type Answer, type Match, type Request, routeTable } from "./routes.ts";
import { httpServer } from "./server.ts";
import { type Service, type StreamName, serviceOf } from "./service.ts";
import type { Row, Source } from "./source.ts";
import { uploadServer } from "./upload_server.ts";
import { type Vocabulary, type VocabularyName, vocabularies } from "./vocabulary/vocabulary.ts";

export type { Faults } from "./faults.ts";
export type { Simulator } from "./handle.ts";
export type { RequestEntry, RequestLog } from "./requests.ts";
export type { StreamName } from "./service.ts";
export { VOCABULARIES, type VocabularyName } from "./vocabulary/vocabulary.ts";

export interface SimulatorOptions {
  seed?: number;
  sizes?: Partial<Record<"orders" | "invoices" | "items" | "findings" | "ingested", number>>;
  /** So many lines for every order instead of 1 to 11. */
  linesPerOrder?: number;
  /** How many days the rows are spread over; 730. */
  historyDays?: number;
  /** The only API key it takes, until `renewKey`. */
  key?: string;
  host?: string;
  /** 0 takes a free one. */
  port?: number;
  now?: () => Date;
  paging?: PagingMode;
  /** How values, formats and orders look that the documents leave open; `plain`. */
  vocabulary?: VocabularyName | undefined;
  compression?: boolean;
  faults?: Partial<Faults>;
  /** Serves /_simulator/* without a key, for a simulator in another process. */
  control?: boolean;
}

const SIZES = { orders: 200, invoices: 200, items: 100, findings: 60, ingested: 400 };

/** Starts the simulated service and resolves once it listens. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { seed = 1, host = "127.0.0.1", now = () => new Date(), linesPerOrder, historyDays } = options;
  let { key = "demo-key" } = options;
  const sizes = { ...SIZES, ...options.sizes };
  const vocabulary = vocabularies[options.vocabulary ?? "plain"];
  const chosen = { seed, sizes, linesPerOrder, vocabulary, ...(historyDays === undefined ? {} : { historyDays }) };
  const service = serviceOf(chosen, now, options.paging ?? "keyset");
  const faults: Faults = { ...noFaults(), ...options.faults };
  const requests = new Requests();
  const closing = new AbortController();
  const { uploads } = service;
  const storage = uploadServer(uploads, faults, { seed, clock: now }, closing.signal);
  const find = routeTable(service.routes);
  let serving = { service, find };
  const overrides = new Map<string, Record<string, unknown>>();

  const answer = (match: Match, request: Request): Record<string, unknown> => {
    const { data, pagination } = answered(serving.service, match, request);
    const override = overrides.get(identity(match));
    if (override !== undefined && typeof data === "object" && data !== null) Object.assign(data, override);
    const meta = { company_id: vocabulary.key(serving.service.company.id), api_version: "v1" };
    return pagination === undefined ? { data, meta } : { data, pagination, meta };
  };

  const steered = {
    faults,
    requests,
    ...changes(service, now),
    patchDetail: (path: string, fields: Record<string, unknown>) => {
      const match = find(path);
      if (match === undefined) throw new Error(`expected a path the simulator serves, got '${path}'`);
      overrides.set(identity(match), { ...overrides.get(identity(match)), ...fields });
    },
    streams: Object.keys(service.sources),
    truth: truthOf(service, faults, find, answer),
    uploads: {
      get all() {
        return uploads.all;
      },
      requests: storage.requests,
    },
  };
  const server = httpServer(
    {
      key: () => key,
      seed,
      clock: now,
      compression: options.compression ?? false,
      find: path => serving.find(path),
      answer: (match, request) => ({ status: 200, body: answer(match, request) }),
      post: (path, body, active, draw) => uploads.post(path, body, active, draw),
      advance: () => uploads.advance(),
      control: (path, message, response) => options.control === true && control(steered, path, message, response),
    },
    faults,
    requests,
    closing.signal,
  );
  const port = await listening(server, options.port ?? 0, host);
  const origin = (at: number) => `http://${host.includes(":") ? `[${host}]` : host}:${at}`;
  uploads.origin = origin(await listening(storage.server, 0, host));
  const close = (): Promise<void> => {
    closing.abort();
    const ends = [server, storage.server].map(
      each =>
        new Promise<void>(resolve => {
          each.close(() => resolve());
          each.closeAllConnections();
        }),
    );
    return Promise.all(ends).then(() => undefined);
  };
  return {
    ...steered,
    url: origin(port),
    port,
    get key() {
      return key;
    },
    renewKey: (renewed, of = seed) => {
      key = renewed;
      const served = of === seed ? service : serviceOf({ ...chosen, seed: of }, now, options.paging ?? "keyset");
      serving = { service: served, find: routeTable(served.routes) };
    },
    close,
  };
}

function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function identity(match: Match): string {
  return JSON.stringify([match.route.template, match.params]);
}

/** What a route answers, asked and told in the company's vocabulary. */
function answered({ company }: Service, { route, params }: Match, request: Request): Answer {
  const { vocabulary } = company;
  const plain = {
    ...request,
    params: understoodAll(params, vocabulary),
    query: understoodAll(request.query, vocabulary),
  };
  const answer = route.answer(plain);
  const data = vocabulary.data(answer.data, route.template, answer.pagination !== undefined, company);
  return { ...answer, data };
}

function understoodAll(values: Readonly<Record<string, string>>, vocabulary: Vocabulary): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, vocabulary.understood(value)]));
}

function sourceIn(service: Service, stream: StreamName): Source {
  const source = service.sources[stream];
  if (source === undefined)
    throw new Error(`expected one of ${Object.keys(service.sources).join(", ")}, got '${stream}'`);
  return source;
}

function changes(service: Service, now: () => Date) {
  const { vocabulary } = service.company;
  const keysOf = (source: Source, numbers: readonly number[]) =>
    numbers.map(number => vocabulary.key(source.family.key(number)));
  const numberOf = (stream: StreamName, key: string): number => {
    const { family } = sourceIn(service, stream);
    const number = family.number(vocabulary.understood(key));
    if (Number.isNaN(number)) throw new Error(`expected a key of ${stream}, got '${key}'`);
    return number;
  };
  const chosen = (stream: StreamName, which: number | readonly string[]): number[] =>
    typeof which === "number"
      ? sourceIn(service, stream).collection.choose(which)
      : which.map(key => numberOf(stream, key));
  return {
    update: (stream: StreamName, which: number | readonly string[]): string[] => {
      const source = sourceIn(service, stream);
      const numbers = chosen(stream, which);
      source.collection.revise(numbers);
      return keysOf(source, numbers);
    },
    insert: (stream: StreamName, count: number): string[] => {
      const source = sourceIn(service, stream);
      const { collection, family } = source;
      return keysOf(source, collection.insert(family.ranks(count, collection), now().getTime()));
    },
    delete: (stream: StreamName, which: number | readonly string[]): string[] => {
      const source = sourceIn(service, stream);
      const numbers = chosen(stream, which);
      source.collection.remove(numbers);
      return keysOf(source, numbers);
    },
    restore: (stream: StreamName, keys: readonly string[]): void => {
      sourceIn(service, stream).collection.restore(keys.map(key => numberOf(stream, key)));
    },
    patch: (stream: StreamName, key: string, fields: Record<string, unknown>): void => {
      const { patches, collection } = sourceIn(service, stream);
      const number = numberOf(stream, key);
      patches.set(number, { ...patches.get(number), ...fields });
      collection.touch();
    },
  };
}

function truthOf(
  service: Service,
  faults: Faults,
  find: (path: string) => Match | undefined,
  answer: (match: Match, request: Request) => Record<string, unknown>,
): Simulator["truth"] {
  const plain = noFaults();
  function* rows(stream: StreamName, offset: number): Generator<Record<string, unknown>, void, undefined> {
    const source = sourceIn(service, stream);
    const { collection, listing, family } = source;
    const active = touches(faults, family.path) ? faults : plain;
    const start = offset === 0 ? Number.NEGATIVE_INFINITY : listing.rankAt(offset);
    const { vocabulary } = service.company;
    const field = vocabulary === vocabularies.plain ? "" : fieldOf(source);
    for (const entry of listing.walk(start)) {
      const row = source.row(listing === collection ? entry : (collection.get(entry.number) ?? entry), active);
      yield vocabulary.row(row, family.path, field, service.company);
    }
  }
  /** The field of the endpoint's data that holds the source's rows. */
  function fieldOf({ family }: Source): string {
    const request = { path: family.path, params: {}, query: {}, faults: plain, draw: () => 0 };
    const data = find(family.path)?.route.answer(request).data;
    const isList = (value: unknown): boolean =>
      Array.isArray(value) && (value as Row[])[0]?.[family.keyField] !== undefined;
    const [field] = Object.entries(data ?? {}).find(([, value]) => isList(value)) ?? [family.path];
    return field;
  }
  function answered(path: string): Answer | undefined {
    const url = new URL(path, "http://simulator");
    const query = Object.fromEntries(url.searchParams);
    try {
      const match = find(url.pathname);
      if (match === undefined) return undefined;
      const draw = new Draw(0);
      const request = { path: url.pathname, params: match.params, query, faults: plain, draw: () => draw.next() };
      return answer(match, request) as unknown as Answer;
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return undefined;
      throw error;
    }
  }
  return {
    rows: (stream, offset = 0) => rows(stream, offset),
    count: stream => sourceIn(service, stream).collection.count,
    answer: answered,
    get: path => answered(path)?.data,
  };
}
