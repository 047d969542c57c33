import { existsSync } from "node:fs";
import { appendFile, chmod, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ENV_FILE } from "../../config/load.ts";
import { ConfigError } from "../../errors.ts";
import { packageRoot } from "../../package_root.ts";
import { ask } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { inShell } from "../terminal/look.ts";
import { commandMessages } from "./messages.ts";

export const register = defined({
  description:
    "Write config.yaml from the example, asking for the few values that matter. Secrets go to a .env file beside it (mode 600), which all commands read. Nothing is overwritten.",
  options: ["config", "yes", "log"],
  examples: ["tributary init", "tributary init --yes", "tributary init --config prod.yaml"],
  run: init,
});

async function init(options: CommonOptions, context: CliContext): Promise<void> {
  const file = options.config ?? (context.env["TRIBUTARY_CONFIG"] || "config.yaml");
  const path = resolve(context.cwd, file);
  const example = await readFile(join(packageRoot(), "config.example.yaml"), "utf8");
  if (existsSync(path)) throw new ConfigError(commandMessages.init_config_exists({ file }));
  if (!options.yes && !context.stdin.isTTY) throw new ConfigError(commandMessages.init_off_terminal());
  const { given, secrets } = options.yes ? { given: {}, secrets: {} } : await answers(context);
  const text = withAnswers(example, given);
  try {
    // Mode 600, as the API key may be written into it later.
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new ConfigError(commandMessages.init_config_exists({ file }));
    throw new ConfigError(commandMessages.init_config_not_written({ file, reason: code }), cause);
  }
  const variables = [...new Set(text.match(/^[^#\n]*\$\{\w+\}/gm)?.map(line => line.replace(/^.*\{|\}$/g, "")))];
  const kept = await keepSecrets(dirname(path), secrets);
  const known = (variable: string) => kept?.known.includes(variable) === true || (context.env[variable] ?? "") !== "";
  const exports = variables.filter(variable => !known(variable)).map(variable => `export ${variable}=…`);
  const own = options.config === undefined ? "" : ` --config ${inShell(file)}`;
  const next = [...exports, `tributary check${own}`, `tributary sync${own}`].join("\n  ");
  context.print(`Wrote ${[file, ...(kept?.told ?? [])].join(", ")}. Next:\n  ${next}`);
}

/** Puts what a `.env` lacks into it, for its owner alone, and its name into a .gitignore that is there. */
async function keepSecrets(
  folder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<{ readonly known: readonly string[]; readonly told: readonly string[] } | undefined> {
  if (Object.keys(secrets).length === 0) return undefined;
  const [path, ignored] = [join(folder, ENV_FILE), join(folder, ".gitignore")];
  const before = existsSync(path) ? await readFile(path, "utf8") : "";
  const held = parseEnv(before);
  const lines = Object.entries(secrets).filter(([name]) => held[name] === undefined);
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  await appendFile(path, `${start}${lines.map(([name, value]) => `${name}=${quoted(value)}\n`).join("")}`, {
    mode: 0o600,
  });
  await chmod(path, 0o600);
  const told = [`${basename(path)} (${lines.map(([name]) => name).join(", ") || "nothing new"})`];
  if (existsSync(ignored)) {
    const text = await readFile(ignored, "utf8");
    if (!text.split(/\r?\n/).includes(ENV_FILE)) {
      await appendFile(ignored, `${text === "" || text.endsWith("\n") ? "" : "\n"}${ENV_FILE}\n`);
      told.push(".gitignore");
    }
  }
  return { known: [...Object.keys(held), ...Object.keys(secrets)], told };
}

/** A value as `.env` files have it. */
function quoted(value: string): string {
  if (/^[\w./:@%+=,&?-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find(each => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}

/** A line of the example that an answer takes the place of, commented out or not. */
type Answers = Readonly<
  Record<"base_url" | "key" | "company" | "type" | "path" | "url" | "catalog" | "data_path", string | undefined>
>;

interface Given {
  readonly given: Partial<Answers>;
  /** By the variable that the configuration has in its place. */
  readonly secrets: Readonly<Record<string, string>>;
}

async function answers(context: CliContext): Promise<Given> {
  const { input, password, select } = await import("@inquirer/prompts");
  const { configSchema, schemaAt } = await import("../../config/schema.ts");
  const { safeParse } = await import("zod");
  const valid =
    (...path: readonly string[]) =>
    (value: string) => {
      // A variable's value is checked by `check`.
      if (/^\$\{\w+\}$/.test(value)) return true;
      const schema = schemaAt(configSchema, path);
      const parsed = schema === undefined ? undefined : safeParse(schema, value);
      return parsed?.error?.issues[0]?.message ?? true;
    };
  const variable = (value: string) =>
    /^[A-Za-z_]\w*$/.test(value) || "expected a variable's name such as PROCUREMENT_API_KEY";
  const nothing = commandMessages.init_refused();
  const line = (message: string, suggestion: string, validate: (value: string) => true | string) =>
    ask(context, input, { message, default: suggestion, validate }, nothing);
  const address = "https://procurement.example.com";
  const base_url = await line("The service's address, without /api/v1", address, valid("api", "base_url"));
  const name = await line("The environment variable with the API key", "PROCUREMENT_API_KEY", variable);
  const isSet = (context.env[name] ?? "") !== "";
  const message = `The API key, for ${ENV_FILE} (nothing: you set ${name} yourself)`;
  const secret = isSet ? "" : await ask(context, password, { message, mask: "*" }, nothing);
  const company = await line("The company's name in the tables", "acme", valid("company"));
  const choices = [
    { name: "DuckDB, a file", value: "duckdb" },
    { name: "PostgreSQL, a server", value: "postgres" },
    { name: "DuckLake, files in a folder or in object storage, with a PostgreSQL as their catalog", value: "ducklake" },
  ];
  const type = await ask(context, select<string>, { message: "Where the tables go", choices }, nothing);
  const path =
    type === "duckdb" ? await line("The file", "./warehouse.duckdb", valid("destination", "path")) : undefined;
  const isLake = type === "ducklake";
  const data_path = isLake
    ? await line(
        "The folder of the files, or a place such as s3://bucket/warehouse",
        "./lake",
        valid("destination", "data_path"),
      )
    : undefined;
  const server = isLake ? "catalog" : "url";
  const place =
    path === undefined
      ? await line(
          isLake ? "The catalog's address, or a variable" : "Its address, or a variable",
          `\${DATABASE_URL}`,
          valid("destination", server),
        )
      : "";
  const { secretsInUrl } = await import("../../secrets.ts");
  const holds = secretsInUrl(place).length > 0;
  const given = {
    ...{ base_url, key: `\${${name}}`, company, type, path, data_path },
    ...(path === undefined ? { [server]: holds ? `\${DATABASE_URL}` : place } : {}),
  };
  return {
    given,
    secrets: { ...(secret === "" ? {} : { [name]: secret }), ...(holds ? { DATABASE_URL: place } : {}) },
  };
}

function withAnswers(example: string, given: Partial<Answers>): string {
  return Object.entries(given).reduce((text, [key, value]) => {
    if (value === undefined) return text;
    return text.replace(new RegExp(`^( *)#?${key}: .*$`, "m"), (_, indent) => `${indent}${key}: ${scalar(value)}`);
  }, example);
}

const scalar = (value: string): string => (/^[A-Za-z0-9./$][\w./:${}@-]*$/.test(value) ? value : JSON.stringify(value));
