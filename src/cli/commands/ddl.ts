import type { Config } from "../../config/config.ts";
import { flag, type Given } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";

const own = { for_dba: flag("only what needs more rights than the run's role has") };

type DdlOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Print the SQL that makes the warehouse of the configuration. A sync runs it by itself where its role may.",
  options: [own, "config", "log"],
  examples: ["tributary ddl > warehouse.sql", "tributary ddl --for-dba | psql --dbname=warehouse"],
  run: ddl,
});

async function ddl(options: DdlOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  // Not redacted: it holds no secrets, and a name that equals a secret has to stay.
  context.stdout.write(`${(await script(config, options.forDba ?? false)).trimEnd()}\n`);
}

async function script(config: Config, forDba: boolean): Promise<string> {
  const { destination } = config;
  const { dbaScript, ddlScript } = await import("../../warehouse/schema/ddl_script.ts");
  const { dialectOf, roleOf, schemasOf } = await import("../../warehouse/connect/open.ts");
  if (forDba) {
    const schemas = schemasOf(destination, { views: config.views !== false, workers: config.workers !== undefined });
    return dbaScript({ ...(await roleOf(destination)), schemas });
  }
  const { configuredStreams, readModels, warehouseOrder } = await import("../../library/connector.ts");
  const { on: streams, ...others } = await configuredStreams(config);
  return ddlScript(dialectOf(destination), await warehouseOrder(config, await readModels(), { ...others, streams }));
}
