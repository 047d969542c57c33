import type { Stage } from "../../warehouse/destination.ts";
import type { Parents } from "../../warehouse/details/parents.ts";
import { countWork, type WorkList, type WorkRequest } from "../../warehouse/details/work_list.ts";
import { completeTogether } from "../../warehouse/state/standing.ts";
import { completeWith, type SyncContext } from "../context.ts";

/**
 * Whether `max_details` leaves some that were never fetched: these come first, so nothing else was taken then. The pace at
 * which it lets others be fetched again is what was asked for, and does not make the table late.
 */
export const lacksNew = ({ left, reasons }: WorkList): boolean =>
  left > 0 && Object.keys(reasons).every(reason => reason === "new" || reason === "forced");

/** Whether answers of back then lack some that are due: the run that got them may have been cut short. */
export async function isBehind(
  destination: SyncContext["destination"],
  request: Omit<WorkRequest, "stage">,
  stage: Stage,
): Promise<boolean> {
  const { new: fresh = 0, changed = 0 } = await countWork(destination, { ...request, stage });
  return fresh + changed > 0;
}

/** How far details are complete that were all fetched: no further than the rows or values that they were asked for. */
export async function completeWithParents(context: SyncContext, parents: Parents): Promise<string | null> {
  const { asOf, clock, company, destination } = context;
  const names = parents.kind === "rows" ? [parents.stream] : parents.sources.map(({ stream }) => stream);
  const theirs = await completeTogether(destination.db, company, names);
  const read = new Date(asOf?.at ?? clock.now()).toISOString();
  return completeWith(context, theirs !== null && read < theirs ? read : theirs);
}
