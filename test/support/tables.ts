import type { Stream } from "../../src/catalog/stream.ts";
import type { Warehouse } from "./warehouse.ts";

/** Every row of every table of the streams as text, by `table|key`: what two moments are compared by. */
export async function contents(warehouse: Warehouse, streams: readonly Stream[]): Promise<Map<string, string>> {
  return warehouse.look(async view => {
    const all = new Map<string, string>();
    for (const table of streams.flatMap(stream => [stream.tables.main, ...stream.tables.children])) {
      const rows = await view.query(`select * from procurement.${table.name}`);
      for (const row of rows)
        all.set(`${table.name}|${table.key.map(name => row[name]).join("|")}`, JSON.stringify(row));
    }
    return all;
  });
}

/** The keys of `contents` that are new, changed or gone. */
export function difference(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter(key => before.get(key) !== after.get(key)).sort();
}
