import { createServer, type Server } from "node:http";
import { type Faults, noFaults, touches } from "./faults.ts";
import type { Uploads } from "./intake/uploads.ts";
import { misbehave, type Reply, send } from "./mischief.ts";
import { Draw } from "./random.ts";
import { Refusal } from "./refusal.ts";
import { bodyOf } from "./server.ts";
import { jsonBytes } from "./wire.ts";

/** One request to the host of the presigned addresses. */
export interface UploadRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: number;
}

/** The host of the presigned addresses: another origin than the service's, which is never shown a key. Not yet listening. */
export function uploadServer(
  uploads: Uploads,
  faults: Faults,
  { seed, clock }: { readonly seed: number; readonly clock: () => Date },
  closing: AbortSignal,
): { readonly server: Server; readonly requests: UploadRequest[] } {
  const draws = new Draw(seed ^ 0x2545f491);
  const draw = (): number => draws.next();
  const quiet = noFaults();
  const arrivals: number[] = [];
  const requests: UploadRequest[] = [];
  const server = createServer((message, response) => {
    const url = new URL(message.url ?? "/", "http://simulator");
    const answer = async (): Promise<void> => {
      const body = await bodyOf(message);
      const active = touches(faults, url.pathname) ? faults : quiet;
      requests.push({ method: message.method ?? "", headers: message.headers, bytes: body.length });
      const trouble = misbehave(active, { path: url.pathname, clock, arrivals, draw });
      if (trouble === "hang") return;
      const reply = trouble ?? stored(() => uploads.put(url, message.headers["content-type"], body));
      const said = reply.text ?? (reply.error === undefined ? "" : jsonBytes({ code: reply.error.code }));
      await send(response, reply.status, reply.headers ?? {}, Buffer.from(said), active, draw, closing);
    };
    answer().catch(() => response.destroy());
  });
  return { server, requests };
}

function stored(put: () => void): Reply {
  try {
    put();
    return { status: 200 };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, error };
    throw error;
  }
}
