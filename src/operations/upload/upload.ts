import { basename } from "node:path";
import type { UploadFlow } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Company, Config } from "../../config/config.ts";
import { ApiError, type ExitCode, meetsOthers, TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
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
import { recordedFacts } from "../../warehouse/state/facts.ts";
import { openUploadLedger, type UploadLedger, type UploadRecord } from "../../warehouse/state/uploads.ts";
import { contentOf, type Inputs, mediaTypeOf, requireSendable } from "./inputs.ts";
import { documentsNamed } from "./lookup.ts";
import { uploadMessages } from "./messages.ts";

export interface UploadOrder
  extends Inputs,
    Pick<RunOrder, "catalogue" | "models" | "relations" | "identity" | "version"> {
  readonly config: Config;
  readonly company: Company;
  readonly flow: UploadFlow;
  readonly files: readonly string[];
  /** Sends a content once more that was sent before. */
  readonly again: boolean;
  readonly lockWaitMs: number;
}

/** A step of a file that was just made, and is written down. */
export interface UploadEvent {
  readonly file: string;
  readonly step: "sending" | "sent" | "finalizing" | "answered" | "done";
}

export interface UploadTools extends Pick<RunTools, "clock" | "random" | "log" | "signal" | "redact" | "waits"> {
  readonly tell: (event: UploadEvent) => void;
  /** Is called for each repair that opening the warehouse made. */
  readonly warn: (warning: Message) => void;
  /** Is called for each file once its outcome is known. */
  readonly through?: ((file: UploadedFile) => Promise<void>) | undefined;
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
  /** Of the error. */
  readonly code: string | null;
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
};

/** The lock group of the ledger of what was sent. */
export const UPLOADS = "uploads";

/**
 * Sends files, each at the step at which an earlier call was ended. The warehouse's ledger is written before and after what cannot be
 * taken back; its lock is held meanwhile. @throws ConfigError for files that cannot be sent, before anything is; StoppedError,
 * LockedError, DestinationError; nothing that was sent is lost
 */
export async function uploadFiles(order: UploadOrder, tools: UploadTools): Promise<readonly UploadedFile[]> {
  const { config, company, version, identity, files, lockWaitMs } = order;
  const { clock, random, log, signal } = tools;
  await requireSendable(files, order);
  const startedAt = new Date(clock.now()).toISOString();
  const patience: Clock = { now: () => clock.now(), sleep: (ms, until) => clock.sleep(ms, until ?? signal) };
  const opener = {
    runId: newRunId(startedAt, random),
    holder: holderOf("tributary upload", startedAt),
    clock: patience,
    waiting: (who: string) => tools.waits?.(`Waiting for ${who}.`),
  };
  const serviceTools = { clock, random, log, signal, version, maxRequests: undefined };
  const clients = createSharedClients(config.api, clock);
  const service = await openService(company, config.api, identity, serviceTools, clients);
  try {
    if (service.failure !== undefined) throw service.failure;
    return await inState(config.destination, opener, lockWaitMs, async destination => {
      // Against others that send the same; runs of streams go on beside it, where the database has room for both.
      await destination.lock(company.name, [UPLOADS], lockWaitMs);
      await holdToWarehouse(
        [service],
        { schema: destination.schema, facts: await recordedFacts(destination) },
        version,
      );
      const ledger = await openUploadLedger(destination, [company]);
      for (const warning of [...destination.warnings, ...ledger.warnings]) tools.warn(warning);
      const uploads = new Uploads(order, tools, ledger, service.api);
      try {
        return await uploads.takeAll(files);
      } finally {
        await destination.releaseToReaders();
      }
    });
  } finally {
    await service.api.close();
  }
}

class Uploads {
  readonly #order: UploadOrder;
  readonly #tools: UploadTools;
  readonly #ledger: UploadLedger;
  readonly #api: Api;
  /** By content: what is sent twice in one call is sent once. */
  readonly #taken = new Map<string, Promise<UploadedFile>>();
  /** Since when the oldest of those is on its way that may have become documents. */
  #unknownSince: string | undefined;
  /** What every further request would meet, too. */
  #barrier: ApiError | undefined;

  constructor(order: UploadOrder, tools: UploadTools, ledger: UploadLedger, api: Api) {
    this.#order = order;
    this.#tools = tools;
    this.#ledger = ledger;
    this.#api = api;
  }

  async takeAll(files: readonly string[]): Promise<readonly UploadedFile[]> {
    const once = async function* () {
      yield* new Set(files);
    };
    const done = new Map<string, UploadedFile>();
    const through = this.#tools.through ?? (async () => undefined);
    for await (const each of inParallel(once(), AT_ONCE, file => this.#take(file))) {
      done.set(each.file, each);
      if (each.outcome !== "unknown") await through(each);
    }
    const all = await this.#withFound(files.map(file => done.get(file)!));
    for (const each of all) if (each.outcome === "unknown") await through(each);
    return all;
  }

  async #take(file: string): Promise<UploadedFile> {
    this.#tools.signal.throwIfAborted();
    const content = await contentOf(file).catch(codeOf);
    if (typeof content !== "object") {
      const error = new TributaryError(uploadMessages.reading_failed({ file, reason: content }), 1);
      return outcomeOf({ path: file, sha256: "", bytes: 0 }, "failed", error);
    }
    const asTwin = (first: UploadedFile): UploadedFile =>
      first.outcome === "uploaded" ? { ...first, file, outcome: "present" } : { ...first, file };
    const own = this.#taken.get(content.sha256)?.then(asTwin) ?? this.#send(content);
    this.#taken.set(content.sha256, own);
    return own;
  }

  /** Those that are unknown with what may have become of them: a name and a time prove nothing, so that they stay unknown. */
  async #withFound(all: readonly UploadedFile[]): Promise<readonly UploadedFile[]> {
    const names = all.filter(({ outcome }) => outcome === "unknown").map(({ file }) => basename(file));
    if (this.#unknownSince === undefined) return all;
    const within = { since: this.#unknownSince, signal: this.#tools.signal };
    const found = await documentsNamed(this.#api, this.#order.flow, names, within);
    const ids = [...found.values()].flatMap(each => [...each]);
    const known = await this.#ledger.documents(this.#order.company.name, ids);
    return all.map(each => {
      const own = [...(found.get(basename(each.file)) ?? [])].filter(id => !known.has(id));
      if (each.outcome !== "unknown" || own.length === 0) return each;
      return { ...each, found: own, error: `${each.error} ${uploadMessages.candidates({ found: own }).message}` };
    });
  }

  async #send(content: Content): Promise<UploadedFile> {
    const { again } = this.#order;
    const { path, sha256, bytes } = content;
    const company = this.#order.company.name;
    const last = await this.#ledger.last(company, sha256);
    const isOver = last !== undefined && ["finalizing", "finalized"].includes(last.state);
    if (isOver && !again) {
      const { doc_id, error, started_at, changed_at } = last;
      if (doc_id != null) return { ...outcomeOf(content, "present"), doc_id, sent_at: started_at };
      return this.#unknown(content, changed_at, error ?? "it was ended before an answer came.");
    }
    const now = new Date(this.#tools.clock.now()).toISOString();
    const fresh = {
      ...{ company, sha256, nth: (last?.nth ?? 0) + 1, bytes, file_name: basename(path), key: null, doc_id: null },
      ...{ content_type: mediaTypeOf(path, this.#order) ?? "", state: "begun", started_at: now, changed_at: now },
    };
    const record = last === undefined || isOver ? fresh : last;
    try {
      if (this.#barrier !== undefined) throw this.#barrier;
      return await this.#finalize(content, record.state === "sent" ? record : await this.#sendBytes(content, record));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (meetsOthers(error)) this.#barrier = error;
      return outcomeOf(content, isForLater(error) ? "stopped" : "failed", error);
    }
  }

  #unknown(content: Content, since: string, reason: string): UploadedFile {
    if (this.#unknownSince === undefined || since < this.#unknownSince) this.#unknownSince = since;
    const { code, message } = uploadMessages.outcome_unknown({ file: content.path, reason });
    return { ...outcomeOf(content, "unknown"), code, error: this.#tools.redact(message), exit_code: 5 };
  }

  /** Asks for an address and sends the bytes there; an address is a secret, is kept nowhere, and asked anew after a kill. */
  async #sendBytes(content: Content, before: UploadRecord): Promise<UploadRecord> {
    const { signal, clock, random } = this.#tools;
    const { flow, config, company } = this.#order;
    const { file_name, content_type } = before;
    const isPlainAllowed = new URL(company.baseUrl).protocol === "http:";
    const how = { isPlainAllowed, timeoutMs: config.api.timeoutMs, signal };
    for (let nth = 1; ; nth++) {
      const { data } = await this.#api.post!(flow.initiate, { file_name, content_type }, { signal, advice: ADVICE });
      const address = textIn(data, "upload_url", flow.initiate);
      const key = textIn(data, "key", flow.initiate);
      const record = await this.#note(content, { ...before, key, state: "begun", error: null }, "sending");
      let outcome = await putFile(address, content, content_type, how);
      for (let failures = 1; outcome.kind === "again" && failures < maxAttempts; failures++) {
        await clock.sleep(backoff(failures, random), signal);
        outcome = await putFile(address, content, content_type, how);
      }
      if (outcome.kind === "stored") return this.#note(content, { ...record, state: "sent" }, "sent");
      if (outcome.kind === "expired" && nth < MOST_ADDRESSES) continue;
      const error = putError(content.path, outcome);
      await this.#note(content, { ...record, state: "failed", error: error.message });
      throw error;
    }
  }

  /** Once for a key. What was begun is seen through: a signal ends the call before it, or after. */
  async #finalize(content: Content, before: UploadRecord): Promise<UploadedFile> {
    this.#tools.signal.throwIfAborted();
    const { finalize } = this.#order.flow;
    const asked = { key: before.key, original_filename: before.file_name };
    const record = await this.#note(content, { ...before, state: "finalizing", error: null }, "finalizing");
    let doc_id: string;
    try {
      const { data } = await this.#api.post!(finalize, asked, { once: true, advice: ADVICE });
      doc_id = textIn(data, "doc_id", finalize);
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      const error = this.#tools.redact(failure.message);
      const isUnknown = failure.failure === "unconfirmed" || failure.failure === "malformed";
      // Where it was refused for now, or never sent, its key is still good.
      const state = isUnknown ? "finalizing" : isForLater(failure) ? "sent" : "failed";
      const { changed_at } = await this.#note(content, { ...record, state, error });
      if (isUnknown) return this.#unknown(content, changed_at, error);
      throw failure;
    }
    this.#tools.tell({ file: content.path, step: "answered" });
    await this.#note(content, { ...record, state: "finalized", doc_id }, "done");
    return { ...outcomeOf(content, "uploaded"), doc_id, sent_at: record.started_at };
  }

  async #note({ path }: Content, record: UploadRecord, step?: UploadEvent["step"]): Promise<UploadRecord> {
    const now = new Date(this.#tools.clock.now()).toISOString();
    // Never back in time, whatever the clock does: journal and table are compared by it.
    const written = { ...record, changed_at: [now, String(record.changed_at)].toSorted().at(-1)! };
    await this.#ledger.write(written);
    if (step !== undefined) this.#tools.tell({ file: path, step });
    return written;
  }
}

/** Whether it says nothing about the file: the same call goes on later. */
const isForLater = (error: ApiError): boolean => meetsOthers(error) || error.failure === "unavailable";

function putError(file: string, { kind, status, what }: PutOutcome): ApiError {
  const failure = kind === "again" ? "unavailable" : status === 413 ? "too_large" : "invalid";
  const addresses = kind === "expired" ? MOST_ADDRESSES : undefined;
  return new ApiError(uploadMessages.not_taken({ file, got: what, addresses, failure }), {
    failure,
    path: "upload_url",
  });
}

const outcomeOf = (
  { path, sha256, bytes }: Content,
  outcome: UploadedFile["outcome"],
  error?: TributaryError,
): UploadedFile => ({
  ...{ file: path, sha256, bytes, doc_id: null, sent_at: null, outcome, found: [] },
  ...{ error: error?.message ?? null, code: error?.code ?? null, exit_code: error?.exitCode ?? 0 },
});

function textIn(data: unknown, field: string, path: string): string {
  const value = isObject(data) ? data[field] : undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new ApiError(uploadMessages.field_missing({ field, path }), { failure: "malformed", path });
}
