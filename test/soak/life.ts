import { setTimeout as sleep } from "node:timers/promises";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { compareWithTruth } from "../support/truth.ts";
import { catalogue, type ListName, lists } from "./catalogue.ts";
import { faultsOfCounts, faultsOfMoment, faultsOfStep, orphans, untreated } from "./checks.ts";
import { configurationOf } from "./configuration.ts";
import type { Crew, Ended } from "./crew.ts";
import { changesBetween, differences, faultsOfFigures, faultsOfState, lost, repeats, unexplained } from "./endings.ts";
import type { Job, Strike } from "./job.ts";
import { lossInWords } from "./prose.ts";
import type { MakeStand, Stand } from "./stand.ts";
import { firstSettings, type RunStep, type Settings, type Step, type Story } from "./story.ts";
import { readTables, type Tables, widened } from "./tables.ts";
import { note, type Tally, TOO_SHORT } from "./tally.ts";
import { faultsOfVersions } from "./versions.ts";
import { EPOCH, openVillage, type Village } from "./village.ts";

/** What lives are lived with. `strike` ends the server or a backend of it. */
export interface Yard {
  readonly crew: Crew;
  readonly make: MakeStand;
  readonly strike: (strike: Strike) => Promise<void>;
  readonly tally: Tally;
}

/** What went wrong in a life, and after which step (from 1; the story's length and more: at the end). */
export interface Divergence {
  readonly step: number;
  readonly faults: readonly string[];
}

const DAY = 86_400_000;
/** Lives a story to its end, or to the first thing that must not be. */
export async function live(story: Story, yard: Yard): Promise<Divergence | undefined> {
  const village = await openVillage(story.facts);
  const stand = await yard.make(story.readers);
  const life = new Life(story, yard, village, stand);
  try {
    for (const [index, step] of story.steps.entries()) {
      const faults = await life.take(step, index);
      if (faults.length > 0) return { step: index + 1, faults };
    }
    const faults = await life.end();
    return faults.length > 0 ? { step: story.steps.length + 1, faults } : undefined;
  } finally {
    await village.close();
    await stand.remove();
  }
}

class Life {
  readonly #story: Story;
  readonly #yard: Yard;
  readonly #village: Village;
  readonly #stand: Stand;
  #settings: Settings;
  /** The machine's clock; the service's goes its own way. */
  #now = EPOCH;
  /** By how much it is wrong for now. */
  #off = 0;
  #tables: Tables = new Map();
  /** With the columns that were added to their tables. */
  #streams = catalogue;
  /** Of each list the step in which it was last read to its end. */
  readonly #read = new Map<string, number>();
  #looseTitles = false;
  readonly #widens: boolean;
  /** A detail whose row was away when it was asked for counts as absent until the row changes, or all are asked for. */
  readonly #restores: boolean;
  #runs = 0;

  constructor(story: Story, yard: Yard, village: Village, stand: Stand) {
    this.#story = story;
    this.#yard = yard;
    this.#village = village;
    this.#stand = stand;
    this.#settings = firstSettings(story.streams, story.seed);
    const changes = story.steps.flatMap(step =>
      step.do === "change" ? [step.change] : step.do === "run" ? step.during.map(({ change }) => change) : [],
    );
    this.#restores = changes.some(({ what, list }) => what === "restore" && list === "orders");
    this.#widens = story.steps.some(step => step.do === "configure" && step.settings.unknownFields === "column");
  }

