import { Draw } from "../../../simulator/random.ts";
import type { Database, NeighbourStep, RunStep, Step } from "../scenario/story.ts";
import { lists } from "../world/catalogue.ts";
import { oddNames } from "../world/odd_answers.ts";
import type { Change } from "../world/world.ts";
import type { Death } from "./deaths.ts";

/** What a key may be refused: a list, or all that is asked for row by row. */
const refusable: Readonly<Record<string, readonly string[]>> = {
  orders: ["/orders", "/orders/"],
  notes: ["/notes"],
  parts: ["/parts", "/parts/"],
  events: ["/events"],
  queue: ["/queue"],
  rates: ["/rates"],
  prices: ["/prices"],
  vendors: ["/vendors/"],
};

/** At what a neighbour dies. */
const touchedBy: Readonly<Record<Database, [Death["at"], ...Death["at"][]]>> = {
  duckdb: ["fs", "duckdb", "commit"],
  postgres: ["pg", "commit"],
  ducklake: ["pg", "duckdb", "commit"],
};

/**
 * Adds to a story's steps what hardly ever happens: nights in which the service refuses a stream to the key, says in one way or another how long to wait, or sends odd answers, and archives that lose a run.
 * They are drawn by themselves: the rest of the story is what it is without them.
 */
export function withFaults(
  steps: readonly Step[],
  seed: number,
  streams: readonly string[],
  archived: boolean,
): Step[] {
  const draw = new Draw(seed * 32_452_843 + 3);
  const pacing = new Draw(seed * 86_028_121 + 13);
  const odd = new Draw(seed * 67_867_967 + 17);
  const paths = streams.flatMap(name => refusable[name] ?? []);
  return steps.flatMap<Step>(step => {
    if (step.do !== "run") return [step];
    const forbidden = draw.chance(0.08) && paths.length > 0 ? draw.pick(paths as [string, ...string[]]) : undefined;
    const loses = draw.chance(step.command === "replay" ? 0.3 : 0.05) && archived;
    const pace = paceOf(pacing, step.troubles);
    const troubles = { ...step.troubles, ...pace, ...oddOf(odd), ...(forbidden === undefined ? {} : { forbidden }) };
    // Whose key it is a run asks first.
    const run = { ...step, troubles, ...("otherCompany" in troubles ? { troublesAt: 1 } : {}) };
    return loses ? [{ do: "lose", how: "archive" }, run] : [run];
  });
}

/** In every fourth run answers prove less than they seem to: those with lines many of them, others a few. */
function oddOf(draw: Draw): RunStep["troubles"] {
  const name = draw.pick(oddNames);
  const few = draw.between(1, draw.chance(0.2) ? 12 : 3);
  const many = draw.between(1, 30);
  return draw.chance(0.25) ? { [name]: name.startsWith("lines") ? many : few } : {};
}

/** How a service that refuses requests for a while says how long; answers that overtake each other. */
function paceOf(draw: Draw, { next429, planLimit }: RunStep["troubles"]): RunStep["troubles"] {
  const retryAfter = draw.pick(["seconds", "date", "absent"] as const);
  // None as long as one of the run's alarms; the last one is longer than any run waits.
  const retryAfterSeconds = draw.pick([1, 31, 400, 1_000]);
  const overtaking = draw.chance(0.06);
  return {
    ...(next429 === undefined ? {} : { rateLimit: { perSecond: 1_000_000, retryAfter, retryAfterSeconds } }),
    ...(planLimit && draw.chance(0.5) ? { planLimit: { ...planLimit, retryAfterSeconds } } : {}),
    ...(overtaking ? { latencyJitterMs: 12 } : {}),
  };
}

/**
 * In every fourth scenario the program is replaced by a later one, whose documents name the fields that most of these services have
 * begun to add by then; a few runs are made by the former one all the same.
 */
export function withUpgrade(steps: readonly Step[], seed: number): Step[] {
  const draw = new Draw(seed * 15_485_863 + 7);
  if (!draw.chance(0.25)) return [...steps];
  // Mostly there is something by then that has to be altered.
  const first = draw.chance(0.9) ? steps.findIndex(step => step.do === "run") + 1 : 0;
  const at = draw.between(Math.min(first, steps.length - 1), steps.length - 1);
  const addition: Change = { what: "addition", list: "orders", count: draw.between(3, 10) };
  const adds = draw.chance(0.8) ? draw.below(at + 1) : undefined;
  const told = steps.map<Step>((step, index) => {
    if (step.do !== "run" || index < at) return step;
    const beside = step.beside !== undefined && draw.chance(0.5);
    return { ...step, older: draw.chance(0.2) ? "run" : beside ? "neighbour" : undefined };
  });
  const upgraded: Step[] = [...told.slice(0, at), { do: "upgrade" }, ...told.slice(at)];
  return adds === undefined ? upgraded : upgraded.toSpliced(adds, 0, { do: "change", change: addition });
}

/** In every fifth scenario another company is loaded into the warehouse, between the runs and, where several hosts may write, beside them. */
export function withNeighbour(
  steps: readonly Step[],
  seed: number,
  database: Database,
  streams: readonly string[],
): { readonly neighbour: boolean; readonly steps: Step[] } {
  const draw = new Draw(seed * 49_979_687 + 9);
  if (!draw.chance(0.2)) return { neighbour: false, steps: [...steps] };
  const own = lists.filter(name => streams.includes(name));
  const told = steps.flatMap<Step>(step => {
    if (step.do !== "run") return [step];
    const run =
      database !== "duckdb" && draw.chance(0.6)
        ? { ...step, beside: draw.between(1, draw.chance(0.5) ? 4 : 25) }
        : step;
    return draw.chance(0.4) ? [nextDoor(), run] : [run];
  });
  return { neighbour: true, steps: told };

  function nextDoor(): NeighbourStep {
    const [first, ...rest] = own;
    const what = draw.pick<Change["what"]>(["update", "update", "insert", "delete"]);
    const at = draw.pick<Death["at"]>(touchedBy[database]);
    const dies = {
      at,
      nth: draw.between(1, 120),
      when: draw.pick<Death["when"]>(["before", "after"]),
      of: "process",
    } as const;
    const names = [draw.pick(streams as [string, ...string[]])];
    const drop = draw.chance(0.5);
    return {
      do: "neighbour",
      change: first === undefined ? undefined : { what, list: draw.pick([first, ...rest]), count: draw.between(1, 3) },
      full: draw.chance(0.3),
      reset: draw.chance(0.2) ? { names, drop } : undefined,
      death: draw.chance(0.25) ? dies : undefined,
    };
  }
}
