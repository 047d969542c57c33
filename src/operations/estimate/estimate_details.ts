import type { Detail, Stream } from "../../catalog/stream.ts";
import { valueAt } from "../../rows/encode_value.ts";
import { besideRows } from "../../sync/extract/rows_in_answer.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { workRequest } from "../../sync/stream/details.ts";
import { liveCount } from "../../warehouse/ddl/present_tables.ts";
import { countWork } from "../../warehouse/details/work_list.ts";
import { loadStateUnder } from "../../warehouse/state/formats_record.ts";
import type { EstimateContext, Guess } from "./context.ts";

/** Details that are due by the warehouse; where nothing is loaded yet, as many as the list has rows or values. */
export async function estimateDetails(context: EstimateContext, stream: Stream, mode: Detail): Promise<Guess> {
  const { order, tools, catalogue, reading, company, listed } = context;
  const parent = catalogue.find(other => other.name === mode.of);
  const { maxDetails } = policyOf(order.config, stream.name);
  const limited = (count: number): number => Math.min(count, maxDetails ?? count);
  const own = reading === undefined ? undefined : await liveCount(reading, company.name, stream.tables);
  if (
    reading !== undefined &&
    own !== undefined &&
    parent !== undefined &&
    (await liveCount(reading, company.name, parent.tables))
  ) {
    const { mixedFormats } = await loadStateUnder(reading.db, company.name, stream.name, order.config.formats);
    const request = { ...workRequest(contextOf(context), stream, mode), otherFormats: mixedFormats };
    const counts = await countWork(reading, request);
    const due = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const reasons = Object.entries(counts).filter(([, count]) => count > 0);
    const inWords = (reason: string) => (reason === "formats" ? "as formats changed since they were read" : reason);
    const told = reasons.map(([reason, count]) => `${count} ${inWords(reason)}`).join(", ") || "none is due";
    const why = `${told}; those of rows that turn out new or changed come on top`;
    return { requests: limited(due), atLeast: limited(due) !== maxDetails, why };
  }
  const known = listed.get(mode.of);
  if (known === undefined) return { requests: 0, atLeast: true, why: `${mode.of} is not loaded yet` };
  const start = order.config.streams.start === undefined ? "" : `, fewer because of streams.start`;
  if (mode.by === undefined && mode.only === undefined)
    return { requests: limited(known.count), atLeast: known.atLeast, why: `one for each row of ${mode.of}${start}` };
  const found = parent === undefined ? 0 : askedOf(parent, mode, known.rows);
  const what = mode.by === undefined ? `row of ${mode.of} that has one` : `${mode.by} of ${mode.of}`;
  const atLeast = known.count > known.rows.length || known.atLeast || mode.also !== undefined;
  return { requests: limited(found), atLeast, why: `one for each ${what}` };

  function contextOf({ order: { config, refresh } }: EstimateContext): Parameters<typeof workRequest>[0] {
    return {
      company: company.name,
      clock: tools.clock,
      streams: { catalogue },
      policy: {
        start: config.streams.start,
        to: context.order.to,
        allDetails: refresh.allDetails,
        ofStream: name => policyOf(config, name),
      },
    };
  }
}

function askedOf(parent: Stream, { by, only }: Detail, rows: readonly unknown[]): number {
  const valueIn = (row: unknown, name: string): unknown => {
    const column = parent.tables.main.columns.find(candidate => candidate.name === name);
    return column === undefined ? undefined : valueAt(column.path, besideRows(row));
  };
  const some = only === undefined ? rows : rows.filter(row => valueIn(row, only.column) === only.value);
  if (by === undefined) return some.length;
  const values = some.flatMap(row => {
    const value = valueIn(row, by);
    return typeof value === "object" && value !== null ? Object.keys(value) : [value ?? []].flat();
  });
  return new Set(values.map(String)).size;
}
