import type { Stream } from "../../catalog/stream.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { lastStreamRuns } from "../../warehouse/state/run_log.ts";
import type { StreamSync } from "../context.ts";

/** One request in so many is kept for requests that have to be sent again. */
const KEPT = 20;

type AuditOf = (stream: string) => number | "rest";

/** Whether a stream's looks at unchanged details take what is left. */
const isRest = ({ name, mode }: Stream, auditOf: AuditOf): boolean =>
  mode.kind === "detail" && mode.by === undefined && auditOf(name) === "rest";

interface Sharing {
  readonly company: string;
  /** Requests that all streams together may still send; undefined: as many as they take. */
  readonly left: number | undefined;
  /** All that share them. */
  readonly streams: readonly Stream[];
  readonly auditOf: AuditOf;
  /** Absent: none of it has run yet. */
  readonly runId?: string;
}

/**
 * How many requests a stream of details may take whose looks get what the limits leave (`audit: rest`): the others first have what
 * each took when it was last worked on, and those of its kind an equal share of what remains. Undefined: its looks have a share of
 * their own, or there is no limit.
 */
export async function roomOf(
  place: Pick<Destination, "db" | "stateSchema">,
  stream: Stream,
  { company, left = Number.POSITIVE_INFINITY, streams, auditOf, runId }: Sharing,
): Promise<number | undefined> {
  if (!isRest(stream, auditOf) || left === Number.POSITIVE_INFINITY) return undefined;
  const own = (rows: Awaited<ReturnType<typeof lastStreamRuns>>) => rows.filter(row => row.company === company);
  const before = own(await lastStreamRuns(place, runId));
  const ofRun = runId === undefined ? [] : own(await lastStreamRuns(place)).filter(row => row.run_id === runId);
  const isDone = ({ name }: Stream) => ofRun.some(row => row.stream === name);
  const others = streams.filter(other => other.name !== stream.name && !isDone(other));
  const [sharers, first] = [true, false].map(is => others.filter(other => isRest(other, auditOf) === is));
  const taken = before.filter(row => first!.some(({ name }) => name === row.stream));
  const remaining = left - taken.reduce((sum, { requests }) => sum + Number(requests), 0);
  return Math.max(0, Math.floor((remaining * (1 - 1 / KEPT)) / (1 + sharers!.length)));
}

/** The same for a run under way, whose client knows what is left. */
export async function roomLeft({ context, stream }: StreamSync): Promise<number | undefined> {
  const { policy, service, company, runId, destination, streams } = context;
  return roomOf(destination, stream, {
    ...{ company, runId, left: service.api.left },
    streams: streams.catalogue.filter(({ name }) => streams.wanted.has(name)),
    auditOf: name => policy.ofStream(name).details.audit,
  });
}
