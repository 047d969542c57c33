import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import type { Figure } from "../../bench/figures.ts";
import type { Result } from "../../bench/jobs.ts";

const run = promisify(execFile);

async function bench(temporary: string, ...argv: readonly string[]): Promise<string> {
  const program = resolve(import.meta.dirname, "../../bench/main.ts");
  const postgres = inject("postgresUrl");
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const { stdout } = await run(process.execPath, [program, "--quick", "--postgres", postgres, ...argv], { env });
  return stdout;
}

test("it measures every job in both databases, checks what they did, and leaves nothing behind", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const { figures, results } = JSON.parse(await bench(temporary, "--memory", "--json")) as {
      figures: Figure[];
      results: Result[];
    };
    const jobs = ["duckdb first load", "duckdb unchanged night", "postgres first load", "postgres unchanged night"];
    expect(figures.map(({ figure }) => figure)).toEqual([
      ...jobs.map(job => `${job}, CPU, 300 rows`),
      ...jobs.flatMap(job => [
        `${job}, memory, 200 rows`,
        `${job}, memory, 1,000 rows`,
        `${job}, memory, the larger against the smaller`,
      ]),
    ]);
    for (const { measured, floor, ratio, wallMs } of figures) {
      expect(Math.min(measured, floor, ratio, wallMs)).toBeGreaterThan(0);
      expect(ratio).toBeCloseTo(measured / floor);
    }
    for (const { job, rows, requests } of results) {
      // A run may ask whose key it is as well.
      const pages = Math.ceil(rows / 100);
      expect([pages, pages + 1], job).toContain(requests);
    }
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await rm(temporary, { recursive: true });
  }
});

test("it prints one aligned table", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const lines = (await bench(temporary, "--only", "duckdb")).trimEnd().split("\n");
    expect(lines.map(line => line.split(/ {2,}/)[0])).toEqual([
      "figure",
      "duckdb first load, CPU, 300 rows",
      "duckdb unchanged night, CPU, 300 rows",
    ]);
    const met = lines[0]!.indexOf("met");
    for (const line of lines.slice(1)) expect(line.slice(met)).toMatch(/^(yes|NO)$/);
  } finally {
    await rm(temporary, { recursive: true });
  }
});
