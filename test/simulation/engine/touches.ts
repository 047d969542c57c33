import childProcess from "node:child_process";
import { writeSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { Pool } from "undici";
import type { Death, Place } from "./deaths.ts";
import type { Strike } from "./job.ts";

/*
 * Every call of this process that touches the disk, the network or the database is counted, and the process can be told to
 * die at one of them. Imported before the engine, so that the engine calls what is put in here.
 */

type Call = (...args: unknown[]) => unknown;

/** What a run is told before it begins, and what it did. */
export interface Touching {
  death: Death | undefined;
  counts: Record<Place, number>;
  /** Called at each request. */
  onRequest: () => void;
  /** Ends the session's backend or the server, or takes the files away, and resolves when that is done. */
  strike: (of: Strike["strike"], backend: number | undefined) => Promise<void>;
}

function none(): Record<Place, number> {
  return { fs: 0, duckdb: 0, pg: 0, http: 0, copy: 0, rename: 0, write: 0, commit: 0 };
}

export const touching: Touching = {
  death: undefined,
  counts: none(),
  onRequest: () => undefined,
  strike: async () => undefined,
};

export function beginCounting(death: Death | undefined): void {
  touching.death = death;
  touching.counts = none();
}

/** Where death notices go: the parent reads them after the end. */
const NOTICES = 3;

function die(name: string): void {
  writeSync(NOTICES, `${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** Counts a call; answers what is to happen at it. */
function arrive(place: Place): Death | undefined {
  const nth = ++touching.counts[place];
  const { death } = touching;
  return death !== undefined && death.at === place && death.nth === nth ? death : undefined;
}

/** The few touches by which something becomes true are counted among themselves too. */
function finer(name: string): Place | undefined {
  if (name === "fs.rename") return "rename";
  if (name === "handle.writeFile") return "write";
  return / commit$/.test(name) ? "commit" : undefined;
}

function touched(place: Place, name: string, call: () => unknown, backend?: number): unknown {
  const own = finer(name);
  const death = arrive(place) ?? (own === undefined ? undefined : arrive(own));
  if (death === undefined) return call();
  if (death.of !== "process") {
    const struck = touching.strike(death.of, backend);
    writeSync(NOTICES, `${name} ${death.of}\n`);
    if (death.when === "during") {
      const result = call();
      return Promise.all([Promise.resolve(result).catch(error => error), struck]).then(() => result);
    }
    return struck.then(call);
  }
  if (death.when === "before") die(`${name} before`);
  const result = call();
  if (death.when === "during" && death.afterMs !== undefined) setTimeout(die, death.afterMs, `${name} during`);
  else if (death.when === "during") setImmediate(die, `${name} during`);
  else
    Promise.resolve(result).then(
      () => die(`${name} after`),
      () => die(`${name} after its failure`),
    );
  return result;
}

function wrap(owner: object, name: string, place: Place, nameOf: (args: unknown[]) => string): void {
  const methods = owner as Record<string, Call>;
  const original = methods[name]!;
  methods[name] = function wrapped(this: unknown, ...args: unknown[]): unknown {
    return touched(place, nameOf(args), () => original.apply(this, args));
  };
}

const PROMISES = [
  "open",
  "writeFile",
  "rename",
  "mkdir",
  "rm",
  "rmdir",
  "unlink",
  "symlink",
  "link",
  "chmod",
  "readdir",
];
for (const name of PROMISES) wrap(fs, name, "fs", () => `fs.${name}`);
const handle = await fs.open("/dev/null", "r");
for (const name of ["write", "writeFile", "sync", "datasync", "close"])
  wrap(Object.getPrototypeOf(handle) as object, name, "fs", () => `handle.${name}`);
await handle.close();

const execFile = childProcess.execFile;
const custom = Symbol.for("nodejs.util.promisify.custom");
const promised = (execFile as unknown as Record<symbol, Call>)[custom]!;
/** Booting Node for each copy costs a scenario a tenth of its time: nine of ten copies are made by a program that boots faster. */
const REAL_EVERY = 10;
let copies = 0;
function copyOf(...args: unknown[]): unknown {
  const [from, to, mode] = (args[1] as readonly string[]).slice(2);
  const real = ++copies % REAL_EVERY === 0 || process.platform === "win32";
  return real ? promised(...args) : promised("sh", ["-c", 'cp "$1" "$2" && chmod "$3" "$2"', "sh", from, to, mode]);
}
const copying = Object.assign((...args: Parameters<typeof execFile>) => execFile(...args), {
  [custom]: (...args: unknown[]) => touched("copy", "copy of the file", () => copyOf(...args)),
});
childProcess.execFile = copying as unknown as typeof execFile;
syncBuiltinESMExports();

const verb = (sql: unknown): string => /[a-z]+/i.exec(String(sql))?.[0]?.toLowerCase() ?? "?";
const words = (sql: unknown): string => {
  const text = String(sql).trim().toLowerCase();
  const about = /\b(?:into|from|update|table|view|schema)\s+(?:if (?:not )?exists\s+)?([\w."]+)/.exec(text)?.[1];
  return about === undefined ? verb(text) : `${verb(text)} ${about.replaceAll('"', "").replace(/_?[0-9a-f]{8,}/, "…")}`;
};
wrap(DuckDBConnection.prototype, "run", "duckdb", ([sql]) => `duckdb ${words(sql)}`);
wrap(DuckDBConnection.prototype, "stream", "duckdb", ([sql]) => `duckdb ${words(sql)}`);
wrap(DuckDBInstance, "create", "duckdb", () => "duckdb open");

const query = pg.Client.prototype.query as unknown as Call;
(pg.Client.prototype as unknown as { query: Call }).query = function queried(this: pg.Client, ...args: unknown[]) {
  const [first] = args;
  const backend = (this as unknown as { processID: number }).processID;
  if (first !== null && typeof first === "object" && "submit" in first) {
    // A COPY is a stream, not a promise: it dies before or while it lasts.
    const death = arrive("pg");
    if (death?.of === "process" && death.when === "before") die("pg copy before");
    if (death?.of === "process") setImmediate(die, "pg copy during");
    else if (death !== undefined) {
      writeSync(NOTICES, `pg copy ${death.of}\n`);
      void touching.strike(death.of, backend);
    }
    return query.apply(this, args);
  }
  const text = typeof first === "object" && first !== null ? (first as { text: string }).text : first;
  return touched("pg", `pg ${words(text)}`, () => query.apply(this, args), backend);
};

interface Handler {
  onResponseEnd(...args: unknown[]): unknown;
}
const dispatch = Pool.prototype.dispatch as unknown as (this: Pool, options: object, handler: Handler) => boolean;
(Pool.prototype as unknown as { dispatch: unknown }).dispatch = function dispatched(
  this: Pool,
  options: { path: string },
  handler: Handler,
): boolean {
  touching.onRequest();
  const death = arrive("http");
  if (death?.of === "process") {
    if (death.when === "before") die("http request before");
    if (death.when === "during") setImmediate(die, "http request sent");
    const ended = handler.onResponseEnd;
    handler.onResponseEnd = (...args) => {
      die("http answered");
      return ended.apply(handler, args);
    };
  } else if (death !== undefined) {
    writeSync(NOTICES, `http request ${death.of}\n`);
    void touching.strike(death.of, undefined).then(() => dispatch.call(this, options, handler));
    return true;
  }
  return dispatch.call(this, options, handler);
};
