import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigError } from "../errors.ts";
import { uncoded } from "../message.ts";

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
    if (match[2] === "")
      throw new ConfigError(uncoded(`a \${ without its }: close it, or write $\${ for a literal \${`));
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
  if (match === null) {
    throw new ConfigError(
      uncoded(`expected \${NAME}, \${NAME:-default} or \${file:/path}; $\${ stands for a literal \${`),
    );
  }
  const [, name = "", fallback] = match;
  const value = env[name];
  if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
  if (value === undefined) {
    throw new ConfigError(
      uncoded(`the environment variable ${name} is not set: set it, or give its value another way`),
    );
  }
  if (value === "")
    throw new ConfigError(uncoded(`the environment variable ${name} is set but empty: give it a value`));
  return value;
}

async function mountedSecret(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError(
      uncoded(`the file ${path} could not be read (${code}): check the path, the mount and its rights`),
      cause,
    );
  }
}
