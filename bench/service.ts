import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type SimulatorOptions, startSimulator } from "../simulator/simulator.ts";

/** A simulated service in a process of its own. */
export interface Service {
  readonly url: string;
  readonly key: string;
  /** By endpoint (e.g. "/po/{po_number}"), since it was started or last asked. */
  requests(): Promise<Requests>;
  /** Rows by stream, e.g. { purchase_orders: 10 }. */
  update(rows: Readonly<Record<string, number>>): Promise<void>;
  close(): Promise<void>;
}

/** How many requests there were, and how long they waited for their answers to begin, together, in ms. */
export interface Requests {
  readonly counts: Readonly<Record<string, number>>;
  readonly spentMs: Readonly<Record<string, number>>;
}

type Facts = Pick<SimulatorOptions, "sizes" | "linesPerOrder" | "historyDays" | "faults">;

const NONE = { orders: 0, invoices: 0, items: 0, findings: 0, ingested: 0 };

/** Starts one on a free port; a list that isn't named has no rows. */
export async function startService(facts: Facts): Promise<Service> {
  const given = JSON.stringify({ ...facts, sizes: { ...NONE, ...facts.sizes } });
  const child = fork(fileURLToPath(import.meta.url), [given], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ url, key }] = (await once(child, "message")) as [{ url: string; key: string }];
  const steer = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/_simulator/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    url,
    key,
    async requests() {
      const said = (await steer("GET", "requests")) as Pick<Requests, "counts"> & { spent_ms: Requests["spentMs"] };
      await steer("DELETE", "requests");
      return { counts: said.counts, spentMs: said.spent_ms };
    },
    async update(rows) {
      await steer("POST", "change", { update: rows });
    },
    async close() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const facts = JSON.parse(process.argv[2]!) as Facts;
  const simulator = await startSimulator({ ...facts, control: true });
  process.send({ url: simulator.url, key: simulator.key });
  process.once("disconnect", () => void simulator.close());
}
