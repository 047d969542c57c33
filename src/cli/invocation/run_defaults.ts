import type { RunDefaults } from "../../daemon/schedule/order.ts";
import { packageVersion } from "../../package_root.ts";
import { readModels } from "./models.ts";

/** What every run of this program is given, whatever starts it. */
export async function runDefaults(): Promise<RunDefaults> {
  const { streams } = await import("../../../streams/index.ts");
  const { identityEndpoint } = await import("../../../streams/identity.ts");
  const { relationsOf } = await import("../../../streams/relations.ts");
  const models = await readModels();
  return { version: packageVersion(), catalogue: streams, models, relations: relationsOf, identity: identityEndpoint };
}
