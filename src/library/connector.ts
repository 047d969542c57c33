import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { meanings } from "../../streams/meanings.ts";
import { type Models, parseModel } from "../catalog/model.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import type { MadeColumns } from "../outputs/dictionary/lineage.ts";
import { packageRoot, packageVersion } from "../package_root.ts";
import type { RunDefaults } from "../sync/run/run_order.ts";

/** The names that the files in `models/` call the schemas by: the configuration's defaults. */
const writtenFor = { schema: "procurement", stateSchema: "_tributary" } as const;

/** Reads `models/*.sql` of this program. @throws TypeError for one that isn't written as models are */
export async function readModels(folder = join(packageRoot(), "models")): Promise<Models> {
  const files = (await readdir(folder)).filter(name => name.endsWith(".sql")).sort();
  const texts = await Promise.all(files.map(file => readFile(join(folder, file), "utf8")));
  return { models: files.map((file, at) => parseModel(file.slice(0, -4), texts[at]!)), meanings, writtenFor };
}

/** What is known of the models' columns, which `npm run generate` reads out of their selects. */
export const readMadeColumns = async (): Promise<MadeColumns> =>
  JSON.parse(await readFile(join(packageRoot(), "models/columns.json"), "utf8"));

/** What every run is given of the streams and models that this package is made for, whatever starts it. */
export async function runDefaults(): Promise<RunDefaults> {
  const { streams } = await import("../../streams/index.ts");
  const { identityEndpoint } = await import("../../streams/identity.ts");
  const { relationsOf } = await import("../../streams/relations.ts");
  const models = await readModels();
  return { version: packageVersion(), catalogue: streams, models, relations: relationsOf, identity: identityEndpoint };
}

/** Loads a configuration and holds it against the streams. @throws ConfigError */
export async function loadFor(
  source: Parameters<typeof loadConfig>[0],
  env: NodeJS.ProcessEnv,
  how?: { readonly local?: boolean },
): Promise<LoadedConfig> {
  const { catalogueFaults } = await import("../privacy/configured_catalog.ts");
  const { streams } = await import("../../streams/index.ts");
  return loadConfig(source, env, { ...how, further: read => catalogueFaults(streams, meanings, read) });
}
