import type { Parent } from "../../source/archive/about.ts";
import type { WorkItem, WorkList } from "../../warehouse/details/work_list.ts";
import {
  type ArchivedFile,
  type ArchivedRequest,
  firstPages,
  isWhole,
  requestKey,
  requestsIn,
} from "./archive_contents.ts";
import { isIn, type Span } from "./scan_choice.ts";

/** The last answer that a run got for a parent, all pages of it. */
export interface ArchivedAnswer {
  readonly parent: Parent;
  readonly scan: string;
  /** When its last page came, ISO 8601, by the clock of the run. */
  readonly at: string;
  readonly accepted: boolean;
  readonly requests: ReadonlyMap<string, ArchivedRequest>;
  readonly first: number;
}

/** The answers of details that a run's files hold, in the order in which they came; those cut off are left out. */
export async function answersIn(files: readonly ArchivedFile[], span: Span): Promise<readonly ArchivedAnswer[]> {
  const answers = new Map<
    string,
    Omit<ArchivedAnswer, "first" | "requests"> & { requests: Map<string, ArchivedRequest> }
  >();
  for await (const { head, held } of requestsIn(files)) {
    const { parent, request, at, scan, accepted, status } = head;
    if (parent === undefined || !isIn(span, at)) continue;
    const begins = request.query["cursor"] === undefined;
    // A 404 in place of a further page cuts it off.
    if (!begins && status === 404) {
      answers.delete(parent.key);
      continue;
    }
    const requests = (begins ? undefined : answers.get(parent.key)?.requests) ?? new Map<string, ArchivedRequest>();
    requests.set(requestKey(request.path, request.query), held);
    answers.set(parent.key, { parent, scan, at, accepted, requests });
  }
  const whole = [...answers.values()].flatMap(answer => {
    const first = firstPages(answer.requests).get(0);
    return first !== undefined && isWhole(answer.requests, first) ? [{ ...answer, first: first.ordinal }] : [];
  });
  return whole.sort((a, b) => a.first - b.first);
}

export async function sittingsIn(
  files: readonly ArchivedFile[],
  span: Span,
): Promise<readonly (ArchivedRequest & { readonly scan: string; readonly date: string })[]> {
  const found = new Map<string, ArchivedRequest & { scan: string; date: string }>();
  for await (const { head, held } of requestsIn(files)) {
    const { at, scan, date } = head;
    if (isIn(span, at)) found.set(requestKey(held.path, held.query), { ...held, scan, date });
  }
  return [...found.values()];
}

export function workOf(answers: readonly ArchivedAnswer[]): WorkList {
  let position = 0;
  const items = answers.map<WorkItem>(({ parent: { key, hash, params } }) => ({
    parentKey: key,
    parentHash: hash,
    params,
    reason: "forced",
  }));
  return {
    total: items.length,
    reasons: { forced: items.length },
    table: undefined,
    left: 0,
    leftFailed: 0,
    async next(count) {
      position += count;
      return items.slice(position - count, position);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
