import { setTimeout as sleep } from "node:timers/promises";
import { firstSettings, type Settings } from "../scenario/story.ts";
import { note, TOO_SHORT } from "../totals.ts";
import type { Cast } from "../world/cast_of_streams.ts";
import type { Program } from "../world/catalogue.ts";
import { configurationOf } from "../world/configuration.ts";
import { COMPANY } from "../world/neighbour.ts";
import { EPOCH } from "../world/world.ts";
import type { Ended } from "./engine_process.ts";
import type { Job } from "./job.ts";

/** The runs of a scenario, under its configuration, and the time that passes with them. */
export class Runs {
  settings: Settings;
  /** By which runs are made. */
  program: Program = "first";
  readonly #cast: Cast;
  /** The machine's clock. */
  #now = EPOCH;
  #count = 0;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.settings = firstSettings(cast.story.streams, cast.story.seed);
  }

  set(now: number): void {
    const { world } = this.#cast;
    this.#now = now;
    world.now = Math.max(world.now, now);
  }

  pass(ms: number): void {
    this.set(this.#now + ms);
  }

  /** A sync of the first company, as the configuration is now. */
  async job(stand = this.#cast.stand): Promise<Job> {
    const { story, world, neighbour } = this.#cast;
    await stand.configure(configurationOf(story, this.settings, world.url, neighbour?.world.url));
    this.#count++;
    return {
      command: "sync",
      config: stand.config,
      key: world.key,
      otherKey: neighbour?.world.key ?? "none",
      company: COMPANY,
      program: this.program,
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
      startsAt: this.#now,
      alarms: [2_000, 7_000, 900_000],
      seed: story.seed * 1_000 + this.#count,
      death: undefined,
    };
  }

  async run(job: Job): Promise<Ended> {
    const { workspace, world, neighbour, stand } = this.#cast;
    const begun = world.asked();
    const ended = await workspace.engine.run(job, strike =>
      strike.strike === "server" ? workspace.killServer() : stand.strike(strike),
    );
    const { done, notice } = ended;
    if (notice !== "") note(workspace.totals.deaths, notice);
    else if (job.death !== undefined) note(workspace.totals.counts, TOO_SHORT);
    if (done === undefined || notice !== "") {
      // Its sessions are the neighbour's own.
      await neighbour?.idle();
      await stand.rest();
    }
    this.set((done === undefined ? this.#now + 250 * (world.asked() - begun) : done.endsAt) + 1_000);
    return ended;
  }

  /** Resolves when the neighbour is not at work any more: time has passed for both. */
  async besideEnded(): Promise<void> {
    const { workspace, stand, neighbour } = this.#cast;
    const ended = await neighbour?.idle();
    if (ended === undefined) return;
    if (ended.notice !== "") note(workspace.totals.deaths, ended.notice);
    if (ended.done === undefined) await stand.rest();
    else this.set(Math.max(this.#now, ended.done.endsAt + 1_000));
  }

  /** Resolves when the requests of a process that is gone have ended with their sockets. */
  async drained(): Promise<void> {
    const { requests } = this.#cast.world;
    for (let turn = 0; requests.entries.length < requests.total && turn < 4_000; turn++) await sleep(5);
    requests.clear();
  }

  /** The service has no more troubles. */
  calm(): void {
    const { troubles } = this.#cast.world;
    const quiet = { rateLimit: null, planLimit: null, redirectTo: null, only: null, forbidden: null };
    for (const name of Object.keys(troubles)) Object.assign(troubles, { [name]: 0 });
    Object.assign(troubles, quiet);
  }
}
