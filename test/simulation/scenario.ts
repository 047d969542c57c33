import { struckTogether } from "./engine/deaths.ts";
import type { Ended } from "./engine/engine_process.ts";
import { type Job, toldBy } from "./engine/job.ts";
import { Runs } from "./engine/runs.ts";
import { isTroubled, mayFailDetails, repeats, unexplained } from "./scenario/endings.ts";
import { last } from "./scenario/last.ts";
import { laterProgram, type NeighbourStep, type RunStep, type Step, type Story } from "./scenario/story.ts";
import { note } from "./totals.ts";
import type { Cast, Workspace } from "./world/cast_of_streams.ts";
import { NEIGHBOUR, type Neighbour, openNeighbour } from "./world/neighbour.ts";
import { Rows } from "./world/rows.ts";
import { openWorld } from "./world/world.ts";

/** What went wrong in a scenario, and after which step (from 1; the story's length and more: at the end). */
export interface Divergence {
  readonly step: number;
  readonly faults: readonly string[];
}

/** Scenarios a story to its end, or to the first thing that must not be. */
export async function live(story: Story, workspace: Workspace): Promise<Divergence | undefined> {
  const world = await openWorld(story.facts);
  const stand = await workspace.make(story.readers);
  const neighbour = story.neighbour ? await openNeighbour(story, stand, workspace.engine) : undefined;
  const scenario = new Scenario({ story, workspace, world, stand, neighbour });
  try {
    for (const [index, step] of story.steps.entries()) {
      const faults = [...(await scenario.take(step, index)), ...((await neighbour?.look("nothing")) ?? [])];
      if (faults.length > 0) return { step: index + 1, faults };
    }
    const faults = await scenario.end();
    return faults.length > 0 ? { step: story.steps.length + 1, faults } : undefined;
  } finally {
    await world.close();
    await neighbour?.close();
    await stand.remove();
  }
}

