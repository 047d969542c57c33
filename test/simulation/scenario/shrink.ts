import type { RunStep, Step, Story } from "./story.ts";

/** Makes a failing story shorter while it still fails, trying at most so many shorter ones. */
export async function shrunk(story: Story, fails: (story: Story) => Promise<boolean>, tries: number): Promise<Story> {
  let best = story;
  let left = tries;
  for (let progress = true; progress && left > 0; ) {
    progress = false;
    for (const shorter of shorterThan(best)) {
      if (left-- <= 0) break;
      if (!(await fails(shorter))) continue;
      best = shorter;
      progress = true;
      break;
    }
  }
  return best;
}

/** Stories with one thing less, the largest parts first. */
function* shorterThan(story: Story): Generator<Story> {
  const { steps, facts, streams } = story;
  for (let size = steps.length >> 1; size >= 1; size >>= 1)
    for (let at = steps.length - size; at >= 0; at -= size)
      yield { ...story, steps: [...steps.slice(0, at), ...steps.slice(at + size)] };
  for (const [at, step] of steps.entries())
    for (const simpler of simplerThan(step)) yield { ...story, steps: steps.with(at, simpler) };
  if (story.neighbour)
    yield {
      ...story,
      neighbour: false,
      steps: steps
        .filter(step => step.do !== "neighbour")
        .map(step => (step.do === "run" ? { ...step, beside: undefined } : step)),
    };
  for (const name of streams)
    if (streams.length > 1 && steps.every(step => !("names" in step && step.names.includes(name)))) {
      const without = streams.filter(other => other !== name);
      const fewer = steps.map(step =>
        step.do === "configure"
          ? { ...step, settings: { ...step.settings, on: step.settings.on.filter(other => other !== name) } }
          : step,
      );
      if (!(name === "orders" && without.some(other => /^order_|vendors/.test(other))))
        yield { ...story, streams: without, steps: fewer };
    }
  for (const [list, size] of Object.entries(facts.sizes))
    if (size > 4) yield { ...story, facts: { ...facts, sizes: { ...facts.sizes, [list]: size >> 1 } } };
}

function* simplerThan(step: Step): Generator<Step> {
  if (step.do === "change" && step.change.count > 1) yield { ...step, change: { ...step.change, count: 1 } };
  if (step.do === "neighbour" && step.death !== undefined) yield { ...step, death: undefined };
  if (step.do === "reset" && step.death !== undefined) yield { ...step, death: undefined };
  if (step.do !== "run") return;
  yield* simplerRuns(step);
}

function* simplerRuns(step: RunStep): Generator<RunStep> {
  if (step.death !== undefined) yield { ...step, death: undefined };
  for (const name of Object.keys(step.troubles) as (keyof RunStep["troubles"])[]) {
    const { [name]: _, ...troubles } = step.troubles;
    yield { ...step, troubles };
  }
  for (const at of step.during.keys()) yield { ...step, during: step.during.toSpliced(at, 1) };
  if (step.older !== undefined) yield { ...step, older: undefined };
  if (step.second !== undefined) yield { ...step, second: undefined };
  if (step.beside !== undefined) yield { ...step, beside: undefined };
  if (step.looks.length > 0) yield { ...step, looks: [] };
  if (step.full || step.allDetails || step.confirmDeletes)
    yield { ...step, full: false, allDetails: false, confirmDeletes: false };
  if (step.maxTimeMs !== undefined || step.maxRequests !== undefined)
    yield { ...step, maxTimeMs: undefined, maxRequests: undefined };
  if (step.names.length > 0) yield { ...step, names: [] };
}
