import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { connect } from "./connection.ts";

/** A file, and what it was when it was looked at. */
export interface Content {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

/** What came of a PUT: stored; the address is no longer good; another try may help; or none will. `what` names no address. */
export interface PutOutcome {
  readonly kind: "stored" | "expired" | "again" | "refused";
  readonly status: number | undefined;
  readonly what: string;
}

const MOST_ANSWER = 64 * 1024;

/**
 * Sends a file to a presigned address, streamed from disk. The address is all it takes: nothing else that is secret goes there, and
 * a redirect is refused. `http:` is taken only where the service itself is spoken to so. Rejects with the signal's reason.
 */
export async function putFile(
  address: string,
  content: Content,
  contentType: string,
  { isPlainAllowed, timeoutMs, signal }: { isPlainAllowed: boolean; timeoutMs: number; signal: AbortSignal },
): Promise<PutOutcome> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !(url.protocol === "https:" || (isPlainAllowed && url.protocol === "http:")))
    return refused(`${url?.protocol ?? "no"} address to send it to; expected https`);
  const dispatcher = connect(url, 1, timeoutMs);
  const sent = createHash("sha256");
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: "PUT",
      headers: { "content-type": contentType, "content-length": String(content.bytes) },
      body: Readable.from(hashed(content.path, sent), { objectMode: false }),
      // Counts from the last bytes that were taken.
      headersTimeout: 4 * timeoutMs,
      bodyTimeout: timeoutMs,
      signal,
    });
    await answer.body.dump({ limit: MOST_ANSWER, signal });
    const outcome = judged(answer.statusCode);
    return outcome.kind === "stored" && sent.digest("hex") !== content.sha256 ? CHANGED : outcome;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH") return CHANGED;
    return { kind: "again", status: undefined, what: `no answer (${code ?? name})` };
  } finally {
    await dispatcher.destroy();
  }
}

async function* hashed(path: string, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    yield chunk;
  }
}

const refused = (what: string): PutOutcome => ({ kind: "refused", status: undefined, what });
const CHANGED = refused("other content than when it was looked at: it changed while it was being sent");

function judged(status: number): PutOutcome {
  const what = `status ${status}`;
  if (status >= 200 && status < 300) return { kind: "stored", status, what };
  if (status >= 300 && status < 400)
    return { kind: "refused", status, what: `${what}, a redirect, which is not followed` };
  if (status === 400 || status === 403) return { kind: "expired", status, what };
  if (status === 408 || status === 429 || status >= 500) return { kind: "again", status, what };
  return { kind: "refused", status, what: status === 413 ? `${what}: the file is too large` : what };
}
