import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSimulator } from "../../simulator/simulator.ts";

/*
 * The simulator's answers out of memory, so that the service is never what is measured. Run as
 * `recording.ts '{"items":20000,"orders":20000}'`; prints where it is, its key, and the keys of rows that the night lost,
 * as JSON. An answer is recorded when it is asked for the first time.
 *
 * It has two states: "base", and "night", in which 1 % of the rows changed and some are gone. `POST /_recording` with the
 * name of one serves that one, and answers how many requests there were since the last time.
 */

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** More digits than a double has, in so many orders; every other one as text, for the service sends amounts as either. */
const LONG_AMOUNTS = 100;
const CHANGED = 0.01;
const REMOVED = 0.001;

const sizes = JSON.parse(process.argv[2] ?? "{}") as { readonly items: number; readonly orders: number };
const key = "demo-key";
const now = new Date();

async function start() {
  const simulator = await startSimulator({
    sizes: { invoices: 0, findings: 0, ingested: 0, ...sizes },
    ...{ key, compression: false, now: () => now },
  });
  let i = 0;
  for (const row of simulator.truth.rows("purchase_orders")) {
    if (i === LONG_AMOUNTS) break;
    const amount = `9007199254740${100 + i}.${10_001 + i}`;
    const told = i++ % 2 === 0 ? JSON.rawJSON(amount) : amount;
    simulator.patch("purchase_orders", String(row["po_number"]), { total_amount: told });
  }
  return { simulator, answers: new Map<string, Answer>() };
}

const states = { base: await start(), night: await start() };
const removed: Record<string, string[]> = {};
for (const [stream, count] of [
  ["items", sizes.items],
  ["purchase_orders", sizes.orders],
] as const) {
  states.night.simulator.update(stream, Math.round(count * CHANGED));
  removed[stream] = states.night.simulator.delete(stream, Math.ceil(count * REMOVED));
}

let served = states.base;
let requests = 0;

/** The same request, however its parameters are ordered and its path escaped: not every tool escapes the slash of a key. */
function nameOf(url: string): string {
  const [path, query = ""] = url.split("?");
  return `${decodeURIComponent(path!)}?${query.split("&").map(decodeURIComponent).sort().join("&")}`;
}

async function record(url: string, { simulator, answers }: typeof served): Promise<Answer> {
  const response = await fetch(simulator.url + url, { headers: { authorization: `Bearer ${key}` } });
  const type = response.headers.get("content-type") ?? "application/json";
  const answer = { status: response.status, type, body: Buffer.from(await response.arrayBuffer()) };
  answers.set(nameOf(url), answer);
  return answer;
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type, "content-length": body.length }).end(body);
}

const server = createServer((request, response) => {
  const { url = "/", method } = request;
  if (method === "POST") {
    request.on("data", (name: Buffer) => {
      served = states[name.toString() as keyof typeof states];
    });
    request.on("end", () => {
      response.end(JSON.stringify({ requests }));
      requests = 0;
    });
    return;
  }
  requests += 1;
  const known = served.answers.get(nameOf(url));
  if (known !== undefined) send(response, known);
  else void record(url, served).then(answer => send(response, answer));
});
// peers.py keeps one connection, unused while a tool loads: Node would close it after five seconds.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, key, removed })}\n`);
});
process.once("SIGTERM", () => process.exit(0));
// Standard input ends with the parent process, also when that was killed.
process.stdin.resume().once("end", () => process.exit(0));
