import type { IncomingMessage, ServerResponse } from "node:http";
import type { Faults } from "./faults.ts";
import type { Simulator } from "./handle.ts";

type Steered = Pick<Simulator, "requests" | "faults" | "truth" | "uploads" | "update" | "insert" | "delete">;

const CHANGES = ["update", "insert", "delete"] as const;

/** Answers /_simulator/*: for tests that run the simulator in another process. No key is asked for. */
export function control(simulator: Steered, path: string, message: IncomingMessage, response: ServerResponse): boolean {
  const url = new URL(message.url ?? "/", "http://simulator");
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    try {
      const text = Buffer.concat(chunks).toString();
      answer(200, act(simulator, `${message.method} ${path}`, url.searchParams, text === "" ? {} : JSON.parse(text)));
    } catch (error) {
      answer(422, { error: { code: "CONTROL", message: String(error), details: null, request_id: "control" } });
    }
  });
  return true;
}

function act(simulator: Steered, action: string, query: URLSearchParams, body: unknown): unknown {
  const { requests } = simulator;
  switch (action) {
    case "GET /_simulator/requests":
      return {
        total: requests.total,
        counts: requests.counts(),
        spent_ms: requests.spentMs(),
        max_in_flight: requests.maxInFlight,
      };
    case "DELETE /_simulator/requests":
      requests.clear();
      return {};
    case "POST /_simulator/change":
      return change(simulator, body);
    case "PUT /_simulator/faults":
      return setFaults(simulator.faults, body);
    case "GET /_simulator/uploads":
      return simulator.uploads;
    case "GET /_simulator/truth":
      return truth(simulator, query);
    default:
      throw new Error(`expected one of /_simulator/requests, change, faults, truth, uploads, got ${action}`);
  }
}

function change(simulator: Steered, body: unknown): unknown {
  const keys: Record<string, Record<string, string[]>> = {};
  for (const kind of CHANGES) {
    const counts: unknown = isObject(body) ? body[kind] : undefined;
    if (!isObject(counts)) continue;
    keys[kind] = {};
    for (const [stream, count] of Object.entries(counts)) {
      keys[kind][stream] = simulator[kind](stream, Number(count));
    }
  }
  return keys;
}

function setFaults(faults: Faults, body: unknown): unknown {
  if (!isObject(body)) throw new Error("expected a JSON object of faults");
  const unknown = Object.keys(body).find(name => !(name in faults));
  if (unknown !== undefined) throw new Error(`unknown fault '${unknown}'`);
  return Object.assign(faults, body);
}

function truth(simulator: Steered, query: URLSearchParams): unknown {
  const stream = query.get("stream") ?? "";
  const offset = Number(query.get("offset") ?? 0);
  const limit = Number(query.get("limit") ?? 1000);
  const rows: unknown[] = [];
  for (const row of simulator.truth.rows(stream, offset)) {
    if (rows.length === limit) break;
    rows.push(row);
  }
  return { count: simulator.truth.count(stream), rows };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
