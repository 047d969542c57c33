import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Warehouse, warehouses } from "./jobs.ts";

/** What a benchmark is asked for. */
export interface Options {
  readonly rows: number;
  readonly runs: number;
  /** The two sizes at which memory is measured; undefined: it isn't. */
  readonly memory: readonly [smaller: number, larger: number] | undefined;
  readonly warehouses: readonly Warehouse[];
  readonly nodeFlags: readonly string[];
  /** Folder for CPU profiles. */
  readonly profiles: string | undefined;
  /** A server to use instead of one of our own. */
  readonly postgres: string | undefined;
  readonly json: boolean;
}

export const help = `node bench/main.ts [options]
  --rows <n>         items to sync (100000)
  --runs <n>         how often each job is run (3)
  --only <warehouse> duckdb or postgres
  --memory           peak memory at 200,000 and 1,000,000 rows too: takes minutes
  --quick            few rows, once: does the harness work?
  --node <flag>      a flag for the measured Node instead of the command's own, e.g. --node=--max-semi-space-size=16; may be repeated
  --cpu-prof <dir>   write a CPU profile of every job there (and let it slow them down)
  --postgres <url>   a server to use instead of one of our own
  --json             figures and single results as JSON`;

/** Reads the command line. Throws on what it doesn't know. */
export function readOptions(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rows: { type: "string" },
      runs: { type: "string" },
      only: { type: "string" },
      memory: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      node: { type: "string", multiple: true, default: [] },
      "cpu-prof": { type: "string" },
      postgres: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const only = warehouses.find(warehouse => warehouse === values.only);
  if (values.only !== undefined && only === undefined)
    throw new Error(`--only: expected one of ${warehouses.join(", ")}, got ${values.only}`);
  const profiles = values["cpu-prof"];
  return {
    rows: count("--rows", values.rows, values.quick ? 300 : 100_000),
    runs: count("--runs", values.runs, values.quick ? 1 : 3),
    memory: values.memory ? (values.quick ? [200, 1_000] : [200_000, 1_000_000]) : undefined,
    warehouses: only === undefined ? warehouses : [only],
    nodeFlags: values.node.length > 0 ? values.node : commandFlags(),
    profiles: profiles === undefined ? undefined : resolve(profiles),
    postgres: values.postgres,
    json: values.json,
  };
}

/** The flags that the command asks Node for in its first line. */
function commandFlags(): readonly string[] {
  const [line] = readFileSync(join(import.meta.dirname, "../src/cli/main.ts"), "utf8").split("\n");
  return line?.match(/(?<= )--\S+/g) ?? [];
}

function count(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name}: expected a whole number above 0, got ${text}`);
  return value;
}
