import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { z } from "zod";
import { ConfigError } from "../errors.ts";
import type { Message } from "../message.ts";
import { createRedactor, redactMessage } from "../secrets.ts";
import { companiesOf, doublyNamed, literalSecrets, withDefaultKey } from "./companies.ts";
import { type Config, configOf } from "./config.ts";
import { expand } from "./expansion.ts";
import { explain } from "./explanation.ts";
import { configMessages, type Fault } from "./messages.ts";
import { configSchema, DESTINATION_KEYS, type EffectiveConfig } from "./schema.ts";
import { parseConfigDocument, valueAt } from "./yaml_document.ts";

export interface LoadOptions {
  /** For commands that send no request: the service's keys may be missing. */
  readonly local?: boolean;
  /** What else is wrong with it, told with the rest. */
  readonly further?: (config: Config) => readonly Message[];
}

/**
 * Reads `source`: a file, or the values of one; else what TRIBUTARY_CONFIG names, else config.yaml. Variables that the environment lacks come from
 * a `.env` beside it; values stand in the working directory.
 * @throws ConfigError that names file, line, column and key of everything that is wrong at once, and no secret.
 */
export async function loadConfig(
  source: string | Readonly<Record<string, unknown>> | undefined,
  env: NodeJS.ProcessEnv,
  { local = false, further = () => [] }: LoadOptions = {},
): Promise<LoadedConfig> {
  const isFile = typeof source !== "object";
  const named = isFile ? (source ?? (env["TRIBUTARY_CONFIG"] || "config.yaml")) : "the configuration";
  const document = parseConfigDocument(isFile ? await configText(named) : JSON.stringify(source), named);
  const directory = dirname(resolve(named));
  const besides = join(directory, ENV_FILE);
  const more = await envFile(besides);
  const surroundings = { env: { ...more, ...env }, directory };
  const templates = withDefaultKey(document.values);
  const { values, secrets, mounted, faults } = await expand(templates, document, surroundings, local);
  const { data, issues } = parseAll(values);
  const refused = explain(issues, document, templates);
  const wrong = [...doublyNamed(document.values, document.keyAt), ...faults, ...refused];
  const allSecrets = [...new Set([...secrets, ...literalSecrets(values)])].filter(secret => secret !== "");
  if (data === undefined) throw unusable(wrong, [], allSecrets);
  const companies = companiesOf(data, templates, surroundings, allSecrets);
  const config = configOf(data, companies, directory);
  const others = further(config);
  if (wrong.length + others.length > 0) throw unusable(wrong, others, allSecrets);
  return {
    config,
    file: named,
    mounted: more === undefined ? mounted : [...mounted, besides],
    secrets: allSecrets,
    warnings: warningsOf(data),
    effective: withoutIdle(data),
    at: document.keyAt,
    templateAt: path => textAt(templates, path),
  };
}

/**
 * The configuration, and everything wrong in it: rules between keys are looked at once what is wrong by itself is out of the
 * way. Undefined where that leaves nothing to go on with.
 */
function parseAll(values: unknown): { readonly data?: EffectiveConfig; readonly issues: readonly z.core.$ZodIssue[] } {
  const issues: z.core.$ZodIssue[] = [];
  const gone: (readonly PropertyKey[])[] = [];
  const rest = structuredClone(values);
  for (let round = 0; round < 4; round++) {
    const { data, error } = configSchema.safeParse(rest);
    if (data !== undefined) return { data, issues };
    // A rule may fail only because the value it needs was taken out before.
    const touches = (one: readonly PropertyKey[]) => (other: readonly PropertyKey[]) =>
      other.every((part, at) => at >= one.length || one[at] === part);
    issues.push(...error.issues.filter(({ path }) => !gone.some(touches(path))));
    for (const issue of error.issues) {
      const keys = issue.code === "unrecognized_keys" ? issue.keys.map(key => [...issue.path, key]) : [issue.path];
      // If a rule still fails, everything below its top-level key is taken out.
      gone.push(...keys.map(path => (round < 2 ? path : path.slice(0, 1))));
    }
    for (const path of gone) takeOut(rest, path);
  }
  return { issues };
}

