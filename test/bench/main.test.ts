import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import type { Figure } from "../../bench/figure.ts";

const run = promisify(execFile);

async function bench(temporary: string, ...argv: readonly string[]): Promise<string> {
  const program = resolve(import.meta.dirname, "../../bench/main.ts");
  const postgres = inject("postgresUrl");
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const { stdout } = await run(process.execPath, [program, "--quick", "--postgres", postgres, ...argv], { env });
  return stdout;
}

test("every part measures both databases, and nothing is left behind", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const { figures } = JSON.parse(await bench(temporary, "--json")) as { figures: Figure[] };
    const parts = ["cpu", "growth"];
    expect(new Set(figures.map(({ part }) => part))).toEqual(new Set(parts));
    for (const part of parts)
      expect(new Set(figures.filter(figure => figure.part === part).map(({ warehouse }) => warehouse))).toEqual(
        new Set(["duckdb", "postgres"]),
      );
    for (const { figure, load } of figures) {
      if (load === undefined) continue;
      expect(Math.min(load.rows, load.requests, load.bytes, load.cpuMs, load.wallMs), figure).toBeGreaterThan(0);
      expect(load.peakBytes, figure).toBeGreaterThan(20e6);
    }
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await rm(temporary, { recursive: true });
  }
});

test("it prints one aligned table of the parts that were asked for", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const lines = (await bench(temporary, "--only", "duckdb", "--part", "cpu")).trimEnd().split("\n");
    expect(lines.map(line => line.split(/ {2,}/).slice(0, 2).join(": "))).toEqual([
      "part: figure",
      ...["first load", "unchanged night"].flatMap(job => [
        `cpu: ${job}, CPU a row`,
        `cpu: ${job}, the whole process`,
        `cpu: ${job}, rows a second`,
      ]),
    ]);
    const met = lines[0]!.indexOf("met");
    for (const line of lines.slice(1)) expect(line.slice(met).trim()).toMatch(/^(yes|NO|)( |$)/);
  } finally {
    await rm(temporary, { recursive: true });
  }
});
