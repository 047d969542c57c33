import { tmpdir } from "node:os";
import { select } from "../../../src/config/selection.ts";
import type { ExportReport } from "../../../src/outputs/export/export.ts";
import {
  type ExportOptions,
  type ExportOrder,
  type ExportTools,
  makeExport,
} from "../../../src/outputs/export/export.ts";
import { placeOf } from "../../../src/outputs/export/place.ts";
import { exportResources } from "../../../src/warehouse/connect/exporting.ts";
import type { Where } from "../../../src/warehouse/connect/open.ts";
import { openReading } from "../../../src/warehouse/connect/reading.ts";
import type { Exportable } from "../../../src/warehouse/parquet_source.ts";
import { streams } from "../../../streams/index.ts";
import { type StillClock, stillClock } from "../../support/clock.ts";
import type { Warehouse } from "../../support/warehouse.ts";

/** What a test says about an export; the rest is the command's defaults. */
export type Asked = Partial<ExportOptions> &
  Partial<Pick<ExportOrder, "privacy" | "on">> & {
    readonly tools?: Partial<ExportTools>;
    readonly clock?: StillClock;
    /** Before each table's rows are copied out of PostgreSQL. */
    readonly beforeCopy?: () => Promise<void>;
  };

export const whereIs = ({ destination }: Pick<Warehouse, "destination">): Where => {
  const common = { schema: "procurement", stateSchema: "_tributary" };
  const { type, url, path, readers, catalog, data_path, extensions } = destination as Record<string, string>;
  if (type === "postgres") return { ...common, type, url: url!, grantSelectTo: [] };
  if (type === "duckdb") return { ...common, type, path: path!, readers: readers as "direct", keepVersions: 2 };
  const place = {
    catalog: catalog!,
    catalogSchema: "ducklake",
    dataPath: data_path!,
    storage: { urlStyle: "vhost" } as const,
  };
  return {
    ...{ ...common, ...place, type: "ducklake", grantSelectTo: [], keepSnapshotsMs: 30 * 86_400_000 },
    extensions,
  };
};

const defaults: ExportOptions = {
  streams: [],
  partition_by: [],
  company: null,
  live: false,
  keep: 2,
};

export const toolsOf = (clock: StillClock = stillClock()): ExportTools => ({
  ...{ clock, signal: new AbortController().signal },
  log: { info: () => undefined },
  watch: () => undefined,
});

/** Exports a warehouse as the command does. */
export async function exported(
  warehouse: Pick<Warehouse, "destination">,
  out: string,
  asked: Asked = {},
): Promise<ExportReport> {
  const { privacy = "", on = new Set<string>(), tools, clock = stillClock(), beforeCopy, ...options } = asked;
  const place = await placeOf(out, tmpdir());
  const reading = await openReading(whereIs(warehouse), exportResources(place.room));
  if (reading === undefined) throw new Error("expected a warehouse with something in it");
  const all = { ...defaults, ...options };
  const order: ExportOrder = {
    ...{ place, privacy, on, catalogue: streams, options: all, version: "0.0.0" },
    named: select(streams, streams, all.streams).named,
  };
  try {
    const { copyOut } = reading;
    const copying: Exportable["copyOut"] = async (query, take) => {
      await beforeCopy?.();
      await copyOut?.(query, take);
    };
    const from = copyOut === undefined ? reading : { ...reading, copyOut: copying };
    return await makeExport(from, order, { ...toolsOf(clock), ...tools });
  } finally {
    await reading.close();
  }
}
