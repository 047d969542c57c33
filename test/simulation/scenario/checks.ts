import type { Stream } from "../../../src/catalog/stream.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { Kept, Tables } from "../world/tables.ts";
import type { Settings } from "./story.ts";

/** What must hold of any moment that a reader may see: no mixture of two answers, no child without its parent. `odd`: tables with parents whose lines came otherwise. */
export function faultsOfMoment(
  tables: Tables,
  streams: readonly Stream[],
  odd: ReadonlySet<string> = new Set(),
): string[] {
  const faults: string[] = [];
  for (const { tables: set, mode, name } of streams) {
    const main = tables.get(set.main.name);
    if (main === undefined) continue;
    if (mode.kind === "detail" && mode.rows !== undefined) {
      faults.push(...mixtures(name, groupedBy(main.values())));
      continue;
    }
    for (const child of set.children) {
      const children = groupedBy((tables.get(child.name) ?? new Map<string, Kept>()).values());
      for (const row of main.values()) {
        const own = children.get(row.parent) ?? [];
        children.delete(row.parent);
        if (row.problems || row.v === null || row.n === null) continue;
        const live = own.filter(each => each.deletedAt === null);
        if (row.deletedAt !== null && live.length > 0)
          faults.push(`${child.name}: ${live.length} live rows of ${row.key}, which is deleted`);
        if (row.deletedAt !== null || odd.has(`${child.name} ${row.parent}`)) continue;
        if (live.length !== row.n)
          faults.push(
            `${child.name}: ${live.length} rows of ${row.key}, but its own row (version ${row.v}) tells of ${row.n}`,
          );
        else if (live.some(each => each.v !== row.v))
          faults.push(
            `${child.name}: rows of version ${live.map(each => each.v).join(", ")} beside version ${row.v} of ${row.key}`,
          );
      }
      for (const parent of children.keys()) faults.push(`${child.name}: rows of ${parent}, which has none of its own`);
    }
  }
  return faults;
}

function groupedBy(rows: Iterable<Kept>): Map<string, Kept[]> {
  const groups = new Map<string, Kept[]>();
  for (const row of rows) {
    const group = groups.get(row.parent);
    if (group === undefined) groups.set(row.parent, [row]);
    else group.push(row);
  }
  return groups;
}

/** Rows of one answer: all of one version, and as many as each of them tells. */
function mixtures(name: string, groups: ReadonlyMap<string, readonly Kept[]>): string[] {
  const faults: string[] = [];
  for (const [parent, rows] of groups) {
    const live = rows.filter(row => row.deletedAt === null);
    const [first] = live;
    if (first === undefined) continue;
    if (live.some(row => row.v !== first.v))
      faults.push(`${name}: rows of ${parent} of versions ${live.map(row => row.v).join(", ")}`);
    else if (live.length !== first.n)
      faults.push(`${name}: ${live.length} rows of ${parent}, which told of ${first.n}`);
  }
  return faults;
}

/** Details that are live although their parent's row is not, or is not there. */
export function orphans(tables: Tables, streams: readonly Stream[]): string[] {
  const faults: string[] = [];
  for (const { tables: set, mode, name } of streams) {
    if (mode.kind !== "detail" || mode.by !== undefined) continue;
    const parents = new Map([...(tables.get(mode.of)?.values() ?? [])].map(row => [row.parent, row]));
    for (const row of tables.get(set.main.name)?.values() ?? []) {
      const parent = parents.get(row.parent);
      if (row.deletedAt === null && (parent === undefined || parent.deletedAt !== null))
        faults.push(
          `${name} ${row.key}: live, but its ${mode.of} row is ${parent === undefined ? "not there" : "deleted"}`,
        );
    }
  }
  return faults;
}

/** What a step may do to the tables. */
export interface Allowed {
  /** Tables whose rows may vanish. */
  readonly emptied: ReadonlySet<string>;
  /** Streams whose `title` is volatile by the config, or was a run before. */
  readonly looseTitles: boolean;
  /** Whether a row came without its array, and never with it: then none of its lines may go before it. */
  isLacking(table: string, parent: string): boolean;
  /** Whether this row of a list was there all the time: then it may not be marked deleted. */
  wasThere(stream: string, parent: string): boolean;
}

