import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The tiers of tests. `npm test` guards every change: all suites but the long ones below. `npm run test:all` runs these too, and
 * in both databases the suites that `npm test` runs in one. `npm run test:touched`, which `.ci/run` calls after `npm test`, runs
 * the long suites whose part of the tree a change touches: what has come since TRIBUTARY_BASE, else in the four hours before HEAD.
 */

interface Suite {
  readonly tests: readonly string[];
  /** The part of the tree that it is about. */
  readonly about: RegExp;
  /** Absent: vitest.long.config.ts. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A change in these rooms runs every suite. */
const core = /^src\/(catalog|rows|source|config|warehouse|sync)\//;

export const longSuites: Readonly<Record<string, Suite>> = {
  crash: {
    tests: [
      "test/crash/**/*.test.ts",
      "test/faults/{destination,destination_lost,destination_refusing,failover,key,misbehaviour}.test.ts",
      "test/operations/{backfill,upload}/kill.test.ts",
      "test/outputs/export/steps.test.ts",
    ],
    about: /^src\/(operations\/(backfill|upload)|outputs\/export)\//,
  },
  privacy: { tests: ["test/privacy/{overtaken,switching}.test.ts"], about: /^src\/privacy\// },
  replay: { tests: ["test/operations/replay/repair.test.ts"], about: /^src\/operations\/replay\// },
  move: { tests: ["test/operations/move/*.test.ts"], about: /^src\/operations\/move/ },
  models: {
    tests: [
      "test/sync/run/stored_models.test.ts",
      "test/outputs/dbt/marts.test.ts",
      "test/outputs/report/{command,figures}.test.ts",
    ],
    about: /^(models|reports|src\/outputs)\//,
  },
  protocols: {
    tests: ["test/cli/protocols.test.ts", "test/operations/changes/protocols.test.ts"],
    about: /^src\/(cli\/protocols|operations\/changes)\//,
  },
  workers: {
    tests: ["test/fleet/{backfill,command,companies,mixed,run,stopped,view}.test.ts"],
    about: /^src\/fleet\//,
  },
  daemon: { tests: ["test/daemon/schedule/cli.test.ts"], about: /^src\/daemon\// },
  browsers: {
    tests: ["test/{daemon/page,outputs/*}/browser.test.ts", "test/cli/terminal/recordings.test.ts"],
    about: /^(assets|src\/(daemon\/page|outputs|cli\/terminal))\//,
  },
  simulation: { tests: ["test/{simulation,fresh}/*.test.ts"], about: /^(simulator|test\/(simulation|fresh))\// },
  hostile: { tests: ["test/hostile/*.test.ts"], about: /^(reader|test\/hostile)\// },
  streams: { tests: ["test/all/*.test.ts"], about: /^(models|schemas|simulator|streams)\// },
  bench: { tests: ["test/bench/main.test.ts"], about: /^bench\// },
  package: {
    tests: ["test/repository/pack.test.ts"],
    about: /^(build\.ts|package(-lock)?\.json|rolldown|src\/library)/,
  },
  "rows without WebAssembly": {
    tests: ["test/sync/run/truth.test.ts", "test/sync/extract/*.test.ts", "test/hostile/{rows,values}.test.ts"],
    about: /^reader\//,
    env: { TRIBUTARY_READER: "js" },
  },
  // Of the lake's suites those that are over in a minute: the others kill runs, and go through what these leave out.
  lake: {
    tests: ["test/lake/lake.test.ts", "test/warehouse/conformance/{difference,parents,publish,values}.test.ts"],
    about: /^test\/lake\//,
    config: "vitest.lake.config.ts",
  },
};

export const longTests: readonly string[] = Object.values(longSuites).flatMap(({ tests, config, env }) =>
  config === undefined && env === undefined ? tests : [],
);

const root = join(import.meta.dirname, "..");
const matching = (patterns: readonly string[]): readonly string[] => globSync([...patterns], { cwd: root });

/** The files of suites about decisions, which `npm test` runs in one database. */
export const decisionTests = (): readonly string[] =>
  matching(["test/**/*.test.ts"]).filter(path =>
    readFileSync(join(root, path), "utf8").includes("each(eitherWarehouse)"),
  );

/** The long suites for a change of these files. */
export function suitesFor(changed: readonly string[]): readonly string[] {
  const names = Object.keys(longSuites);
  const isCore = changed.some(path => core.test(path));
  return isCore ? names : names.filter(name => changed.some(path => longSuites[name]!.about.test(path)));
}

function git(...words: readonly string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
}

function baseOf(): string {
  const given = process.env["TRIBUTARY_BASE"];
  if (given !== undefined) return given;
  const before = Number(git("show", "-s", "--format=%ct", "HEAD")) - 4 * 3_600;
  return git("rev-list", "-1", `--before=${before}`, "HEAD") || git("rev-list", "--max-parents=0", "HEAD");
}

function run(names: readonly string[]): number {
  const groups = Map.groupBy(names, name => JSON.stringify([longSuites[name]!.config, longSuites[name]!.env]));
  let status = 0;
  for (const group of groups.values()) {
    const { config = "vitest.long.config.ts", env = {} } = longSuites[group[0]!]!;
    const files = matching(group.flatMap(name => longSuites[name]!.tests));
    const words = ["node_modules/vitest/vitest.mjs", "run", "--config", config, ...files];
    const ended = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
    status ||= ended.status ?? 1;
  }
  return status;
}

if (process.argv[1] === import.meta.filename) {
  const base = baseOf();
  const changed = git("diff", "--name-only", base, "HEAD").split("\n");
  const names = suitesFor(changed);
  console.log(`${changed.length} files changed since ${git("log", "-1", "--format=%h %s", base)}`);
  console.log(`Long suites that they touch: ${names.join(", ") || "none"}`);
  process.exitCode = run(names);
}
