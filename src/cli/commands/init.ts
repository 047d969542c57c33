import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { ConfigError } from "../../errors.ts";
import { ask } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, examples } from "../invocation/options.ts";
import { packageRoot } from "../invocation/package_root.ts";

/** `init`: writes a configuration from the example, which is its own documentation. */
export function registerInit(program: Command, context: CliContext): void {
  const command = program
    .command("init")
    .description("Write config.yaml from the example, asking for the few values that matter. Nothing is overwritten.");
  attachOptions(command, "config", "yes", "logLevel")
    .addHelpText("after", examples("tributary init", "tributary init --yes", "tributary init --config prod.yaml"))
    .action((options: CommonOptions) => init(options, context));
}

async function init(options: CommonOptions, context: CliContext): Promise<void> {
  const file = options.config ?? (context.env["TRIBUTARY_CONFIG"] || "config.yaml");
  const path = resolve(context.cwd, file);
  const example = await readFile(join(packageRoot(), "config.example.yaml"), "utf8");
  if (existsSync(path)) throw existing(file);
  if (!options.yes && !context.stdin.isTTY) {
    const advice = "run it in a terminal, or `tributary init --yes` to take the example as it is";
    throw new ConfigError(`init asks for a few values, and there is no terminal to ask on: ${advice}.`);
  }
  const text = options.yes ? example : withAnswers(example, await answers(context));
  try {
    // Somebody may write the key into it.
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw existing(file);
    throw new ConfigError(
      `${file} could not be written (${code}): check that its folder exists and may be written.`,
      cause,
    );
  }
  const variables = [...new Set(text.match(/^[^#\n]*\$\{\w+\}/gm)?.map(line => line.replace(/^.*\{|\}$/g, "")))];
  const exports = variables.map(variable => `export ${variable}=…`);
  context.print(`Wrote ${file}. Next:\n  ${[...exports, "tributary check", "tributary sync"].join("\n  ")}`);
}

function existing(file: string): ConfigError {
  return new ConfigError(`${file} exists already and stays as it is: remove it, or name another with --config.`);
}

/** A line of the example that an answer takes the place of, commented out or not. */
type Answers = Readonly<Record<"base_url" | "key" | "company" | "type" | "path" | "url", string | undefined>>;

async function answers(context: CliContext): Promise<Answers> {
  const { input, select } = await import("@inquirer/prompts");
  const { configSchema, schemaAt } = await import("../../config/schema.ts");
  const { safeParse } = await import("zod");
  const valid =
    (...path: readonly string[]) =>
    (value: string) => {
      // What a variable holds is not known here; `check` looks at it.
      if (/^\$\{\w+\}$/.test(value)) return true;
      const schema = schemaAt(configSchema, path);
      const parsed = schema === undefined ? undefined : safeParse(schema, value);
      return parsed?.error?.issues[0]?.message ?? true;
    };
  const variable = (value: string) =>
    /^[A-Za-z_]\w*$/.test(value) || "expected a variable's name such as PROCUREMENT_API_KEY";
  const nothing = "Stopped: nothing was written.";
  const line = (message: string, suggestion: string, validate: (value: string) => true | string) =>
    ask(context, input, { message, default: suggestion, validate }, nothing);
  const address = "https://procurement.example.com";
  const base_url = await line("The service's address, without /api/v1", address, valid("api", "base_url"));
  const name = await line("The environment variable with the API key", "PROCUREMENT_API_KEY", variable);
  const company = await line("The company's name in the tables", "acme", valid("company"));
  const choices = [
    { name: "DuckDB, a file", value: "duckdb" },
    { name: "PostgreSQL, a server", value: "postgres" },
  ];
  const type = await ask(context, select<string>, { message: "Where the tables go", choices }, nothing);
  const isFile = type === "duckdb";
  const place = isFile
    ? await line("The file", "./warehouse.duckdb", valid("destination", "path"))
    : await line("Its address, or a variable", `\${DATABASE_URL}`, valid("destination", "url"));
  const key = `\${${name}}`;
  return { base_url, key, company, type, path: isFile ? place : undefined, url: isFile ? undefined : place };
}

function withAnswers(example: string, given: Answers): string {
  return Object.entries(given).reduce((text, [key, value]) => {
    if (value === undefined) return text;
    return text.replace(new RegExp(`^( *)#?${key}: .*$`, "m"), (_, indent) => `${indent}${key}: ${scalar(value)}`);
  }, example);
}

const scalar = (value: string): string => (/^[A-Za-z0-9./$][\w./:${}@-]*$/.test(value) ? value : JSON.stringify(value));