/** What must hold between two moments of one warehouse. */
export function faultsOfStep(before: Tables, after: Tables, streams: readonly Stream[], allowed: Allowed): string[] {
  const faults: string[] = [];
  for (const { tables: set, name, mode } of streams) {
    const touched = new Set<string>();
    const rows = [...(after.get(set.main.name)?.values() ?? [])];
    const stays = new Set(rows.filter(row => row.deletedAt === null).map(row => row.parent));
    const wentAt = mode.kind === "detail" ? returned(before.get(mode.of), after.get(mode.of)) : undefined;
    for (const table of [...set.children, set.main]) {
      const was = before.get(table.name) ?? new Map<string, Kept>();
      const is = after.get(table.name) ?? new Map<string, Kept>();
      const latest = [...was.values()].reduce((most, { changedAt }) => Math.max(most, changedAt), 0);
      const child = table !== set.main;
      for (const [key, row] of is) {
        const old = was.get(key);
        const say = (what: string) => faults.push(`${table.name} ${key}: ${what}`);
        if (old === undefined) {
          touched.add(row.parent);
          if (row.changedAt <= latest && latest > 0 && !allowed.emptied.has(table.name))
            say(`new, but its _changed_at ${row.changedAt} is not after ${latest}, the latest before`);
          continue;
        }
        // A new column is filled from what was kept of its field, which is no change of the row.
        const filled = old.added !== row.added && partsOf(old).every(part => partsOf(row).includes(part));
        const alike = old.strict === row.strict && (old.added === row.added || filled);
        const same = alike && (old.deletedAt === null) === (row.deletedAt === null);
        const retitled = old.title !== row.title;
        const moved = old.changedAt !== row.changedAt;
        if (moved) touched.add(row.parent);
        if (row.changedAt < old.changedAt) say(`its _changed_at went back from ${old.changedAt} to ${row.changedAt}`);
        if (!same && row.changedAt <= latest)
          say(`changed, but its _changed_at ${row.changedAt} is not after ${latest}, the latest before`);
        const detailOfMoved = !child && mode.kind !== "snapshot" && touched.has(row.parent);
        // What went with its list's row comes back with it, and goes again where the detail's new answer lacks it.
        const went = child && old.deletedAt !== null && wentAt?.get(row.parent) === old.deletedAt;
        const again = went && row.deletedAt !== null && row.deletedAt > old.deletedAt;
        if (moved && same && !filled && !retitled && !detailOfMoved && !again)
          say("did not change, but its _changed_at moved");
        if (!moved && same && retitled && !allowed.looseTitles)
          say("its title changed, but its _changed_at did not move");
        if (row.firstSeenAt !== old.firstSeenAt)
          say(`its _first_seen_at went from ${old.firstSeenAt} to ${row.firstSeenAt}`);
        if (
          row.v !== null &&
          old.v !== null &&
          row.v < old.v &&
          row.deletedAt === null &&
          !child &&
          mode.kind !== "snapshot"
        )
          say(`went back from version ${old.v} to ${row.v}`);
        const goes = old.deletedAt === null && row.deletedAt !== null;
        if (goes && child && stays.has(row.parent) && allowed.isLacking(table.name, row.parent))
          say("marked deleted, but its row came without the array");
        if (goes && !child && allowed.wasThere(name, row.parent))
          say("marked deleted, but the service had it all the time");
      }
      if (allowed.emptied.has(table.name)) continue;
      for (const key of was.keys()) if (!is.has(key)) faults.push(`${table.name} ${key}: its row vanished`);
    }
  }
  return faults;
}

/** When rows of a list had gone that were written since. */
function returned(
  before: ReadonlyMap<string, Kept> | undefined,
  after: ReadonlyMap<string, Kept> | undefined,
): ReadonlyMap<string, number | null> {
  const written = [...(before ?? [])].filter(([key, row]) => after?.get(key)?.changedAt !== row.changedAt);
  return new Map(written.map(([, row]) => [row.parent, row.deletedAt]));
}

const partsOf = ({ added }: Kept): readonly string[] => added.split("\u0001");

/** What a run has read or carried over it has counted as something, or still has in its stage. */
export function faultsOfCounts(report: RunReport, staged: ReadonlyMap<string, number>): string[] {
  const faults: string[] = [];
  for (const line of report.streams) {
    if (line.status === "skipped" || line.status === "running") continue;
    // Not begun: what an earlier run staged is still there.
    if (line.requests + line.carried === 0) continue;
    const came = line.rows_read + line.carried;
    const went = line.inserted + line.updated + line.unchanged + line.rejected + line.repeated;
    const left = staged.get(line.stream) ?? 0;
    if (came !== went + left)
      faults.push(
        `${line.stream} (${line.status}): read ${line.rows_read} + carried ${line.carried} ≠ inserted ${line.inserted} + updated ${line.updated} + unchanged ${line.unchanged} + rejected ${line.rejected} + repeated ${line.repeated} + staged ${left}${line.error === null ? "" : ` · ${line.error.slice(0, 160)}`}`,
      );
    // The table may have fewer rows than the service, or more.
    for (const [name, value] of Object.entries(line))
      if (name !== "difference" && typeof value === "number" && value < 0)
        faults.push(`${line.stream}: ${name} is ${value}`);
  }
  return faults;
}

/** Titles that stand there as they came, though the configuration of the run that ended says otherwise. */
export function untreated(tables: Tables, titles: Settings["titles"]): string[] {
  if (titles === "keep") return [];
  const looks = { exclude: /^(null)?$/, hash: /^(null|[0-9a-f]{64})?$/, mask: /^(null|•••.*)?$/s }[titles];
  return [...tables].flatMap(([name, rows]) =>
    [...rows.values()]
      .filter(({ title }) => !looks.test(title))
      .map(({ key, title }) => `${name} ${key}: its title ${title} stands there under ${titles}`),
  );
}