/** A list is taken out as a whole: without one of its elements it would mean something else. */
function takeOut(values: unknown, path: readonly PropertyKey[]): void {
  const list = path.findIndex(part => typeof part === "number");
  const whole = list < 0 ? path : path.slice(0, list);
  const holder = valueAt(values, whole.slice(0, -1));
  if (typeof holder === "object" && holder !== null) delete (holder as Record<PropertyKey, unknown>)[whole.at(-1)!];
}

/** A configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /** The file as it was named, for messages. */
  readonly file: string;
  /** The files that `${file:…}` names, and the `.env` beside the configuration, absolute. */
  readonly mounted: readonly string[];
  /** Everything that must not be written anywhere; it grows when a key is refreshed. */
  readonly secrets: readonly string[];
  /** Settings that are valid and have no effect, each with the reason. */
  readonly warnings: readonly Message[];
  /** The same configuration in the file's own shape, defaults filled in, secrets NOT masked. */
  readonly effective: Readonly<Record<string, unknown>>;
  /** `file:line:column a.b` of a key, or of the nearest key above it that the file holds. */
  readonly at: (path: readonly (string | number)[]) => string;
  /** The text at a path as the file has it, before `${…}` was replaced. */
  readonly templateAt: (path: readonly string[]) => string | undefined;
}

function textAt(values: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(values, path);
  return typeof found === "string" ? found : undefined;
}

/** Whether a key of `destination` is one that not all types have. */
const isOfType = (key: string): boolean =>
  Object.values<readonly string[]>(DESTINATION_KEYS).some(keys => keys.includes(key));

/** Leaves out keys without effect: those of other types, and `company` beside `companies`. */
function withoutIdle({ company, companies, api, destination, ...others }: EffectiveConfig): Record<string, unknown> {
  const own: readonly string[] = DESTINATION_KEYS[destination.type];
  const kept = Object.entries(destination).filter(([key]) => own.includes(key) || !isOfType(key));
  const ownLast = kept.toSorted(([a], [b]) => own.indexOf(a) - own.indexOf(b));
  return {
    ...(companies === undefined ? { company } : { companies }),
    api,
    destination: Object.fromEntries(ownLast),
    ...others,
  };
}

/** Beside the configuration: variables that need not be in the environment. */
export const ENV_FILE = ".env";

async function envFile(path: string): Promise<NodeJS.ProcessEnv | undefined> {
  try {
    return parseEnv(await readFile(path, "utf8"));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return undefined;
    throw new ConfigError(configMessages.unreadable_env_file({ path, reason: String(code) }), cause);
  }
}

async function configText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new ConfigError(configMessages.no_file({ file }), cause);
    throw new ConfigError(configMessages.unreadable_file({ file, reason: String(code) }), cause);
  }
}

function unusable(faults: readonly Fault[], others: readonly Message[], secrets: readonly string[]): ConfigError {
  const redact = createRedactor(secrets);
  // A value that could not be replaced is also missing for the schema: that is one fault.
  const firsts = faults.filter(({ where }, index) => faults.findIndex(other => other.where === where) === index);
  const inOrder = firsts.sort((a, b) => a.where.localeCompare(b.where, "en", { numeric: true }));
  const own = inOrder.map(fault => ({ where: fault.where, ...redactMessage(fault, redact) }));
  return new ConfigError(
    configMessages.unusable({ faults: [...own, ...others.map(other => redactMessage(other, redact))] }),
  );
}

function warningsOf({ api, companies, destination }: EffectiveConfig): Message[] {
  const warnings: Message[] = [];
  const own: readonly string[] = DESTINATION_KEYS[destination.type];
  for (const key of ["url", "grant_select_to", "catalog", "data_path", "extensions"] as const) {
    if (destination[key] === undefined || own.includes(key)) continue;
    const entries = Object.entries<readonly string[]>(DESTINATION_KEYS);
    const types = entries.filter(([, keys]) => keys.includes(key)).map(([type]) => type);
    warnings.push(configMessages.key_without_effect({ key, type: destination.type, types }));
  }
  const addresses = [api.base_url, ...(companies ?? []).map(company => company.base_url)];
  for (const address of new Set(addresses.filter(each => each !== undefined))) {
    const { protocol, hostname } = new URL(address);
    if (protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
      warnings.push(configMessages.unencrypted_key({ host: hostname }));
    }
  }
  return warnings;
}
