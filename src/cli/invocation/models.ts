import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { meanings } from "../../../streams/meanings.ts";
import { type Models, parseModel } from "../../catalog/model.ts";
import { packageRoot } from "../../package_root.ts";

/** The names that the files in `models/` call the schemas by: the configuration's defaults. */
const writtenFor = { schema: "procurement", stateSchema: "_tributary" } as const;

/** Reads `models/*.sql` of this program. @throws TypeError for one that isn't written as models are */
export async function readModels(folder = join(packageRoot(), "models")): Promise<Models> {
  const files = (await readdir(folder)).filter(name => name.endsWith(".sql")).sort();
  const texts = await Promise.all(files.map(file => readFile(join(folder, file), "utf8")));
  return { models: files.map((file, at) => parseModel(file.slice(0, -4), texts[at]!)), meanings, writtenFor };
}
