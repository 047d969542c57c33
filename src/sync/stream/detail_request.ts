import { snakeCase } from "../../catalog/columns.ts";
import { type Detail, fixedPaths, pathParameters, type Stream } from "../../catalog/stream.ts";
import type { Parents } from "../../warehouse/details/parents.ts";
import type { WorkRequest } from "../../warehouse/details/work_list.ts";
import type { SyncContext } from "../context.ts";
import type { DetailRequest } from "../extract/details.ts";
import { parentsOf } from "../load/child_streams.ts";

const DAY_MS = 86_400_000;
/** The share of unchanged details that is looked at where the rest of a limit would be, and there is no limit. */
const WITHOUT_LIMIT = 0.02;

export function parameterColumns(stream: Stream, mode: Detail): Record<string, string> {
  const columnOf = (name: string) => mode.by ?? mode.param?.[name] ?? snakeCase(name);
  return Object.fromEntries(pathParameters(stream.path).map(name => [name, columnOf(name)]));
}

/** How details are asked for, by the columns of their parents. */
export function detailRequest(
  stream: Stream,
  mode: Detail,
  parents: Parents,
  catalogue: readonly Stream[],
): Omit<DetailRequest, "priority"> {
  const keys = parents.kind === "values" ? { [stream.key[0]!]: mode.by! } : Object.fromEntries(parents.on);
  return { stream, mode, columns: parameterColumns(stream, mode), keys, siblings: fixedPaths(catalogue) };
}

export const columnsFor = ({ columns, keys }: Pick<DetailRequest, "columns" | "keys">): readonly string[] => [
  ...new Set([...Object.values(columns), ...Object.values(keys)]),
];

/** What decides which details are due, but for what a run under way has asked for. */
export function workRequest(
  context: Pick<SyncContext, "company" | "clock"> & {
    readonly streams: Pick<SyncContext["streams"], "catalogue">;
    readonly policy: Pick<SyncContext["policy"], "start" | "to" | "allDetails" | "only" | "ofStream">;
  },
  stream: Stream,
  mode: Detail,
): WorkRequest {
  const { catalogue } = context.streams;
  const { details, maxDetails } = context.policy.ofStream(stream.name);
  const { start, to, allDetails, only } = context.policy;
  const parents = parentsOf(catalogue, stream, mode);
  return {
    company: context.company,
    stream: stream.name,
    parents,
    columns: columnsFor(detailRequest(stream, mode, parents, catalogue)),
    open: mode.open,
    newest: mode.newest,
    start,
    to,
    only,
    audit: details.audit === "rest" ? WITHOUT_LIMIT : details.audit,
    fresh: details.fresh,
    everyMs: details.refreshMs ?? (mode.everyDays === undefined ? undefined : mode.everyDays * DAY_MS),
    force: allDetails || only !== undefined,
    limit: only === undefined ? maxDetails : undefined,
    now: new Date(context.clock.now()).toISOString(),
  };
}
