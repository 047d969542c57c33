import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Built } from "./build.ts";

/** A simulated service in a process of its own. */
export interface Service {
  readonly url: string;
  readonly key: string;
  close(): Promise<void>;
}

/** Starts one with so many items, zero latency, on a free port. */
export async function startService(built: Built, items: number): Promise<Service> {
  const few = ["orders", "invoices", "findings", "ingested"].flatMap(stream => [`--${stream}`, "1"]);
  const argv = [built.cli, "simulate", "--port", "0", "--items", String(items), ...few, "--json"];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let said = "";
  for await (const piece of child.stdout) {
    said += String(piece);
    if (said.trimEnd().endsWith("}")) break;
  }
  if (said === "") throw new Error(`the simulator ended before it listened (exit code ${child.exitCode})`);
  const { url, key } = JSON.parse(said) as { url: string; key: string };
  return {
    url,
    key,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
