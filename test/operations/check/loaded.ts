import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { LoadedConfig } from "../../../src/config/load.ts";
import { loadConfig } from "../../../src/config/load.ts";

/** A configuration with these keys, as `check` is given it. */
export async function loaded(keys: Readonly<Record<string, unknown>>): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-check-"));
  const file = join(folder, "config.yaml");
  await writeFile(file, stringify({ api: { base_url: "https://service.invalid", key: "key-of-the-test" }, ...keys }));
  try {
    return await loadConfig(file, {});
  } finally {
    await rm(folder, { recursive: true });
  }
}
