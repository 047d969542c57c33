import { detailsOf, type Stream } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
import { expand, selectedByConfig } from "../config/selection.ts";
import { ConfigError } from "../errors.ts";
import { configured } from "../privacy/configured_catalog.ts";
import { asDue } from "../sync/context.ts";
import { childStreamOf } from "../sync/load/child_streams.ts";
import { fromService } from "../sync/run/jobs.ts";
import type { RunOrder } from "../sync/run/run_order.ts";
import type { Destination } from "../warehouse/destination.ts";
import { keysOfLive } from "../warehouse/details/work_list.ts";
import { refreshMessages } from "./messages.ts";

/** Rows of a list, each by the text of the list's first key column, as `parent_key` of the detail state has it. */
export interface NamedRows {
  readonly list: string;
  readonly keys: readonly string[];
}

const TOLD = 20;

/**
 * A run that fetches all details of these rows, and nothing else. `isHint`: a row may be so new that no sync has brought it; else
 * the run refuses keys of which no row has one. @throws ConfigError for rows that have no details
 */
export function refreshOrder(
  order: Omit<RunOrder, "selection" | "refresh" | "source">,
  rows: NamedRows,
  company: string | undefined,
  isHint = false,
): RunOrder {
  const details = detailsOfRows(order.catalogue, order.config, rows);
  const keys = [...new Set(rows.keys)];
  return {
    ...order,
    selection: { names: details, named: [], company },
    refresh: { ...asDue, only: keys },
    source: {
      ...fromService,
      async begin(destination, companies, catalogue) {
        const unknown = await unknownAmong(destination, companies, catalogue, { list: rows.list, keys });
        if (unknown.length === 0) return [];
        const told = unknown.slice(0, TOLD);
        const message = refreshMessages.unknown_keys({
          list: rows.list,
          keys: told,
          more: unknown.length - told.length,
        });
        if (unknown.length === keys.length && !isHint) throw new ConfigError(message);
        return [message];
      },
    },
  };
}

/** The details that are on and asked for row by row with the rows of a list. @throws ConfigError where it is no list with such details, or keys are no keys */
export function detailsOfRows(
  catalogue: readonly Stream[],
  config: Config,
  { list, keys }: NamedRows,
): readonly string[] {
  const odd = keys.find(key => !/^[^\p{Cc}\p{Cs}]+$/u.test(key));
  if (odd !== undefined) throw new ConfigError(refreshMessages.unfit_key({ key: odd }));
  const all = configured(catalogue, config);
  const details = detailsOf(all, listNamed(all, list)).map(({ name }) => name);
  if (details.length === 0) {
    const lists = all.filter(stream => detailsOf(all, stream).length > 0).map(({ name }) => name);
    throw new ConfigError(refreshMessages.no_details({ stream: list, lists }));
  }
  const on = new Set(selectedByConfig(all, config.streams).map(({ name }) => name));
  const wanted = details.filter(name => on.has(name));
  if (wanted.length > 0) return wanted;
  throw new ConfigError(refreshMessages.details_off({ list, details }));
}

function listNamed(all: readonly Stream[], list: string): Stream {
  const stream = all.find(({ name }) => name === list);
  if (stream === undefined) {
    expand(all, [list], "refresh");
    throw new ConfigError(refreshMessages.several_lists({ names: list }));
  }
  const { mode } = stream;
  if (mode.kind !== "detail") return stream;
  throw new ConfigError(refreshMessages.not_a_list({ stream: list, of: mode.of, by: mode.by }));
}

/** Those keys that no live row has. */
async function unknownAmong(
  destination: Destination,
  companies: readonly string[],
  catalogue: readonly Stream[],
  { list, keys }: NamedRows,
): Promise<readonly string[]> {
  const stream = catalogue.find(({ name }) => name === list)!;
  const parents = {
    kind: "rows",
    only: undefined,
    ...childStreamOf(detailsOf(catalogue, stream)[0]!, stream),
    tables: stream.tables,
  } as const;
  const known = new Set<string>();
  for (const company of companies)
    for (const key of await keysOfLive(destination, company, parents, keys)) known.add(key);
  return keys.filter(key => !known.has(key));
}
