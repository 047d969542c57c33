import { createHash } from "node:crypto";
import { type Company, PURPOSE } from "../company/company.ts";
import { type Faults, happens } from "../faults.ts";
import { hash } from "../random.ts";
import { invalid, notFound, Refusal } from "../refusal.ts";
import type { Row, Source } from "../source.ts";

/** A slot for a file, and what has become of it. */
export interface Upload {
  readonly key: string;
  readonly fileName: string;
  readonly contentType: string;
  /** Of the file that was put there last; undefined: none was. */
  readonly sha256: string | undefined;
  readonly bytes: number;
  /** A document for each time that it was finalized: nothing is promised of a second time. */
  readonly documents: readonly string[];
}

interface Slot {
  readonly key: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly signature: string;
  expired: boolean;
  sha256: string | undefined;
  bytes: number;
  readonly documents: string[];
}

interface Processing {
  readonly id: string;
  readonly number: number;
  readonly slot: Slot;
  /** UNIX milliseconds; Infinity: never. */
  readonly doneAt: number;
}

interface Lists {
  readonly documents: Source;
  readonly ingested: Source;
  readonly findings: Source;
}

/** Addresses that were asked for, files that were put there, and the documents they become after a while. */
export class Uploads {
  /** Of the addresses, once they are served. */
  origin = "";
  readonly #company: Company;
  readonly #lists: Lists;
  readonly #clock: () => Date;
  readonly #slots = new Map<string, Slot>();
  readonly #numbers = new Map<string, number>();
  #processing: Processing[] = [];

  constructor(company: Company, lists: Lists, clock: () => Date) {
    this.#company = company;
    this.#lists = lists;
    this.#clock = clock;
  }

  get all(): readonly Upload[] {
    return [...this.#slots.values()].map(({ signature: _, expired: __, ...slot }) => slot);
  }

  /** The number of the document that became of an upload. */
  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /** Answers the data of a POST; undefined: there is no such endpoint. */
  post(path: string, body: Row, faults: Faults, draw: () => number): Row | undefined {
    if (path === "/ingest/initiate")
      return this.#initiate(text(body, "file_name"), text(body, "content_type"), faults, draw);
    if (path === "/ingest/finalize")
      return this.#finalize(text(body, "key"), text(body, "original_filename"), faults, draw);
    return undefined;
  }

  /** Takes a file at `/uploads/<key>?signature=…`. @throws Refusal as a storage would: an address that is not, or no longer, good */
  put(url: URL, contentType: string | undefined, body: Buffer): void {
    const slot = this.#slots.get(decodeURIComponent(url.pathname.replace(/^\/uploads\//, "")));
    if (slot === undefined || slot.signature !== url.searchParams.get("signature"))
      throw new Refusal(403, "SIGNATURE", "The signature does not match");
    if (slot.expired) throw new Refusal(403, "EXPIRED", "The address has expired");
    if (slot.contentType !== contentType)
      throw new Refusal(403, "SIGNATURE", `Expected ${slot.contentType}, got ${contentType}`);
    slot.sha256 = createHash("sha256").update(body).digest("hex");
    slot.bytes = body.length;
  }

  /** Ends the processing that is due by the clock. */
  advance(): void {
    const now = this.#clock().getTime();
    const due = this.#processing.filter(({ doneAt }) => doneAt <= now);
    if (due.length === 0) return;
    this.#processing = this.#processing.filter(({ doneAt }) => doneAt > now);
    for (const each of due) this.#end(each);
  }

  #initiate(fileName: string, contentType: string, faults: Faults, draw: () => number): Row {
    const number = this.#slots.size + 1;
    const key = `uploads/${hash(this.#company.seed, PURPOSE.document, number).toString(16)}/${number}`;
    const signature = createHash("sha256").update(`signed ${key} ${draw()}`).digest("hex");
    const expired = happens(faults, "expireAddress", draw);
    const slot = { key, fileName, contentType, signature, expired, sha256: undefined, bytes: 0, documents: [] };
    this.#slots.set(key, slot);
    return { upload_url: `${this.origin}/uploads/${encodeURIComponent(key)}?signature=${signature}`, key };
  }

  #finalize(key: string, fileName: string, faults: Faults, draw: () => number): Row {
    const slot = this.#slots.get(key);
    if (slot === undefined) throw notFound("Upload");
    if (slot.sha256 === undefined) throw invalid("key", "Nothing was uploaded for this key");
    const { vocabulary } = this.#company;
    const { documents } = this.#lists;
    const now = this.#clock().getTime();
    const [number = 0] = documents.collection.insert(documents.family.ranks(1, documents.collection), now);
    const plain = `DOC-U${this.#numbers.size + 1}`;
    this.#numbers.set(plain, number);
    const id = vocabulary.key(plain);
    slot.documents.push(id);
    documents.patches.set(number, {
      ...{ doc_id: id, file_name: fileName, document_number: null, vendor_id: null, vendor_name: null },
      ...{ processing_status: vocabulary.key("processing"), uploaded_at: new Date(now).toISOString() },
    });
    const isEndless = happens(faults, "endlessProcessing", draw);
    const doneAt = isEndless ? Number.POSITIVE_INFINITY : now + faults.processingMs;
    this.#processing.push({ id, number, slot, doneAt });
    return { doc_id: id };
  }

  #end({ id, number, slot }: Processing): void {
    const { vocabulary } = this.#company;
    const { documents, ingested, findings } = this.#lists;
    const now = this.#clock().getTime();
    const status = vocabulary.key("processed");
    const patch = documents.patches.get(number) ?? {};
    documents.patches.set(number, { ...patch, processing_status: status });
    documents.collection.touch();
    const add = (source: Source, fields: Row) => {
      const [added = 0] = source.collection.insert(source.family.ranks(1, source.collection), now);
      source.patches.set(added, fields);
    };
    add(ingested, {
      ...{ row_type: "document", id, source: vocabulary.key("upload"), type: vocabulary.key("invoice"), status },
      ...{ title: patch["file_name"], ts: new Date(now).toISOString(), size_bytes: slot.bytes, email_class: null },
      ...{ parent_email_id: null, subject: null, sender_email: null, body_preview: null, email_direction: null },
    });
    add(findings, { doc_id: id, title: `Read of ${String(patch["file_name"])}` });
  }
}

function text(body: Row, field: string): string {
  const value = body[field];
  if (typeof value !== "string" || value === "") throw invalid(field, `${field} must be a text`);
  return value;
}
