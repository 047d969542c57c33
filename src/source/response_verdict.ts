import { type ApiFailure, passingAdvice } from "../errors.ts";
import type { ReadPage } from "../rows/page_reader.ts";
import { BodyError, decompress, inUtf8, parseJson } from "./body.ts";
import { type Complaint, cursorFault, type Envelope, readComplaint, readEnvelope } from "./envelope.ts";
import { failureBeside, inWords } from "./evidence.ts";
import type { WireAnswer } from "./exchange.ts";
import { httpDate, retryAfterMs } from "./retry.ts";

/** What one answer means: data, or a failure; `body` is decompressed. `what` says what came; nothing of the body but the service's own message. */
export type Verdict =
  | { readonly kind: "data"; readonly envelope: Envelope; readonly body: Buffer }
  | ({ readonly kind: "limited" } & Fault)
  | ({ readonly kind: "again" } & Fault)
  | ({ readonly kind: "refused"; readonly body?: Buffer } & Fault);

type Failed = Exclude<Verdict, { kind: "data" }>;

/** The facts of a failed request. `retryAfter` in ms, where the service named a wait. */
export interface Fault {
  readonly failure: Exclude<ApiFailure, "another_company">;
  readonly what: string;
  readonly complaint?: Complaint | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
  /** What to do where nothing was accepted yet: then no further attempt mends it. `true`: the address is not the service's. */
  readonly lasting?: string | true;
}

/** The answer with its body decompressed; as it is where that can't be done, which `judge` tells. Throws BodyTooLargeError. */
export function unpacked(answer: WireAnswer, maxBytes: number): WireAnswer {
  const { "content-encoding": encoding, ...headers } = answer.headers;
  try {
    return { ...answer, headers, body: decompress(answer.body, text(encoding), maxBytes) };
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return answer;
  }
}

/** Reads an answer. `again`: another attempt may help. Throws BodyTooLargeError. `paged`: a 2xx without a pagination block is `again`. `at`: when it was given. */
export function judge(answer: WireAnswer, paged: boolean, maxBytes: number, at: Date, read?: ReadPage): Verdict {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return redirected(answer);
  try {
    const plain = decompress(answer.body, text(headers["content-encoding"]), maxBytes);
    const body = inUtf8(plain, text(headers["content-type"]));
    if (status < 300)
      return succeeded(read === undefined ? parseJson(body) : read(body, parseJson), body, status, paged);
    const retryAfter = retryAfterMs(text(headers["retry-after"]), httpDate(text(headers["date"])) ?? at);
    const verdict = failed(status, readComplaint(tryJson(body)), retryAfter);
    if (isPage(answer)) return { ...verdict, ...page(status) };
    return verdict.kind === "refused" ? { ...verdict, body } : verdict;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const type = text(headers["content-type"]) ?? "no content type";
    return {
      kind: "again",
      failure: "unavailable",
      what: `status ${status} and ${error.message} (${type.slice(0, 60)})`,
      ...(isPage(answer) ? page(status) : {}),
    };
  }
}

/** A web page, which the service never sends; one with 408, 429 or 5xx is its gateway's, which says that it is not well. */
const isPage = ({ status, headers }: WireAnswer): boolean =>
  status < 500 && status !== 408 && status !== 429 && /html/i.test(text(headers["content-type"]) ?? "");

const page = (status: number) => ({ what: `status ${status} and a web page (HTML)`, lasting: true as const });

function succeeded(json: unknown, body: Buffer, status: number, paged: boolean): Verdict {
  const beside = failureBeside(json, status);
  if (beside !== undefined) return { kind: "again", failure: "malformed", ...beside };
  const envelope = readEnvelope(json, paged);
  if (envelope === undefined) return { kind: "again", failure: "malformed", what: `status ${status} without "data"` };
  if (paged && envelope.pagination === undefined) {
    const what = `status ${status} without a readable "pagination" block, on a listing that has pages`;
    return { kind: "again", failure: "malformed", what };
  }
  const cursor = envelope.pagination?.nextCursor;
  const fault = cursor === undefined ? undefined : cursorFault(cursor);
  if (fault !== undefined) return { kind: "again", failure: "malformed", what: `status ${status} and ${fault}` };
  return { kind: "data", envelope, body };
}

/**
 * A refusal is the service's own word, with its error envelope, and asks for no second attempt. Everything else between the
 * service and us says nothing about its rows: rows are deleted on a 404, and streams are left out on a 403.
 */
function failed(status: number, complaint: Complaint | undefined, retryAfter: number | undefined): Failed {
  const what = `status ${status}${inWords(complaint)}`;
  const fault = { what, complaint, retryAfter };
  if (status === 429) return { kind: "limited", failure: "limited", ...fault };
  if (status === 401) return { kind: "refused", failure: "unauthorized", ...fault };
  if (status >= 500 || passingAdvice.has(status)) return { kind: "again", failure: "unavailable", ...fault };
  if (complaint === undefined)
    return { kind: "again", failure: "unavailable", what: `${what} without the service's error envelope`, retryAfter };
  if (retryAfter !== undefined) return { kind: "again", failure: "unavailable", ...fault };
  if (status === 403) return { kind: "refused", failure: "forbidden", ...fault };
  if (status === 404) return { kind: "refused", failure: "not_found", ...fault };
  return { kind: "refused", failure: "invalid", ...fault };
}

function redirected({ status, headers }: WireAnswer): Verdict {
  const location = text(headers["location"]) ?? "";
  const target = URL.canParse(location) ? `to ${new URL(location).origin}` : "inside the same origin or to nowhere";
  return { kind: "refused", failure: "redirected", what: `status ${status}, a redirect ${target}` };
}

function tryJson(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}
