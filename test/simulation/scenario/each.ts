import type { Death } from "../engine/deaths.ts";
import type { ScenarioResult } from "../engine/workspace.ts";
import { TOO_SHORT } from "../totals.ts";
import { type ListName, lists } from "../world/catalogue.ts";
import { storyOf } from "./drawn.ts";
import { plainRun } from "./found.ts";
import type { Database, Step, Story } from "./story.ts";

/** Deaths of one kind, from a run's first touch to its last. */
interface Series {
  readonly run: "first" | "night";
  readonly death: Omit<Death, "nth">;
}

const DAY = 86_400_000;

/**
 * Scenarios with the service and the streams of one seed: a first run, changes, and a run of the night. In each scenario the one or
 * the other dies at another of its touches, until every one had its turn. (Before a touch is after the one before it.)
 */
export class EachDeath {
  readonly #base: Story;
  readonly #series: Series[];
  /** Of stories that are being run: the series they belong to. */
  readonly #under = new Map<Story, Series>();
  #nth = 1;

  constructor(seed: number, database: Database) {
    this.#base = storyOf(seed, database);
    const places = {
      duckdb: ["duckdb", "fs", "copy", "http"],
      postgres: ["pg", "http"],
      ducklake: ["duckdb", "pg", "http"],
    }[database] as Death["at"][];
    const deaths = places.flatMap(at =>
      (["during", "after"] as const).flatMap(when =>
        (at === "pg" ? (["process", "backend"] as const) : (["process"] as const)).map(of => ({ at, when, of })),
      ),
    );
    this.#series = (["first", "night"] as const).flatMap(run => deaths.map(death => ({ run, death })));
  }

  /** The next scenario; undefined when every touch had its turn. */
  next(): Story | undefined {
    const [series] = this.#series;
    if (series === undefined) return undefined;
    const death = { ...series.death, nth: this.#nth++ };
    const of = (run: Series["run"]) => ({ ...plainRun, death: series.run === run ? death : undefined });
    const own = lists.filter(name => this.#base.streams.includes(name));
    const steps: Step[] = [of("first"), ...own.flatMap(changes), { do: "clock", ms: DAY }, of("night")];
    const story = { ...this.#base, steps };
    this.#under.set(story, series);
    return story;
  }

  /** A death that its run was too short for is beyond the last of its series. */
  heard(story: Story, { totals }: ScenarioResult): void {
    const series = this.#under.get(story);
    this.#under.delete(story);
    if (totals.counts[TOO_SHORT] === undefined || series !== this.#series[0]) return;
    this.#series.shift();
    this.#nth = 1;
  }
}

const changes = (list: ListName): Step[] =>
  (["update", "insert", "delete"] as const).map(what => ({ do: "change", change: { what, list, count: 2 } }));
