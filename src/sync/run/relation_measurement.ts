import type { Relation } from "../../catalog/relation.ts";
import type { Stream } from "../../catalog/stream.ts";
import { type Coverage, measureRelations } from "../../warehouse/read/relation_measurement.ts";
import type { WorkedRun } from "./conclusion.ts";
import type { Job } from "./report.ts";

/** Measures the assumed relations of which a stream changed a row on either side. A failure of it joins the `errors`; a run that failed has others to tell. */
export async function measureChanged(run: WorkedRun, errors: unknown[]): Promise<void> {
  const { order, tools, runId, destination, jobs } = run;
  if (errors.length > 0) return;
  const changed = jobs.filter(({ progress: { run: counts } }) => counts.inserted + counts.updated + counts.deleted > 0);
  if (changed.length === 0) return;
  const now = new Date(tools.clock.now()).toISOString();
  const assumed = relationsAround(run, changed);
  const isMadeOf = ({ from, to }: Relation) =>
    order.models.models.some(
      ({ name, needs, optional }) => name === to.table && [...needs, ...optional].includes(from.table),
    );
  try {
    for (const company of new Set(changed.map(job => job.company))) {
      const own = tablesOf(changed.filter(job => job.company === company).map(job => job.stream));
      const touched = assumed.filter(({ from, to }) => own.has(from.table) || own.has(to.table));
      const coverageOf = (relation: Relation) => coverage(run, relation);
      await measureRelations(destination, touched, { company, runId, now, isMadeOf, coverageOf });
    }
  } catch (error) {
    errors.push(error);
  }
}

function coverage({ order, catalogue }: WorkedRun, { from, to }: Relation): Coverage | undefined {
  if (order.models.models.some(({ name }) => name === to.table)) return undefined;
  const target = ownerOf(catalogue, to.table);
  if (target === undefined) return undefined;
  const source = ownerOf(catalogue, from.table);
  const time =
    source?.mode.kind === "feed" && source.tables.main.name === from.table ? source.mode.highWaterColumn : undefined;
  const { main } = target.tables;
  const isInside = target.mode.kind === "detail" && main.name !== to.table;
  const key = main.key.map(column => ({ from: from.columns[to.columns.indexOf(column)], to: column }));
  const isWhole = (each: { readonly from: string | undefined; readonly to: string }) => each.from !== undefined;
  const fetched =
    isInside && key.every(isWhole) ? { table: main.name, key: key as { from: string; to: string }[] } : undefined;
  return { stream: target.name, time, fetched };
}

const ownerOf = (catalogue: readonly Stream[], table: string): Stream | undefined =>
  catalogue.find(({ name }) => name === table) ?? catalogue.find(stream => tablesOf([stream]).has(table));

/** Of the streams that are worked on: working out the tables of the whole catalogue takes a tenth of a second. */
function relationsAround({ order, jobs }: WorkedRun, changed: readonly Job[]): readonly Relation[] {
  const streams = [...new Set([...jobs, ...changed].map(job => job.stream))];
  return order.relations(streams).filter(({ certainty }) => certainty === "assumed");
}

const tablesOf = (streams: readonly Stream[]): ReadonlySet<string> =>
  new Set(streams.flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name)));
