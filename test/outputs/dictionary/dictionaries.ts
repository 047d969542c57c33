import { readMadeColumns, readModels } from "../../../src/library/connector.ts";
import { type Dictionary, dictionaryOf } from "../../../src/outputs/dictionary/dictionary.ts";
import { describeStreams } from "../../../src/outputs/dictionary/stream_description.ts";
import type { WarehouseSample } from "../../../src/outputs/dictionary/warehouse_sample.ts";
import { analyticsSchema } from "../../../src/warehouse/views/view.ts";
import { groups, streams } from "../../../streams/index.ts";
import { noRelations, relationsOf } from "../../../streams/relations.ts";

/** The dictionary of everything there can be; `off`: streams that are off. */
export async function wholeDictionary(off: readonly string[] = [], sample?: WarehouseSample): Promise<Dictionary> {
  const on = new Set(streams.map(({ name }) => name).filter(name => !off.includes(name)));
  const described = describeStreams(groups, streams, on);
  return dictionaryOf({
    schemas: { data: "procurement", views: analyticsSchema("procurement"), state: "_tributary" },
    streams: described,
    models: (await readModels()).models,
    made: await readMadeColumns(),
    selects: new Map([["three_way_match", "select 1"]]),
    relations: relationsOf(streams),
    apart: noRelations,
    versioned: new Set(["items"]),
    sample,
  });
}

/** Little of it, but of everything: some subjects with their first tables and columns, for what looks at every element of a page. */
export function smaller(dictionary: Dictionary, ...titles: readonly string[]): Dictionary {
  const domains = dictionary.domains
    .filter(({ title }) => titles.includes(title))
    .map(domain => ({
      ...domain,
      tables: domain.tables
        .slice(0, 3)
        .map(table => ({ ...table, own: table.own.slice(0, 4), out: [], in: table.in.slice(0, 2) })),
    }));
  const names = new Set(domains.flatMap(({ tables }) => tables.map(({ name }) => name)));
  const models = dictionary.models
    .slice(0, 2)
    .map(model => ({ ...model, needs: [...names], optional: [], missing: "It is not made." }));
  const state = dictionary.state.slice(0, 2).map(entry => ({ ...entry, columns: entry.columns.slice(0, 3) }));
  const links = dictionary.links.filter(({ from, to }) => names.has(from) && names.has(to));
  return { ...dictionary, domains, models, state, links };
}
