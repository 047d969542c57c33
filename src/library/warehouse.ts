import type { LoadedConfig } from "../config/load.ts";
import { ConfigError, StoppedError, TributaryError } from "../errors.ts";
import { createLogger, type Log, type LogLevel } from "../logging.ts";
import type { Fields, Message } from "../message.ts";
import { createRedactor, type Redactor, redactJson } from "../secrets.ts";
import { loadFor } from "./connector.ts";
import { libraryMessages } from "./messages.ts";

/** How a warehouse is opened. */
export interface WarehouseOptions {
  /** A file, or the values that such a file holds; default: what `TRIBUTARY_CONFIG` names, else `config.yaml`. */
  readonly config?: string | Readonly<Record<string, unknown>> | undefined;
  /** What `${NAME}` in the configuration stands for; default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** For work that sends no request, such as `read`: the keys of the service may be missing. */
  readonly local?: boolean | undefined;
  /** Is given what is logged, without secrets. Default: nothing is logged. */
  readonly log?: ((entry: LogEntry) => void) | undefined;
  /** The lowest level that is logged; default: `info`. */
  readonly logLevel?: Exclude<LogLevel, "silent"> | undefined;
}

/** A line of the log; further entries say what it is about. */
export interface LogEntry {
  readonly level: Exclude<LogLevel, "silent">;
  /** ISO 8601. */
  readonly time: string;
  readonly msg: string;
  /** Code and fields of the message; lines of the levels `debug` and `trace` have none. */
  readonly code?: string;
  readonly fields?: Fields;
  readonly [field: string]: unknown;
}

/**
 * A warehouse and the service that it is kept in step with, as a configuration names them. It holds nothing open: each call takes what it
 * needs and gives it back. Several can be used side by side, in one process too.
 */
export interface Warehouse extends AsyncDisposable {
  /** Names of the companies that the configuration has. */
  readonly companies: readonly string[];
  /** Settings that are valid and have no effect, each with the reason. */
  readonly warnings: readonly Message[];
  /** Stops what was begun with it at the next safe point, and waits until that has given back everything. */
  close(): Promise<void>;
}

/** What the functions of this folder, and the commands, know of a warehouse beyond that. */
export class OpenWarehouse implements Warehouse {
  readonly companies: readonly string[];
  readonly warnings: readonly Message[];
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly redact: Redactor;
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<unknown>>();

  constructor(loaded: LoadedConfig, { log, redact }: { readonly log: Log; readonly redact: Redactor }) {
    this.loaded = loaded;
    this.log = log;
    this.redact = redact;
    this.companies = loaded.config.companies.map(({ name }) => name);
    this.warnings = loaded.warnings;
  }

  async close(): Promise<void> {
    this.#closing.abort(new StoppedError(libraryMessages.warehouse_closed(), 5));
    await Promise.allSettled(this.#work);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Work that ends when the caller's signal or `close` says so, and whose failures hold no secret. */
  async within<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController();
    const stop = () => own.abort(stopped(signal?.aborted ? signal.reason : this.#closing.signal.reason));
    const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    for (const each of signals) each.addEventListener("abort", stop);
    if (signals.some(({ aborted }) => aborted)) stop();
    const running = work(own.signal);
    this.#work.add(running);
    try {
      return await running;
    } catch (error) {
      throw this.#withoutSecrets(error);
    } finally {
      this.#work.delete(running);
      for (const each of signals) each.removeEventListener("abort", stop);
    }
  }

  #withoutSecrets(error: unknown): unknown {
    for (let at = error; at instanceof Error; at = at.cause) {
      at.message = this.redact(at.message);
      if (at.stack !== undefined) at.stack = this.redact(at.stack);
      if (at instanceof TributaryError) Object.assign(at, { fields: redactJson(at.fields, this.redact) });
    }
    return error;
  }
}

/** @throws ConfigError for what `openWarehouse` did not make */
export function opened(warehouse: Warehouse): OpenWarehouse {
  if (warehouse instanceof OpenWarehouse) return warehouse;
  throw new ConfigError(libraryMessages.not_a_warehouse());
}

/** What the engine takes for being stopped on purpose. */
const stopped = (reason: unknown): StoppedError =>
  reason instanceof StoppedError ? reason : new StoppedError(libraryMessages.stopped_by_caller(), 5);

/**
 * Reads a configuration. Nothing is created, and no connection is made, before something is done with the warehouse.
 * @throws ConfigError that names file, line, column and key of everything that is wrong
 */
export async function openWarehouse({
  config,
  env = process.env,
  local = false,
  log,
  logLevel = "info",
}: WarehouseOptions = {}): Promise<Warehouse> {
  const loaded = await loadFor(config, env, { local });
  const redact = createRedactor(loaded.secrets);
  const sink = { write: (line: string) => log?.(JSON.parse(line) as LogEntry) };
  return new OpenWarehouse(loaded, {
    redact,
    log: createLogger(log === undefined ? "silent" : logLevel, sink, redact),
  });
}
