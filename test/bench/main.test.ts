import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import type { Figure, Warehouse } from "../../bench/figure.ts";
import { variables } from "../support/program.ts";

const run = promisify(execFile);
const compiled = { NODE_COMPILE_CACHE: variables.NODE_COMPILE_CACHE };
/** Each part is run with one of the databases: they differ in what `makeWarehouse` makes. */
const parts = {
  duckdb: ["cpu", "nightly", "growth", "planner", "exports", "replay"],
  postgres: ["latency", "fanout", "planner", "publish", "startup", "undici"],
};

/** What it prints when it is asked to be quick; nothing may be left behind. */
async function bench(only: Warehouse, chosen: readonly string[], ...argv: readonly string[]): Promise<string> {
  const temporary = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const program = resolve(import.meta.dirname, "../../bench/main.ts");
    const on = ["--only", only, "--postgres", inject("postgresUrl"), "--part", chosen.join(",")];
    const options = ["--quick", ...on, ...argv];
    const env = { ...process.env, ...compiled, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
    const { stdout } = await run(process.execPath, [program, ...options], { env });
    expect(await readdir(temporary)).toEqual([]);
    return stdout;
  } finally {
    await rm(temporary, { recursive: true });
  }
}

// Side by side: a quick run mostly starts processes, one after the other.
test.concurrent("parts tell figures of DuckDB", async () => {
  const { figures } = JSON.parse(await bench("duckdb", parts.duckdb, "--json")) as { figures: Figure[] };
  expect([...new Set(figures.map(({ part }) => part))]).toEqual(parts.duckdb);
  for (const part of parts.duckdb) {
    const its = figures.filter(figure => figure.part === part && figure.warehouse === "duckdb");
    expect(its.length, part).toBeGreaterThan(0);
    // The planner's is a statement, not a command.
    expect(
      its.some(({ load }) => load !== undefined),
      part,
    ).toBe(part !== "planner");
  }
  for (const { part, figure, measured, load } of figures) {
    const name = `${part}: ${figure}`;
    expect(Number.isFinite(measured), name).toBe(true);
    if (load === undefined) continue;
    expect(Math.min(load.rows, load.bytes, load.cpuMs, load.wallMs), name).toBeGreaterThan(0);
    // Loading from an archive asks for nothing, nor does an export.
    expect(load.requests === 0, name).toBe(figure === "replay, CPU a row" || part === "exports");
    expect(load.peakBytes, name).toBeGreaterThan(20e6);
  }
});

test.concurrent("parts of PostgreSQL are printed as one aligned table", async () => {
  const lines = (await bench("postgres", parts.postgres)).trimEnd().split("\n");
  const [titles, ...told] = lines.map(line => line.split(/ {2,}/));
  expect(titles).toEqual(expect.arrayContaining(["part", "figure", "database", "measured", "ratio", "target", "met"]));
  expect([...new Set(told.map(([part]) => part))]).toEqual(parts.postgres);
  for (const part of parts.postgres)
    expect(told.filter(([its, , on]) => its === part && on === "postgres").length).not.toBe(0);
  const met = lines[0]!.indexOf("met");
  for (const line of lines.slice(1)) expect(line.slice(met).trim()).toMatch(/^(yes|NO|)( |$|[\d,]+ )/);
});
