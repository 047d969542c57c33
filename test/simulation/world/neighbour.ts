import type { Ended, EngineProcess } from "../engine/engine_process.ts";
import type { Job } from "../engine/job.ts";
import { faultsOfCounts, faultsOfMoment, faultsOfStep, orphans } from "../scenario/checks.ts";
import { changesBetween, lost, unexplained } from "../scenario/endings.ts";
import { plainRun } from "../scenario/found.ts";
import type { Stand } from "../scenario/stand.ts";
import type { Settings, Story } from "../scenario/story.ts";
import { catalogue, type ListName, lists } from "./catalogue.ts";
import { readTables, type Tables, widened } from "./tables.ts";
import { openWorld, type World } from "./world.ts";

/** The companies of a scenario that has two: what is told of a warehouse is told of the first. */
export const COMPANY = "acme";
export const NEIGHBOUR = "beta";

/** A run of the neighbour's that is under way, or over. */
interface Errand {
  readonly ended: Promise<Ended>;
  readonly settings: Settings;
  readonly older: boolean;
  /** What its process ends with may be something else's doing: the server's, or its own death. */
  readonly excused: boolean;
}

/**
 * A second company in a scenario's warehouse, with a service of its own: the same keys, other values. What either does leaves the
 * rows of the other as they are, also where their runs are at work at once.
 */
export class Neighbour {
  readonly world: World;
  readonly #story: Story;
  readonly #stand: Stand;
  readonly #engine: EngineProcess;
  #tables: Tables = new Map();
  /** The service's time when its tables were read. */
  #errand: Errand | undefined;

  constructor(story: Story, world: World, stand: Stand, engine: EngineProcess) {
    this.#story = story;
    this.world = world;
    this.#stand = stand;
    this.#engine = engine;
  }

  /** Begins a run, beside whatever else is at work. */
  begin(job: Job, settings: Settings, excused = false): void {
    const ended = this.#engine.run(job, async () => undefined);
    this.#errand = { ended, settings, excused, older: job.program === "first" };
  }

  /** Resolves when none of its runs is at work; with how the last one ended. */
  async idle(): Promise<Ended | undefined> {
    return this.#errand?.ended;
  }

  /** What is shown of it now is what the next look is held against: a file was lost. */
  async accept(): Promise<void> {
    this.#tables = (await readTables(this.#stand, "shown", catalogue, NEIGHBOUR))?.tables ?? new Map();
  }

  /** How its last run went, if it had one since the last look, and what became of its rows; `dropped`: tables that a reset emptied. */
  async look(dropped: ReadonlySet<string> | "nothing"): Promise<readonly string[]> {
    const errand = this.#errand;
    this.#errand = undefined;
    const found = await readTables(this.#stand, "left", catalogue, NEIGHBOUR);
    if (found === undefined) return [];
    const before = this.#tables;
    this.#tables = found.tables;
    if (dropped !== "nothing") return told(ofReset(before, found.tables, dropped));
    if (errand === undefined) return told(changesBetween(withoutTitles(before), withoutTitles(found.tables)));
    const { settings, excused, older } = errand;
    const ended = await errand.ended;
    const streams = await widened(this.#stand, catalogue);
    const treated = this.#story.steps.some(step => step.do === "configure");
    const faults = [
      ...(ended.crash === undefined ? [] : [`its process ended by itself with ${ended.crash}`]),
      ...found.twice.map(key => `two rows ${key}`),
      ...faultsOfMoment(found.tables, streams),
      ...orphans(found.tables, streams),
      ...faultsOfStep(before, found.tables, catalogue, {
        emptied: new Set(),
        looseTitles: treated,
        isLacking: () => false,
        wasThere: () => false,
      }),
    ];
    const { done } = ended;
    if (done !== undefined && !excused) faults.push(...unexplained(plainRun, settings, done, { treated, older }));
    if (done?.report !== undefined && !excused) {
      faults.push(...faultsOfCounts(done.report, await this.#stand.staged(NEIGHBOUR)));
      if (!this.#story.hiding) faults.push(...lost(found.tables, this.world, done.report));
    }
    return told(faults);
  }

  /** After its last, undisturbed run: of every list the rows that its service has, as they are there. */
  faultsOfTruth(): readonly string[] {
    const faults: string[] = [];
    for (const name of lists.filter(each => this.#story.streams.includes(each))) {
      const { collection, family } = this.world.sources[name as ListName];
      const live = new Map<string, number | null>();
      for (const row of this.#tables.get(name)?.values() ?? []) if (row.deletedAt === null) live.set(row.parent, row.v);
      for (const { number, revision } of collection.walk(Number.NEGATIVE_INFINITY)) {
        const key = family.key(number);
        if (live.get(key) !== revision) faults.push(`${name} ${key}: version ${live.get(key)}, not ${revision}`);
        live.delete(key);
      }
      for (const key of live.keys()) faults.push(`${name} ${key}: live, but the service does not have it`);
    }
    return told(faults);
  }

  close(): Promise<void> {
    return this.world.close();
  }
}

/** The service of the neighbour: as large and of the same kind as the other's. */
export const openNeighbour = async (story: Story, stand: Stand, engine: EngineProcess): Promise<Neighbour> =>
  new Neighbour(story, await openWorld({ ...story.facts, seed: story.facts.seed + 500_009 }, "c-2"), stand, engine);

/** What a reset --drop left of the tables that it empties, or took from others. */
const ofReset = (before: Tables, after: Tables, dropped: ReadonlySet<string>): readonly string[] =>
  [...before].flatMap(([name, rows]) => {
    const left = after.get(name)?.size ?? 0;
    return left === (dropped.has(name) ? 0 : rows.size) ? [] : [`${name}: ${left} of ${rows.size} rows after a reset`];
  });

const told = (faults: readonly string[]): readonly string[] => faults.map(fault => `${NEIGHBOUR}: ${fault}`);

/** How titles are treated, and with them what was wrong with one, is the warehouse's, for all of its companies; added columns are each table's. */
export function withoutTitles(tables: Tables): Tables {
  return new Map(
    [...tables].map(([name, rows]) => [
      name,
      new Map([...rows].map(([key, row]) => [key, { ...row, title: "", problems: false, added: "", changedAt: 0 }])),
    ]),
  );
}
