import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMap, isScalar, parseDocument } from "yaml";
import type { LoadedConfig } from "../../src/config/load.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/errors.ts";
import type { Message } from "../../src/message.ts";

/** A new folder with `config.yaml` in it; the path of that file. */
export function writeConfig(yaml: string): string {
  return writeText(withAddress(yaml));
}

const address = "base_url: https://procurement.example.com";

/** The one key that has no default, where the text leaves it out; the lines before it stay what they are. */
export function withAddress(yaml: string): string {
  const document = parseDocument(yaml);
  const { contents, errors } = document;
  if (yaml.includes("base_url") || errors.length > 0 || !(contents === null || isMap(contents))) return yaml;
  if (contents?.has("api") !== true) return `${yaml.replace(/\n?$/, "\n").trimStart()}api: { ${address} }\n`;
  const api = contents.get("api", true);
  if (!isMap(api)) return isScalar(api) && api.value === null ? yaml.replace(/^api:/m, `api: { ${address} }`) : yaml;
  const [from, end] = api.range!;
  if (api.flow === true) return `${yaml.slice(0, from + 1)} ${address}, ${yaml.slice(from + 1)}`;
  const indent = " ".repeat(from - yaml.lastIndexOf("\n", from) - 1);
  return `${yaml.slice(0, end).trimEnd()}\n${indent}${address}\n${yaml.slice(end)}`;
}

function writeText(yaml: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "config-")), "config.yaml");
  writeFileSync(file, yaml);
  return file;
}

export const sampleEnv = { PROCUREMENT_API_KEY: "key-from-the-environment" };

/** Loads a configuration's text. */
export async function load(yaml: string, env: NodeJS.ProcessEnv = sampleEnv): Promise<LoadedConfig> {
  return loadConfig(writeConfig(yaml), env);
}

/** The sentence a configuration is refused with, its folder left away; fails when it is accepted. */
export async function refusal(yaml: string, env: NodeJS.ProcessEnv = sampleEnv): Promise<string> {
  return (await refused(yaml, env)).message;
}

/** The message that a configuration is refused with, its folder left away; fails when it is accepted. */
export async function refused(yaml: string, env: NodeJS.ProcessEnv = sampleEnv): Promise<Message> {
  const file = writeConfig(yaml);
  const error: unknown = await loadConfig(file, env).then(
    () => new Error(`accepted:\n${yaml}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError) || error.exitCode !== 2) throw error;
  const { code, message, fields } = error;
  return JSON.parse(JSON.stringify({ code, message, fields }).replaceAll(file, "config.yaml")) as Message;
}
