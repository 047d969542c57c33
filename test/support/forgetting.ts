import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Stream } from "../../src/catalog/stream.ts";
import type { Clock } from "../../src/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { reset } from "../../src/operations/reset.ts";
import { temporaryFolder } from "../source/archive/folder.ts";
import type { Warehouse } from "./warehouse.ts";

/** `tributary reset` of acme's streams, with `drop` of their rows as well. */
export async function forget(
  { warehouse, clock }: { readonly warehouse: Warehouse; readonly clock: Clock },
  catalogue: readonly Stream[],
  names: readonly string[],
  { drop = false, streams = {} }: { readonly drop?: boolean; readonly streams?: object } = {},
): Promise<void> {
  const file = join(await temporaryFolder(), "config.yaml");
  const api = { base_url: "http://127.0.0.1:9", key: "k-of-nobody" };
  await writeFile(file, JSON.stringify({ company: "acme", api, streams, destination: warehouse.destination }));
  const { config } = await loadConfig(file, {});
  await reset(
    { config, catalogue, names, companies: ["acme"], drop },
    { runId: "reset", clock, waitMs: 0, version: "1.0.0" },
  );
}
