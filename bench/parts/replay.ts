import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { type Figure, type Load, median, type Warehouse } from "../figure.ts";
import type { Laboratory, Part } from "../laboratory.ts";
import { inTurns } from "../rounds.ts";
import { type Service, startService } from "../service.ts";
import { bytesIn, makeWarehouse } from "../warehouse.ts";

const ROWS = 200_000;

/** First loads of one list without and with an archive, and one from that archive. */
interface Round {
  readonly direct: Load;
  readonly archiving: Load;
  readonly replayed: Load;
  readonly archiveBytes: number;
}

/** A warehouse loaded from the archive alone, to the same first load from the service; and what keeping the archive costs. */
export const replay: Part = {
  name: "replay",
  async measure(laboratory) {
    const rows = laboratory.size(ROWS);
    const service = await startService({ sizes: { items: rows } });
    const what = `${rows.toLocaleString("en-US")} rows`;
    const rounds = await inTurns(laboratory, what, warehouse => roundOf(laboratory, warehouse, service, rows)).finally(
      () => service.close(),
    );
    return laboratory.warehouses.flatMap(warehouse => figuresOf(warehouse, rounds.get(warehouse)!));
  },
};

async function roundOf(laboratory: Laboratory, warehouse: Warehouse, service: Service, rows: number): Promise<Round> {
  const path = await mkdtemp(join(laboratory.folder, "archive-"));
  const archive = { archive: { path } };
  // Each in a new warehouse: all three begin with nothing.
  const load = async (job: string, command: "sync" | "replay", config: Readonly<Record<string, unknown>>) => {
    const place = await makeWarehouse(laboratory, warehouse, service, config);
    try {
      const { load, streams } = await place.run(`${warehouse} ${job}`, [command, "items"]);
      const items = streams.get("items");
      if (items?.inserted !== rows) throw new Error(`${job}: expected ${rows} inserted, got ${JSON.stringify(items)}`);
      return load;
    } finally {
      await place.remove();
    }
  };
  const direct = await load("first load without an archive", "sync", {});
  const archiving = await load("first load with an archive", "sync", archive);
  await service.requests();
  const replayed = await load("replay", "replay", archive);
  const { counts } = await service.requests();
  if (Object.keys(counts).length > 0) throw new Error(`replay: expected no request, got ${JSON.stringify(counts)}`);
  return { direct, archiving, replayed, archiveBytes: await bytesIn(path, name => name.endsWith(".zst")) };
}

function figuresOf(warehouse: Warehouse, rounds: readonly Round[]): Figure[] {
  const { rows, bytes } = rounds[0]!.archiving;
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const byCpu = (job: "archiving" | "replayed") =>
    rounds.map(round => round[job]).toSorted((a, b) => a.cpuMs - b.cpuMs)[rounds.length >> 1]!;
  const direct = middle(round => round.direct.cpuMs) / rows;
  const speed = (job: "direct" | "replayed") => middle(round => (1000 * rows) / round[job].wallMs);
  const base = { part: "replay", warehouse } as const;
  return [
    {
      ...{ ...base, unit: "ms", load: byCpu("replayed") },
      figure: "replay, CPU a row",
      measured: middle(round => round.replayed.cpuMs) / rows,
      against: { what: "first load", value: direct },
    },
    {
      ...{ ...base, unit: "rows/s" },
      figure: "replay, rows a second",
      measured: speed("replayed"),
      against: { what: "first load", value: speed("direct") },
    },
    {
      ...{ ...base, unit: "ms", load: byCpu("archiving") },
      figure: "first load with an archive, CPU a row",
      measured: middle(round => round.archiving.cpuMs) / rows,
      against: { what: "without", value: direct },
    },
    {
      ...{ ...base, unit: "ms" },
      figure: "archive, CPU added a row",
      measured: middle(round => round.archiving.cpuMs - round.direct.cpuMs) / rows,
    },
    {
      ...{ ...base, unit: "bytes" },
      figure: "archive, bytes a row",
      measured: middle(round => round.archiveBytes) / rows,
      against: { what: "as it came", value: bytes / rows },
    },
  ];
}
