import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Sizes } from "../../simulator/company/company.ts";
import { startSimulator } from "../../simulator/simulator.ts";

/** The simulated service in a process of its own, so that it and the command don't share a processor's turn. */
export interface Served {
  readonly url: string;
  readonly key: string;
  /** Requests so far, and the most that were in flight. */
  requests(): Promise<{ readonly total: number; readonly most: number }>;
  close(): Promise<void>;
}

/** What the company is like. */
export interface ServedFacts {
  readonly sizes: Sizes;
  readonly historyDays?: number;
  readonly latencyMs: number;
}

export async function serve(facts: ServedFacts): Promise<Served> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(facts)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [hello] = (await once(child, "message")) as [{ url: string; key: string }];
  return {
    ...hello,
    async requests() {
      child.send("requests");
      const [counts] = (await once(child, "message")) as [{ total: number; most: number }];
      return counts;
    },
    async close() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const { latencyMs, ...facts } = JSON.parse(process.argv[2]!) as ServedFacts;
  const simulator = await startSimulator({ ...facts, faults: { latencyMs } });
  process.send({ url: simulator.url, key: simulator.key });
  process.on("message", () =>
    process.send?.({ total: simulator.requests.total, most: simulator.requests.maxInFlight }),
  );
  process.once("disconnect", () => void simulator.close());
}
