import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { json, roleDatabase, simulated, workplace } from "../../cli/workplace.ts";
import { documentsAt } from "./place.ts";

interface Uploaded {
  readonly uploads: readonly { readonly sha256: string; readonly doc_id: string | null; readonly outcome: string }[];
}

test.each(["duckdb", "postgres"])(
  "killed by the system again and again, each file is sent once or told as unknown (%s)",
  async name => {
    const simulator = await simulated();
    const { destination } = name === "duckdb" ? { destination: { path: "./w.duckdb" } } : await roleDatabase();
    const { folder, run, start } = workplace(simulator, { destination });
    const files = Array.from({ length: 24 }, (_, i) => `file${i}.pdf`);
    for (const file of files) writeFileSync(join(folder, file), `content of ${file}`);
    simulator.faults.latencyMs = 30;
    const passed = () => simulator.requests.total + simulator.uploads.requests.length;
    for (const more of [6, 13, 20]) {
      const before = passed();
      const child = start("upload", ...files, "--yes");
      while (passed() < before + more && child.exitCode === null) await sleep(2);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    simulator.faults.latencyMs = 0;
    const ended = await run(["upload", ...files, "--yes", "--wait", "0s", "--json"]);
    const { uploads } = json<Uploaded>(ended);
    const made = documentsAt(simulator);
    for (const { sha256, doc_id, outcome } of uploads) {
      const documents = made.get(sha256) ?? [];
      if (outcome === "unknown") expect(documents.length).toBeLessThanOrEqual(1);
      else expect(documents).toEqual([doc_id]);
    }
    expect(uploads.filter(({ outcome }) => outcome === "present").length).toBeGreaterThan(0);
    expect(uploads.filter(({ outcome }) => outcome === "unknown").length).toBeLessThan(13);
    expect(ended.code).toBe(5);
  },
);
