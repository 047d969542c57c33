import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../../simulator/simulator.ts";
import {
  type UploadEvent,
  type UploadedFile,
  type UploadOrder,
  type UploadTools,
  uploadFiles,
} from "../../../src/operations/upload/upload.ts";
import type { RunTools } from "../../../src/sync/run/run_order.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { streams } from "../../../streams/index.ts";
import { relationsOf } from "../../../streams/relations.ts";
import { uploads as flow } from "../../../streams/uploads.ts";
import { hastyClock } from "../../source/clocks.ts";
import { silentLog } from "../../support/log.ts";
import { models } from "../../support/models.ts";
import { configOf } from "../../support/run.ts";
import type { Warehouse } from "../../support/warehouse.ts";

export const secretKey = "sk-neverShown+71/z";

/** A service, a warehouse and a folder of files to send. */
export interface Place {
  readonly simulator: Simulator;
  readonly warehouse: Warehouse;
  readonly folder: string;
  readonly tools: RunTools;
  /** Writes a file and answers its path. */
  file(name: string, content?: string): string;
  order(more?: Partial<UploadOrder>): Promise<UploadOrder>;
  send(files: readonly string[], more?: Partial<UploadOrder & UploadTools>): Promise<readonly UploadedFile[]>;
  /** The ledger. */
  ledger(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export async function placeOf(
  making: Promise<Warehouse>,
  options: SimulatorOptions = {},
  config: Readonly<Record<string, unknown>> = {},
): Promise<Place> {
  const warehouse = await making;
  const clock = hastyClock(Date.parse("2026-03-15T12:00:00Z"));
  const sizes = { orders: 3, invoices: 3, items: 3, findings: 3, ingested: 10 };
  const simulator = await startSimulator({ key: secretKey, sizes, now: () => new Date(clock.now()), ...options });
  onTestFinished(() => simulator.close());
  const folder = mkdtempSync(join(tmpdir(), "tributary-upload-"));
  const tools: RunTools = {
    ...{ clock, random: Math.random, log: silentLog },
    ...{ signal: new AbortController().signal, redact: text => text, watch: () => undefined },
  };
  const order = async (more: Partial<UploadOrder> = {}): Promise<UploadOrder> => {
    const read = await configOf(simulator, warehouse, config);
    return {
      ...{
        config: read,
        company: read.companies[0]!,
        flow,
        version: "0.1.0",
        catalogue: streams,
        models,
      },
      ...{ relations: relationsOf, identity: identityEndpoint, files: [], contentType: undefined, again: false },
      guarded: [],
      ...{ lockWaitMs: 0, ...more },
    };
  };
  return {
    ...{ simulator, warehouse, folder, tools, order },
    file(name, content = `content of ${name}`) {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    async send(files, more = {}) {
      const {
        tell = (_: UploadEvent) => undefined,
        warn = () => undefined,
        signal = tools.signal,
        clock: own = clock,
      } = more;
      return uploadFiles(await order({ ...more, files }), { ...tools, tell, warn, signal, clock: own });
    },
    ledger: () => warehouse.query('select * from "_tributary".uploads order by file_name, nth'),
  };
}

export const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

/** By content the documents that the service made of it. */
export function documentsAt(simulator: Simulator): ReadonlyMap<string, readonly string[]> {
  const made = new Map<string, string[]>();
  for (const { sha256: hash, documents } of simulator.uploads.all)
    if (hash !== undefined) made.set(hash, [...(made.get(hash) ?? []), ...documents]);
  return made;
}