class Scenario {
  readonly #cast: Cast;
  readonly #runs: Runs;
  readonly #rows: Rows;
  #archiveLost = false;
  /** A run without troubles has succeeded: the warehouse knows its company. */
  #isKnown = false;
  #detailsFailed = false;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#runs = new Runs(cast);
    this.#rows = new Rows(cast);
  }

  async take(step: Step, index: number): Promise<readonly string[]> {
    const { totals } = this.#cast.workspace;
    this.#cast.world.turn = index;
    this.#cast.world.served.clear();
    switch (step.do) {
      case "change":
        note(totals.counts, `change: ${step.change.what}`);
        this.#cast.world.change(step.change);
        return [];
      case "clock":
        note(totals.counts, "clock on");
        this.#runs.pass(step.ms);
        return [];
      case "configure":
        note(totals.counts, "configuration");
        this.#rows.looseTitles ||= step.settings.volatileTitles;
        this.#runs.settings = step.settings;
        return [];
      case "upgrade": {
        note(totals.counts, "upgrade");
        this.#runs.program = laterProgram(this.#cast.story);
        this.#rows.upgrade(this.#runs.program);
        return [];
      }
      case "lose": {
        if (!(await this.#cast.stand.lose(step.how))) return [];
        note(totals.faults, `lost: ${step.how}`);
        this.#archiveLost ||= step.how === "archive";
        if (step.how === "archive") return [];
        await this.#rows.accept();
        await this.#cast.neighbour?.accept();
        return [];
      }
      case "reset": {
        note(totals.runs, step.drop ? "reset --drop" : "reset");
        const job = {
          ...(await this.#runs.job()),
          command: "reset" as const,
          names: step.names,
          drop: step.drop,
          death: step.death,
        };
        const ended = await this.#runs.run(job);
        const { done } = ended;
        if (done !== undefined && ![0, ...(step.death === undefined ? [] : [4, 6])].includes(done.exit))
          return [`reset ended with ${done.exit}: ${toldBy(done)}`];
        return this.#rows.settle(ended, this.#runs.settings, step.drop ? this.#rows.droppedBy(step.names) : new Set());
      }
      case "neighbour":
        return this.#cast.neighbour === undefined ? [] : this.#visit(this.#cast.neighbour, step);
      case "run":
        return this.#take(step);
    }
  }

  /** The neighbour's own turn, which leaves the first company's rows as they are. */
  async #visit(neighbour: Neighbour, { change, full, reset, death }: NeighbourStep): Promise<readonly string[]> {
    note(this.#cast.workspace.totals.runs, "the neighbour's");
    if (change !== undefined) neighbour.world.change(change);
    if (reset !== undefined) {
      const job = { ...(await this.#runs.job()), ...reset, command: "reset" as const, company: NEIGHBOUR };
      const { done } = await this.#runs.run(job);
      if (done?.exit !== 0) return [`${NEIGHBOUR}: reset ended with ${done?.exit}: ${toldBy(done)}`];
      const faults = await neighbour.look(reset.drop ? this.#rows.droppedBy(reset.names) : "nothing");
      if (faults.length > 0) return faults;
    }
    neighbour.begin({ ...(await this.#runs.job()), company: NEIGHBOUR, full, death }, this.#runs.settings);
    await this.#runs.besideEnded();
    return this.#rows.untouched();
  }

  async #take(given: RunStep): Promise<readonly string[]> {
    const { otherCompany, ...troubles } = given.troubles;
    // A warehouse that knows no company yet takes the first one for its own.
    const step = this.#isKnown || otherCompany === undefined ? given : { ...given, troubles };
    const { totals } = this.#cast.workspace;
    const world = this.#cast.world;
    note(
      totals.runs,
      [
        step.command,
        ...(step.names.length > 0 ? ["named"] : []),
        ...(step.full ? ["--full"] : []),
        ...(step.allDetails ? ["--details"] : []),
        ...(step.confirmDeletes ? ["--confirm-deletes"] : []),
      ].join(" "),
    );
    for (const name of Object.keys(step.troubles)) note(totals.faults, name);
    const faults: string[] = [];
    const begun = world.asked();
    await this.#runs.drained();
    let beside: Promise<Ended> | undefined;
    let early = false;
    world.hook = async asked => {
      const nth = asked - begun;
      if (nth === step.troublesAt) Object.assign(world.troubles, structuredClone(step.troubles));
      for (const { at, change } of step.during) {
        if (at !== nth) continue;
        note(totals.counts, `change under way: ${change.what}`);
        world.change(change);
      }
      if (step.looks.includes(nth)) faults.push(...(await this.#rows.look(`a reader at request ${nth} saw `)));
      if (step.second === nth && beside === undefined && nth > 1 && step.command === "sync") {
        note(totals.runs, "sync beside another");
        // Before a run has got rows it may not hold its locks yet: an unknown service is requested once before.
        early = world.requests.entries.every(({ path, status }) => path.startsWith("/auth") || status !== 200);
        beside = this.#cast.workspace.engine.run({ ...job, death: undefined, seed: -job.seed }, async () => undefined);
        await beside;
      }
      if (step.beside === nth && this.#cast.neighbour !== undefined) {
        note(totals.runs, "the neighbour's, beside another");
        const program = step.older === "neighbour" ? "first" : this.#runs.program;
        const own = { ...plain, company: NEIGHBOUR, program, seed: -plain.seed - 500_009_000 };
        this.#cast.neighbour.begin(own, this.#runs.settings, struckTogether(step.death));
      }
    };
    const plain = await this.#runs.job();
    const job: Job = { ...plain, ...step, program: step.older === "run" ? "first" : plain.program };
    const ended = await this.#runs.run(job);
    await this.#runs.besideEnded();
    const second = await beside;
    world.hook = undefined;
    this.#runs.calm();
    // A first one that was stopped by a limit, or whose session was struck, may have let go by then.
    const over = ended.done === undefined || ended.done.exit === 5 || ended.notice !== "";
    if (second !== undefined && second.done?.exit !== 4 && !early && !over)
      faults.push(
        `a second run beside the first, which ended with ${ended.done?.exit}, ended with ${second.done?.exit}: ${toldBy(second.done)}`,
      );
    // Then it may also have been the second that took them first.
    const beaten = early && second !== undefined && second.done?.exit !== 4;
    if (!(beaten && ended.done?.exit === 4)) faults.push(...this.#explain(step, ended));
    const most = this.#runs.settings.concurrency;
    // What a client has left, and what is still trickling when it has all, counts as in flight for a while.
    const lingers =
      ended.done === undefined ||
      ["slowBody", "hang", "cutConnection", "truncatedBody"].some(name => name in step.troubles);
    if (!lingers && world.requests.maxInFlight > most + (second === undefined ? 0 : 1))
      faults.push(`${world.requests.maxInFlight} requests in flight, more than ${most}`);
    if (!isTroubled(step) && ended.done !== undefined && step.death === undefined && second === undefined)
      faults.push(...repeats(world.requests, step));
    const isPlain = step.command === "sync" && !isTroubled(step);
    this.#isKnown ||= isPlain && ended.done?.exit === 0;
    if ("otherCompany" in step.troubles && ended.done?.exit === 2) {
      const rows = world.requests.entries.filter(({ path }) => !path.startsWith("/auth"));
      if (second === undefined && rows.length > 0)
        faults.push(`${rows.length} requests with another company's key, the first for ${rows[0]!.path}`);
    }
    this.#detailsFailed ||= mayFailDetails(step);
    const isTakenOver = over && second !== undefined && second.done?.exit !== 4;
    const left = { ...ended, isTakenOver };
    faults.push(...(await this.#rows.settle(left, this.#runs.settings, new Set(), step.command, step.confirmDeletes)));
    return faults;
  }

  #explain(step: RunStep, { done }: Ended): string[] {
    if (done === undefined) return [];
    note(this.#cast.workspace.totals.counts, `exit ${done.exit}`);
    const treated = step.beside !== undefined && this.#cast.story.steps.some(each => each.do === "configure");
    const { program, settings } = this.#runs;
    const older = step.older === "run" && program !== "first";
    const inTheWay = { archiveLost: this.#archiveLost, treated, older, detailsFailed: this.#detailsFailed };
    return unexplained(step, settings, done, inTheWay);
  }

  end(): Promise<readonly string[]> {
    return last(this.#cast, this.#runs, this.#rows);
  }
}
