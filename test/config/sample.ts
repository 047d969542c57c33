import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedConfig } from "../../src/config/load.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/errors.ts";

/** A new folder with `config.yaml` in it; the path of that file. */
export function writeConfig(yaml: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "config-")), "config.yaml");
  writeFileSync(file, yaml);
  return file;
}

export const sampleEnv = { PROCUREMENT_API_KEY: "key-from-the-environment" };

/** Loads a configuration's text. */
export async function load(yaml: string, env: NodeJS.ProcessEnv = sampleEnv): Promise<LoadedConfig> {
  return loadConfig(writeConfig(yaml), env);
}

/** The message a configuration is refused with, its folder left away; fails when it is accepted. */
export async function refusal(yaml: string, env: NodeJS.ProcessEnv = sampleEnv): Promise<string> {
  const file = writeConfig(yaml);
  const error: unknown = await loadConfig(file, env).then(
    () => new Error(`accepted:\n${yaml}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError) || error.exitCode !== 2) throw error;
  return error.message.replaceAll(file, "config.yaml");
}
