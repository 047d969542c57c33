import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Warehouse, warehouses } from "./figure.ts";

/** What a benchmark is asked for. */
export interface Options {
  readonly parts: readonly string[];
  readonly scale: number;
  readonly runs: number;
  readonly quick: boolean;
  readonly warehouses: readonly Warehouse[];
  readonly nodeFlags: readonly string[];
  /** Folder for CPU profiles. */
  readonly profiles: string | undefined;
  /** A server to use instead of one of our own. */
  readonly postgres: string | undefined;
  readonly json: boolean;
}

const help = (parts: readonly string[]) => `npm run bench -- [options]
  --part <names>     some of ${parts.join(", ")}; all without it
  --only <warehouse> duckdb or postgres; a lake is measured in part lake, beside them
  --scale <share>    of the rows of each part, e.g. 0.1 (1)
  --runs <n>         how often short jobs are run, for their median (3)
  --quick            few rows, once: does the harness work?
  --node <flag>      a flag for the measured Node instead of the command's own, e.g. --node=--max-semi-space-size=16; may be repeated
  --cpu-prof <dir>   write a CPU profile of every job there (and let it slow them down)
  --postgres <url>   a server to use instead of one of our own
  --json             the figures as JSON
Exit code 1 when a target is missed.`;

/** Reads the command line; answers with the help text where that was asked for. Throws on what it doesn't know. */
export function readOptions(argv: readonly string[], parts: readonly string[]): Options | string {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      part: { type: "string" },
      only: { type: "string" },
      scale: { type: "string" },
      runs: { type: "string" },
      quick: { type: "boolean", default: false },
      node: { type: "string", multiple: true, default: [] },
      "cpu-prof": { type: "string" },
      postgres: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return help(parts);
  const chosen = values.part?.split(",") ?? parts;
  const unknown = chosen.find(name => !parts.includes(name));
  if (unknown !== undefined) throw new Error(`--part: expected some of ${parts.join(", ")}, got ${unknown}`);
  const only = warehouses.find(warehouse => warehouse === values.only);
  if (values.only !== undefined && only === undefined)
    throw new Error(`--only: expected one of ${warehouses.join(", ")}, got ${values.only}`);
  const profiles = values["cpu-prof"];
  return {
    parts: parts.filter(name => chosen.includes(name)),
    scale: above("--scale", values.scale, values.quick ? 0.001 : 1),
    runs: Math.ceil(above("--runs", values.runs, values.quick ? 1 : 3)),
    quick: values.quick,
    warehouses: only === undefined ? warehouses : [only],
    nodeFlags: values.node.length > 0 ? values.node : commandFlags(),
    profiles: profiles === undefined ? undefined : resolve(profiles),
    postgres: values.postgres,
    json: values.json,
  };
}

/** The flags that the command asks Node for in its first line. */
function commandFlags(): readonly string[] {
  const [line] = readFileSync(join(import.meta.dirname, "../src/cli/start.ts"), "utf8").split("\n");
  return line?.match(/(?<= )--\S+/g) ?? [];
}

function above(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) throw new Error(`${name}: expected a number above 0, got ${text}`);
  return value;
}
