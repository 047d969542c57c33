import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import mime from "mime";
import type { UploadFlow } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Company, Config } from "../../config/config.ts";
import { ApiError, type ExitCode, failureKinds, meetsOthers, refuse, TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import { isObject } from "../../rows/reject.ts";
import type { Api } from "../../source/api.ts";
import { type Content, type PutOutcome, putFile } from "../../source/presigned.ts";
import { backoff, maxAttempts } from "../../source/retry.ts";
import { inParallel } from "../../sync/extract/parallel.ts";
import { holdToWarehouse } from "../../sync/run/companies.ts";
import { holderOf } from "../../sync/run/opening.ts";
import { newRunId } from "../../sync/run/run.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import { createSharedClients, openService } from "../../sync/run/service.ts";
import { inState } from "../../warehouse/connect/open.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { lastUpload, type UploadRecord, uploadedDocuments, writeUpload } from "../../warehouse/state/uploads.ts";
import { documentsNamed } from "./lookup.ts";

/** What is sent, and to whom. Times in ms. */
export interface UploadOrder extends Pick<RunOrder, "catalogue" | "models" | "relations" | "identity" | "version"> {
  readonly config: Config;
  readonly company: Company;
  readonly flow: UploadFlow;
  /** Paths. */
  readonly files: readonly string[];
  /** Undefined: by the ending of each file's name. */
  readonly contentType: string | undefined;
  /** Sends a content once more that was sent before. */
  readonly again: boolean;
  /** How long another run's lock is waited for. */
  readonly lockWaitMs: number;
}

/** A step of a file that was just made, and is written down. */
export interface UploadEvent {
  readonly file: string;
  readonly step: "sending" | "sent" | "finalizing" | "answered" | "done";
}

export interface UploadTools extends Pick<RunTools, "clock" | "random" | "log" | "signal" | "redact" | "waits"> {
  readonly tell: (event: UploadEvent) => void;
}

/** What became of a file. */
export interface UploadedFile {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly doc_id: string | null;
  /** When the sending began that made the document, ISO 8601. */
  readonly sent_at: string | null;
  /** `present`: its content was sent before; `unknown`: the service may have made a document of it; `stopped`: for a reason that is not the file's. */
  readonly outcome: "uploaded" | "present" | "unknown" | "failed" | "stopped";
  readonly error: string | null;
  /** Of `unknown` ones: documents with its name that came since, and that no upload is known to have become. */
  readonly found: readonly string[];
  readonly exit_code: ExitCode;
}

/** Uploads side by side: the service's limiter bounds requests to it, this the PUTs to where the addresses lead. */
const AT_ONCE = 4;
/** Addresses that are asked for, should the first be refused as expired. */
const MOST_ADDRESSES = 3;

const ADVICE = {
  forbidden: "This key may not upload: use one that may.",
  invalid: "The service takes no such file: check its name, and give its media type with --content-type.",
  too_large: "Look at the service's limits.",
};

/** What is wrong with a file that is to be sent, in a sentence; undefined: nothing. */
export async function inputFault(file: string, contentType: string | undefined): Promise<string | undefined> {
  try {
    const entry = await stat(file);
    if (entry.isDirectory())
      return `${file}: expected a file, got a directory: name its files, or watch it with --watch.`;
    if (!entry.isFile()) return `${file}: expected a regular file, got a device, a pipe or a socket.`;
    if (entry.size === 0) return `${file}: expected a file with content, got an empty one.`;
    await access(file, constants.R_OK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return `${file}: expected a file, got nothing of that name: check the path.`;
    return `${file}: expected a file that can be read, got ${code}: check its rights.`;
  }
  if (contentType !== undefined || mime.getType(file) !== null) return undefined;
  return `${file}: expected a name whose ending tells the media type, got none that is known: give --content-type.`;
}

/**
 * Sends files, each at the step at which an earlier call was ended. The warehouse's ledger is written before and after what cannot be
 * taken back; its lock is held meanwhile. @throws ConfigError for files that cannot be sent, before anything is; StoppedError,
 * LockedError, DestinationError; nothing that was sent is lost
 */
export async function uploadFiles(order: UploadOrder, tools: UploadTools): Promise<readonly UploadedFile[]> {
  const { config, company, version, identity, files, contentType, lockWaitMs } = order;
  const { clock, random, log, signal } = tools;
  const faults = await Promise.all(files.map(file => inputFault(file, contentType)));
  refuse(faults.flatMap(fault => fault ?? []));
  const startedAt = new Date(clock.now()).toISOString();
  const patience: Clock = { now: () => clock.now(), sleep: (ms, until) => clock.sleep(ms, until ?? signal) };
  const opener = {
    runId: newRunId(startedAt, random),
    holder: holderOf("tributary upload", startedAt),
    clock: patience,
    waiting: (who: string) => tools.waits?.(`Waiting for ${who}.`),
  };
  return inState(config.destination, opener, lockWaitMs, async destination => {
    // Against others that send the same; runs of streams go on beside it, where the database has room for both.
    await destination.lock(company.name, ["uploads"], lockWaitMs);
    const clients = createSharedClients(config.api, clock);
    try {
      const serviceTools = { clock, random, log, signal, version, maxRequests: undefined };
      const opened = await openService(company, config.api, identity, serviceTools, clients);
      const [service] = await holdToWarehouse([opened], destination, version);
      if (service!.failure !== undefined) throw service!.failure;
      const uploads = new Uploads(order, tools, destination, service!.api);
      const done = new Map<string, UploadedFile>();
      for await (const each of inParallel(eachOnce(files), AT_ONCE, file => uploads.take(file)))
        done.set(each.file, each);
      return await uploads.withFound(files.map(file => done.get(file)!));
    } finally {
      for (const api of clients.apis) await api.close();
      await destination.releaseToReaders();
    }
  });
}

async function* eachOnce<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* new Set(items);
}

class Uploads {
  readonly #order: UploadOrder;
  readonly #tools: UploadTools;
  readonly #destination: Destination;
  readonly #api: Api;
  /** By content: what is sent twice in one call is sent once. */
  readonly #taken = new Map<string, Promise<UploadedFile>>();
  /** Since when the oldest of those is on its way that may have become documents. */
  #unknownSince: string | undefined;
  /** What every further request would meet, too. */
  #barrier: ApiError | undefined;

  constructor(order: UploadOrder, tools: UploadTools, destination: Destination, api: Api) {
    this.#order = order;
    this.#tools = tools;
    this.#destination = destination;
    this.#api = api;
  }

  async take(file: string): Promise<UploadedFile> {
    this.#tools.signal.throwIfAborted();
    const content = await contentOf(file).catch(codeOf);
    if (typeof content !== "object") {
      const error = new TributaryError(`${file}: expected a file that can be read, got ${content}.`, 1);
      return outcomeOf({ path: file, sha256: "", bytes: 0 }, "failed", error);
    }
    const twin = this.#taken.get(content.sha256);
    const own = twin === undefined ? this.#send(content) : twin.then(first => ({ ...first, file, ...asTwin(first) }));
    this.#taken.set(content.sha256, own);
    return own;
  }

  /** Those that are unknown with what may have become of them: a name and a time prove nothing, so that they stay unknown. */
  async withFound(all: readonly UploadedFile[]): Promise<readonly UploadedFile[]> {
    const names = all.filter(({ outcome }) => outcome === "unknown").map(({ file }) => basename(file));
    if (names.length === 0 || this.#unknownSince === undefined) return all;
    const { company, flow } = this.#order;
    const within = { since: this.#unknownSince, signal: this.#tools.signal };
    const found = await documentsNamed(this.#api, flow, names, within);
    const ids = [...found.values()].flatMap(each => [...each]);
    const known = await uploadedDocuments(this.#destination.db, company.name, ids);
    const foundFor = (file: string) => [...(found.get(basename(file)) ?? [])].filter(id => !known.has(id));
    return all.map(each => (each.outcome === "unknown" ? { ...each, found: foundFor(each.file) } : each));
  }

  async #send(content: Content): Promise<UploadedFile> {
    const { company, again, contentType } = this.#order;
    const last = await lastUpload(this.#destination.db, company.name, content.sha256);
    const isOver = last !== undefined && ["finalizing", "finalized", "processed"].includes(last.state);
    if (isOver && !again) return this.#asBefore(content, last);
    const now = this.#now();
    const fresh = {
      ...{ company: company.name, sha256: content.sha256, nth: (last?.nth ?? 0) + 1, bytes: content.bytes },
      ...{ file_name: basename(content.path), content_type: contentType ?? mime.getType(content.path) ?? "" },
      ...{ key: null, doc_id: null, state: "begun", error: null, started_at: now, changed_at: now },
    };
    const record = last === undefined || isOver ? fresh : { ...fresh, ...last };
    try {
      if (this.#barrier !== undefined) throw this.#barrier;
      const sent = record.state === "sent" ? record : await this.#sendBytes(content, record);
      return await this.#finalize(content, sent);
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof PutError)) throw error;
      if (error instanceof ApiError && meetsOthers(error)) this.#barrier = error;
      const mayPass =
        error instanceof PutError ? error.mayPass : error === this.#barrier || error.failure === "unavailable";
      return outcomeOf(content, mayPass ? "stopped" : "failed", error);
    }
  }

  #asBefore(content: Content, { doc_id, error, started_at, changed_at }: UploadRecord): UploadedFile {
    if (doc_id != null) return { ...outcomeOf(content, "present"), doc_id, sent_at: started_at };
    return this.#unknown(content, changed_at, error ?? "it was ended before the answer came");
  }

  #unknown(content: Content, since: string, why: string): UploadedFile {
    if (this.#unknownSince === undefined || since < this.#unknownSince) this.#unknownSince = since;
    const told = `${content.path}: expected the service to name the document, but whether it made one is not known: ${why} It is not sent again by itself. Look whether the service has it; --again sends it once more.`;
    return { ...outcomeOf(content, "unknown"), error: this.#tools.redact(told), exit_code: 5 };
  }

  /** Asks for an address and sends the bytes there; an address is a secret, is kept nowhere, and asked anew after a kill. */
  async #sendBytes(content: Content, before: UploadRecord): Promise<UploadRecord> {
    const { signal } = this.#tools;
    const { file_name, content_type } = before;
    const asked = { signal, advice: ADVICE };
    for (let nth = 1; ; nth++) {
      const { initiate } = this.#order.flow;
      const { data } = await this.#api.post!(initiate, { file_name, content_type }, asked);
      const address = textIn(data, "upload_url", initiate);
      const record = await this.#write({ ...before, key: textIn(data, "key", initiate), state: "begun", error: null });
      this.#tell(content, "sending");
      const outcome = await this.#put(address, content, content_type);
      if (outcome.kind === "stored") {
        const sent = await this.#write({ ...record, state: "sent" });
        this.#tell(content, "sent");
        return sent;
      }
      if (outcome.kind === "expired" && nth < MOST_ADDRESSES) continue;
      const error = new PutError(content.path, outcome);
      await this.#write({ ...record, state: "failed", error: error.message });
      throw error;
    }
  }

  async #put(address: string, content: Content, contentType: string): Promise<PutOutcome> {
    const { config, company } = this.#order;
    const { signal, clock, random } = this.#tools;
    const isPlainAllowed = new URL(company.baseUrl).protocol === "http:";
    for (let failures = 1; ; failures++) {
      const how = { isPlainAllowed, timeoutMs: config.api.timeoutMs, signal };
      const outcome = await putFile(address, content, contentType, how);
      if (outcome.kind !== "again" || failures >= maxAttempts) return outcome;
      await clock.sleep(backoff(failures, random), signal);
    }
  }

  /** Once for a key. What was begun is seen through: a signal ends the call before it, or after. */
  async #finalize(content: Content, before: UploadRecord): Promise<UploadedFile> {
    this.#tools.signal.throwIfAborted();
    const { finalize } = this.#order.flow;
    const asked = { key: before.key, original_filename: before.file_name };
    const record = await this.#write({ ...before, state: "finalizing", error: null });
    this.#tell(content, "finalizing");
    let doc_id: string;
    try {
      const { data } = await this.#api.post!(finalize, asked, { once: true, advice: ADVICE });
      doc_id = textIn(data, "doc_id", finalize);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const told = this.#tools.redact(error.message);
      if (error.failure === "unconfirmed" || error.failure === "malformed") {
        const { changed_at } = await this.#write({ ...record, error: told });
        return this.#unknown(content, changed_at, told);
      }
      // Refused for now, or never sent: its key is still good.
      const isUnused = meetsOthers(error) || error.failure === "unavailable";
      await this.#write({ ...record, state: isUnused ? "sent" : "failed", error: told });
      throw error;
    }
    this.#tell(content, "answered");
    await this.#write({ ...record, state: "finalized", doc_id });
    this.#tell(content, "done");
    return { ...outcomeOf(content, "uploaded"), doc_id, sent_at: record.started_at };
  }

  #now = (): string => new Date(this.#tools.clock.now()).toISOString();

  async #write(record: UploadRecord): Promise<UploadRecord> {
    const written = { ...record, changed_at: this.#now() };
    await writeUpload(this.#destination.db, written);
    return written;
  }

  #tell({ path }: Content, step: UploadEvent["step"]): void {
    this.#tools.tell({ file: path, step });
  }
}

/** The address did not take the file. */
class PutError extends TributaryError {
  readonly mayPass: boolean;

  constructor(file: string, { kind, status, what }: PutOutcome) {
    const advice =
      status === 413
        ? "Send less at once: divide it, or make it smaller."
        : kind === "again"
          ? "The way to it is disturbed: call it again later."
          : "Check that a proxy on the way passes PUT as it is, and this machine's clock; else ask the service's operator.";
    const times = kind === "expired" ? `, of ${MOST_ADDRESSES} addresses` : "";
    super(`${file}: expected its upload address to take it, got ${what}${times}. ${advice}`, 1);
    this.mayPass = kind === "again";
  }
}

const outcomeOf = (
  { path, sha256, bytes }: Content,
  outcome: UploadedFile["outcome"],
  error?: TributaryError,
): UploadedFile => ({
  ...{ file: path, sha256, bytes, doc_id: null, sent_at: null, outcome, found: [] },
  ...{ error: error?.message ?? null, exit_code: error?.exitCode ?? 0 },
});

const asTwin = ({ outcome }: UploadedFile) => (outcome === "uploaded" ? { outcome: "present" as const } : {});

async function contentOf(path: string): Promise<Content> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(createReadStream(path), async chunks => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { path, bytes, sha256: hash.digest("hex") };
}

function textIn(data: unknown, field: string, path: string): string {
  const value = isObject(data) ? data[field] : undefined;
  if (typeof value === "string" && value !== "") return value;
  const message = `Expected ${field} from POST ${path}, got none. ${failureKinds.malformed.advice}`;
  throw new ApiError(message, { failure: "malformed", path });
}
