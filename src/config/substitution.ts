import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigError } from "../errors.ts";
import { configMessages } from "./messages.ts";

/** Where `${NAME}` and `${file:path}` are looked up; relative file paths start at `directory`. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
}

/** A text with every `${…}` replaced, what each of them stood for, and the files that were read for it. */
export interface Substituted {
  readonly text: string;
  readonly inserted: readonly string[];
  /** Absolute paths. */
  readonly mounted: readonly string[];
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:path}`; `$${` stands for a literal `${`.
 * @throws ConfigError whose message is the reason alone, without file and line.
 */
export async function substitute(template: string, surroundings: Surroundings): Promise<Substituted> {
  const inserted: string[] = [];
  const mounted: string[] = [];
  let text = "";
  let end = 0;
  for (const match of template.matchAll(/\$\$\{|\$\{([^}]*)(\}?)/g)) {
    text += template.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[0].startsWith("$$")) {
      text += match[0].slice(1);
      continue;
    }
    if (match[2] === "") throw new ConfigError(configMessages.open_variable());
    const expression = match[1] ?? "";
    const file = expression.startsWith("file:") ? resolve(surroundings.directory, expression.slice(5)) : undefined;
    const value = file === undefined ? lookUp(expression, surroundings.env) : await mountedSecret(file);
    if (file !== undefined) mounted.push(file);
    inserted.push(value);
    text += value;
  }
  return { text: text + template.slice(end), inserted, mounted };
}

function lookUp(expression: string, env: NodeJS.ProcessEnv): string {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(expression);
  if (match === null) throw new ConfigError(configMessages.invalid_variable());
  const [, name = "", fallback] = match;
  const value = env[name];
  if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
  if (value === undefined) throw new ConfigError(configMessages.variable_not_set({ name }));
  if (value === "") throw new ConfigError(configMessages.variable_empty({ name }));
  return value;
}

async function mountedSecret(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError(configMessages.unreadable_secret({ path, reason }), cause);
  }
}
