import type { Stream } from "../catalog/stream.ts";
import { lockGroupOf } from "../config/selection.ts";
import type { SyncContext } from "../sync/context.ts";
import { neededBefore } from "../sync/run/jobs.ts";
import type { Job } from "../sync/run/report.ts";

/** Streams of one company that one worker works on: a list with its details, or several small ones. */
export interface RunPart {
  readonly name: string;
  readonly jobs: readonly Job[];
  /** Parts whose rows say what this one asks for. */
  readonly after: readonly RunPart[];
  /** Requests that it and what waits for it are likely to take; without a run before it that is not known, and counts as the longest. */
  readonly weight: number;
}

/** Lists that take no more requests than this together go as one part: each part opens its own session and locks. */
const SMALL_REQUESTS = 30;

/** Cuts a company's work into parts, the longest chain first. `requests`: what each stream took when it was last worked on. */
export function partsOf(
  jobs: readonly Job[],
  catalogue: readonly Stream[],
  policy: SyncContext["policy"],
  requests: ReadonlyMap<string, number>,
  related: (job: Job) => readonly Job[] = () => [],
): readonly RunPart[] {
  const neededBy = (job: Job) => [...neededBefore(job, jobs, policy), ...related(job)];
  const groups = groupsOf(jobs, catalogue, neededBy);
  const groupOf = new Map(groups.flatMap(group => group.map(job => [job, group])));
  const before = new Map(
    groups.map(group => {
      const needed = group.flatMap(neededBy).map(job => groupOf.get(job)!);
      return [group, new Set(needed.filter(other => other !== group))];
    }),
  );
  const awaited = new Set([...before.values()].flatMap(needed => [...needed]));
  const weigh = (group: Group) =>
    group.reduce((sum, { stream }) => sum + (requests.get(stream.name) ?? Number.POSITIVE_INFINITY), 0);
  const weighChain = (group: Group): number =>
    weigh(group) + Math.max(0, ...groups.filter(other => before.get(other)!.has(group)).map(weighChain));
  const isAlone = (group: Group) => before.get(group)!.size > 0 || awaited.has(group);
  const isSmall = (group: Group) => !isAlone(group) && weigh(group) <= SMALL_REQUESTS;
  const packs: Job[][] = [];
  let room = 0;
  for (const group of groups.filter(isSmall).toSorted((a, b) => weigh(b) - weigh(a))) {
    if (weigh(group) > room) {
      packs.push([]);
      room = SMALL_REQUESTS;
    }
    packs.at(-1)!.push(...group);
    room -= weigh(group);
  }
  const made = new Map<Group, RunPart>();
  const make = (group: Group): RunPart => {
    const known = made.get(group);
    if (known !== undefined) return known;
    const after = [...(before.get(group) ?? [])].map(make);
    const part = { name: group[0]!.stream.name, jobs: group, after, weight: weighChain(group) };
    made.set(group, part);
    return part;
  };
  return [...groups.filter(group => !isSmall(group)), ...packs].map(make).toSorted((a, b) => order(b) - order(a));
}

type Group = readonly Job[];

/** What is locked together, and what asks for each other's rows: neither could be first. Details that wait for lists of other groups go after their own list. */
function groupsOf(
  jobs: readonly Job[],
  catalogue: readonly Stream[],
  neededOf: (job: Job) => readonly Job[],
): readonly Group[] {
  const locks = [...Map.groupBy(jobs, job => lockGroupOf(catalogue, job.stream)).values()];
  const locked: readonly Group[] = locks.flatMap(group => {
    const [details, lists] = [true, false].map(are => group.filter(job => (job.stream.mode.kind === "detail") === are));
    const waits = details!.some(job => neededOf(job).some(other => !group.includes(other)));
    return waits && lists!.length > 0 ? [lists!, details!] : [group];
  });
  const neededBy = (group: Group) => {
    const needed = new Set(group.flatMap(neededOf));
    return locked.filter(other => other.some(job => needed.has(job)));
  };
  const reach = (group: Group, found = new Set<Group>()): ReadonlySet<Group> => {
    for (const other of neededBy(group)) if (!found.has(other)) reach(other, found.add(other));
    return found;
  };
  const reached = new Map(locked.map(group => [group, reach(group)]));
  const together = (group: Group) =>
    locked.filter(other => other === group || (reached.get(group)!.has(other) && reached.get(other)!.has(group)));
  return [...Map.groupBy(locked, group => locked.indexOf(together(group)[0]!)).values()].map(all => all.flat());
}

/** A chain of which nothing is known comes first. */
const order = ({ weight }: RunPart): number => Math.min(weight, Number.MAX_SAFE_INTEGER);