  async take(step: Step, index: number): Promise<readonly string[]> {
    const { tally } = this.#yard;
    this.#village.turn = index;
    switch (step.do) {
      case "change":
        note(tally.counts, `change: ${step.change.what}`);
        this.#village.change(step.change);
        return [];
      case "clock":
        note(tally.counts, step.ms < 0 ? "clock back" : "clock on");
        this.#now += step.ms;
        this.#village.now = Math.max(this.#village.now, this.#now);
        return [];
      case "configure":
        note(tally.counts, "configuration");
        this.#looseTitles ||= step.settings.volatileTitles;
        this.#settings = step.settings;
        return [];
      case "lose": {
        if (!(await this.#stand.lose(step.how))) return [];
        note(tally.faults, lossInWords(step.how));
        if (step.how === "archive") return [];
        // Whatever goes on from here goes on from what readers have.
        this.#tables = (await readTables(this.#stand, "shown", this.#streams))?.tables ?? new Map();
        return [];
      }
      case "reset": {
        note(tally.runs, step.drop ? "reset --drop" : "reset");
        const job = {
          ...(await this.#job()),
          command: "reset" as const,
          names: step.names,
          drop: step.drop,
          death: step.death,
        };
        const ended = await this.#run(job);
        const { done } = ended;
        if (done !== undefined && ![0, ...(step.death === undefined ? [] : [4, 6])].includes(done.exit))
          return [`reset ended with ${done.exit}: ${done.error}`];
        return this.#settle(ended, step.drop ? this.#droppedBy(step.names) : new Set());
      }
      case "run":
        return this.#take(step);
    }
  }

  /** Tables that a reset with --drop empties: those of the streams, and of their details. */
  #droppedBy(names: readonly string[]): Set<string> {
    const dropped = this.#streams.filter(
      ({ name, mode }) => names.includes(name) || (mode.kind === "detail" && names.includes(mode.of)),
    );
    return new Set(dropped.flatMap(({ tables }) => [tables.main, ...tables.children].map(table => table.name)));
  }

  async #take(step: RunStep): Promise<readonly string[]> {
    const { tally } = this.#yard;
    const village = this.#village;
    note(
      tally.runs,
      [
        step.command,
        ...(step.names.length > 0 ? ["named"] : []),
        ...(step.full ? ["--full"] : []),
        ...(step.allDetails ? ["--details"] : []),
        ...(step.confirmDeletes ? ["--confirm-deletes"] : []),
      ].join(" "),
    );
    for (const name of Object.keys(step.troubles)) note(tally.faults, name);
    const faults: string[] = [];
    const begun = village.asked();
    await this.#drained();
    village.requests.clear();
    let beside: Promise<Ended> | undefined;
    let early = false;
    village.hook = async asked => {
      const nth = asked - begun;
      if (nth === step.troublesAt) Object.assign(village.troubles, structuredClone(step.troubles));
      for (const { at, change } of step.during) {
        if (at !== nth) continue;
        note(tally.counts, `change under way: ${change.what}`);
        village.change(change);
      }
      if (step.looks.includes(nth)) faults.push(...(await this.#look(`a reader at request ${nth} saw `)));
      if (step.second === nth && beside === undefined && nth > 1 && step.command === "sync") {
        note(tally.runs, "sync beside another");
        // Before a run has asked for rows it may not hold its locks yet.
        early = village.requests.entries.every(({ path }) => path.startsWith("/auth"));
        beside = this.#yard.crew.run({ ...job, death: undefined, seed: -job.seed }, async () => undefined);
        await beside;
      }
    };
    this.#off = step.clockOff;
    if (step.clockOff !== 0) note(tally.counts, step.clockOff > 0 ? "clock ahead for a run" : "clock behind for a run");
    const job: Job = { ...(await this.#job()), ...step, command: step.command };
    const ended = await this.#run(job);
    this.#off = 0;
    const second = await beside;
    village.hook = undefined;
    this.#calm();
    // A first one that was stopped by a limit, or whose session was struck, may have let go by then.
    const over = ended.done === undefined || ended.done.exit === 5 || ended.notice !== "";
    if (second !== undefined && second.done?.exit !== 4 && !early && !over)
      faults.push(
        `a second run beside the first, which ended with ${ended.done?.exit}, ended with ${second.done?.exit}: ${second.done?.error ?? second.done?.report?.errors}`,
      );
    // Then it may also have been the second that took them first.
    const beaten = early && second !== undefined && second.done?.exit !== 4;
    if (!(beaten && ended.done?.exit === 4)) faults.push(...this.#explain(step, ended));
    const most = this.#settings.concurrency;
    // What a client has left, and what is still trickling when it has all, counts as in flight for a while.
    const lingers =
      ended.done === undefined ||
      ["slowBody", "hang", "cutConnection", "truncatedBody"].some(name => name in step.troubles);
    if (!lingers && village.requests.maxInFlight > most + (second === undefined ? 0 : 1))
      faults.push(`${village.requests.maxInFlight} requests in flight, more than ${most}`);
    if (
      Object.keys(step.troubles).length === 0 &&
      ended.done !== undefined &&
      step.death === undefined &&
      second === undefined
    )
      faults.push(...repeats(village.requests, step));
    faults.push(...(await this.#settle(ended, new Set(), step.command)));
    return faults;
  }

  /** Resolves when the requests of a process that is gone have ended with their sockets. */
  async #drained(): Promise<void> {
    const { requests } = this.#village;
    for (let turn = 0; requests.entries.length < requests.total && turn < 4_000; turn++) await sleep(5);
  }

  #calm(): void {
    const { troubles } = this.#village;
    const quiet = { rateLimit: null, planLimit: null, redirectTo: null, only: null, forbidden: null };
    for (const name of Object.keys(troubles)) Object.assign(troubles, { [name]: 0 });
    Object.assign(troubles, quiet);
  }

  #explain(step: RunStep, { done }: Ended): string[] {
    if (done === undefined) return [];
    note(this.#yard.tally.counts, `exit ${done.exit}`);
    return unexplained(step, this.#settings, done);
  }

  async #job(stand = this.#stand): Promise<Job> {
    await stand.configure(configurationOf(this.#story, this.#settings, this.#village.url));
    this.#runs++;
    return {
      command: "sync",
      config: stand.config,
      key: this.#village.key,
      names: [],
      full: false,
      allDetails: false,
      confirmDeletes: false,
      drop: false,
      rejects: false,
      from: undefined,
      to: undefined,
      restart: false,
      maxTimeMs: undefined,
      maxRequests: undefined,
      startsAt: this.#now + this.#off,
      alarms: [2_000, 7_000, 900_000],
      seed: this.#story.seed * 1_000 + this.#runs,
      death: undefined,
    };
  }

  async #run(asked: Job): Promise<Ended> {
    const job = asked.maxTimeMs === undefined ? asked : { ...asked, alarms: [...asked.alarms, asked.maxTimeMs] };
    const begun = this.#village.asked();
    const ended = await this.#yard.crew.run(job, this.#yard.strike);
    const { done, notice } = ended;
    if (notice !== "") note(this.#yard.tally.deaths, notice);
    else if (job.death !== undefined) note(this.#yard.tally.counts, TOO_SHORT);
    if (done === undefined) await this.#stand.rest();
    this.#now = done === undefined ? this.#now + 250 * (this.#village.asked() - begun) : done.endsAt - this.#off;
    this.#now += 1_000;
    this.#village.now = Math.max(this.#village.now, this.#now);
    return ended;
  }

  /** Reads the tables after a step and holds them against those before it. */
  async #settle(
    { done, notice }: Ended,
    emptied: ReadonlySet<string>,
    command: Job["command"] = "sync",
  ): Promise<readonly string[]> {
    const struck = / (?:backend|server)$/.test(notice);
    if (this.#widens) this.#streams = await widened(this.#stand, catalogue);
    const streams = this.#streams;
    const found = await readTables(this.#stand, "left", streams);
    if (found === undefined) return [];
    const { tables, twice } = found;
    const faults = [
      ...twice.map(key => `two rows ${key}`),
      ...faultsOfMoment(tables, streams),
      ...orphans(tables, streams),
      ...faultsOfStep(this.#tables, tables, streams, {
        emptied,
        looseTitles: this.#looseTitles,
        wasThere: (name, parent) => this.#wasThere(name, parent),
      }),
    ];
    if (done?.report !== undefined) {
      // What was staged goes with the server.
      if (!struck) faults.push(...faultsOfCounts(done.report, await this.#stand.staged()));
      for (const { stream, status } of done.report.streams)
        if (status === "succeeded" || status === "warning") this.#read.set(stream, this.#village.turn);
      if (!this.#story.hiding && command === "sync") faults.push(...lost(tables, this.#village, done.report));
    }
    // A reset rewrites nothing.
    if (done?.report !== undefined && (done.exit === 0 || done.exit === 1)) {
      const { titles } = this.#settings;
      if (titles !== "keep") note(this.#yard.tally.counts, `titles under ${titles}`);
      faults.push(...untreated(tables, titles));
    }
    if (done?.said.some(line => line.includes(this.#village.key)) === true) faults.push("the key stands in the log");
    this.#tables = tables;
    return faults;
  }

  /** Whether the service has had a list's row ever since the list was last read to its end, and before. */
  #wasThere(name: string, parent: string): boolean {
    // An answer of many rows may have fewer of them the next time.
    const list = (name === "order_details" ? "orders" : name) as ListName;
    if (!lists.includes(list)) return false;
    const { collection, family } = this.#village.sources[list];
    if (collection.get(family.number(parent)) === undefined) return false;
    const removed = this.#village.removed[list].get(parent);
    return removed === undefined || removed < (this.#read.get(list) ?? -1);
  }

  /** What a reader sees in the middle of a run. */
  async #look(who: string): Promise<string[]> {
    if (this.#stand.database === "duckdb" && this.#story.readers === "direct") return [];
    // What is shown may lack the newest of the added columns, or have more of them.
    const found = await readTables(this.#stand, "shown", catalogue);
    if (found === undefined) return [];
    note(this.#yard.tally.counts, "looks of readers");
    const { tables, twice } = found;
    return [...twice, ...faultsOfMoment(tables, catalogue), ...orphans(tables, catalogue)].map(fault => who + fault);
  }

  /** One undisturbed full run; two where a scan had begun long before. Then the tables are the service's truth. */
  async end(): Promise<readonly string[]> {
    this.#village.turn = this.#story.steps.length;
    this.#settings = firstSettings(this.#story.streams, this.#story.seed);
    this.#now = Math.max(this.#now, this.#village.now) + 40 * DAY;
    this.#village.now = this.#now;
    const twice = (await this.#stand.staged()).size > 0;
    for (let nth = 0; nth < (twice ? 2 : 1); nth++) {
      const faults = await this.#quiet({ full: true, confirmDeletes: true, allDetails: this.#restores });
      if (faults.length > 0) return faults;
    }
    const day = new Date(this.#village.now).toISOString().slice(0, 10);
    const compared = this.#streams.filter(
      ({ name }) => this.#story.streams.includes(name) && name !== "rates" && name !== "prices",
    );
    const simulator = this.#village as unknown as Simulator;
    const truth = await compareWithTruth(simulator, this.#stand.warehouse, compared, day, this.#streams);
    const faults = [
      ...truth.differences,
      ...(await faultsOfVersions(this.#stand, this.#streams)),
      ...(await faultsOfState(this.#stand)),
      ...(await faultsOfFigures(this.#story, this.#village, this.#stand, day)),
      ...(await this.#stand.litter()).map(name => `left behind: ${name}`),
      ...((await this.#stand.holds(this.#village.key)) ? ["the key stands in the warehouse"] : []),
    ];
    if (faults.length === 0 && this.#story.seed % 4 === 0) {
      const before = this.#tables;
      faults.push(...(await this.#quiet({})), ...changesBetween(before, this.#tables));
    }
    if (faults.length === 0 && this.#story.seed % 3 === 0) faults.push(...(await this.#verified()));
    return faults.length === 0 && this.#story.seed % 5 === 0 ? this.#besideClean() : faults;
  }

  /** What was just found to be the service's truth is found to be so by the product too. */
  async #verified(): Promise<readonly string[]> {
    note(this.#yard.tally.runs, "verify");
    const { done } = await this.#run({ ...(await this.#job()), command: "verify" });
    const told = done?.verified?.differences ?? [];
    if (done?.exit !== 0)
      return [`verify ended with ${done?.exit}: ${done?.error ?? JSON.stringify(told.slice(0, 3))}`];
    return told.map(each => `verify tells of a difference where there is none: ${JSON.stringify(each)}`);
  }

  /** A warehouse that has seen nothing but this one run has what this one has. */
  async #besideClean(): Promise<readonly string[]> {
    const clean = await this.#yard.make(this.#story.readers);
    try {
      note(this.#yard.tally.runs, "into a clean warehouse");
      const { done } = await this.#run(await this.#job(clean));
      if (done?.exit !== 0) return [`a run into a clean warehouse ended with ${done?.exit}: ${done?.error}`];
      const found = await readTables(clean, "left", catalogue);
      return found === undefined ? ["nothing is in the clean warehouse"] : differences(this.#tables, found.tables);
    } finally {
      await clean.remove();
    }
  }

  async #quiet(order: Partial<Job>): Promise<readonly string[]> {
    note(this.#yard.tally.runs, "undisturbed");
    const ended = await this.#run({ ...(await this.#job()), ...order });
    const { done } = ended;
    if (done?.exit !== 0)
      return [`an undisturbed run ended with ${done?.exit}: ${done?.error ?? done?.report?.errors.join(" ")}`];
    const left = done.report?.streams.filter(({ status }) => status !== "succeeded" && status !== "warning") ?? [];
    return [
      ...left.map(line => `${line.stream} ended as ${line.status}: ${line.error}`),
      ...(await this.#settle(ended, new Set())),
    ];
  }
}
