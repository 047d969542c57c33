import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { meanings } from "../../streams/meanings.ts";
import { type Models, parseModel } from "../catalog/model.ts";
import type { Stream } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
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

/** The streams as a configuration has them: all, those that are on, and the names of those of which every version of a row is kept. */
export async function configuredStreams(config: Config) {
  const { streams } = await import("../../streams/index.ts");
  const { configured } = await import("../privacy/configured_catalog.ts");
  const { selectedByConfig, versionedBy } = await import("../config/selection.ts");
  const catalogue = configured(streams, config);
  const on = selectedByConfig(catalogue, config.streams);
  return { catalogue, on, versioned: versionedBy(catalogue, config.streams) };
}

/** The tables of streams as a configuration has them made, and the views beside those of the catalogue. */
export async function warehouseOrder(
  config: Config,
  models: Models,
  has: Omit<Awaited<ReturnType<typeof configuredStreams>>, "on"> & { readonly streams: readonly Stream[] },
) {
  const { viewsOf } = await import("../sync/run/preparation.ts");
  const { tableOrder, viewOrder } = await import("../warehouse/schema/prepare_warehouse.ts");
  const { destination } = config;
  return {
    ...tableOrder(destination, { ...has, grantSelectTo: destination.grantSelectTo }),
    views: viewOrder(destination, has.catalogue, viewsOf({ config, models })),
  };
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
