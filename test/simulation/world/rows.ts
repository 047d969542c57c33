import type { Stream } from "../../../src/catalog/stream.ts";
import type { Ended } from "../engine/engine_process.ts";
import type { Job } from "../engine/job.ts";
import { faultsOfCounts, faultsOfMoment, faultsOfStep, orphans, untreated } from "../scenario/checks.ts";
import { changesBetween, faultsOfTableCounts, lost } from "../scenario/endings.ts";
import type { Settings } from "../scenario/story.ts";
import { note } from "../totals.ts";
import type { Cast } from "./cast_of_streams.ts";
import { catalogue, catalogues, type ListName, lists, type Program } from "./catalogue.ts";
import { COMPANY, withoutTitles } from "./neighbour.ts";
import { readTables, type Tables, widened } from "./tables.ts";

const listOf = (name: string): string => (name === "order_details" ? "orders" : name);

/** The first company's rows as they were last seen from outside, against which they are held after each step. */
export class Rows {
  /** Since a configuration made titles volatile. */
  looseTitles = false;
  readonly #cast: Cast;
  readonly #widens: boolean;
  #tables: Tables = new Map();
  /** The service's time when the tables were read. */
  /** As the program knows them, with the columns that were added to their tables. */
  #streams: readonly Stream[] = catalogue;
  #known: readonly Stream[] = catalogue;
  /** Of each list the step in which it was last read to its end. */
  readonly #read = new Map<string, number>();

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#widens = cast.story.steps.some(step => step.do === "configure" && step.settings.unknownFields === "column");
  }

  get tables(): Tables {
    return this.#tables;
  }

  get streams(): readonly Stream[] {
    return this.#streams;
  }

  /** From now on the tables are those that this program knows. */
  upgrade(program: Program): void {
    this.#known = catalogues[program];
    this.#streams = this.#known;
  }

  /** Whatever goes on from here goes on from what readers have. */
  async accept(): Promise<void> {
    this.#tables = (await readTables(this.#cast.stand, "shown", this.#streams, COMPANY))?.tables ?? new Map();
  }

  /** The rows are as they were, though titles are the warehouse's to treat. */
  async untouched(): Promise<readonly string[]> {
    const before = this.#tables;
    const found = await readTables(this.#cast.stand, "left", this.#streams, COMPANY);
    this.#tables = found?.tables ?? new Map();
    return changesBetween(withoutTitles(before), withoutTitles(this.#tables));
  }

  /** Tables that a reset with --drop empties: those of the streams, and of their details. */
  droppedBy(names: readonly string[]): Set<string> {
    const dropped = this.#streams.filter(
      ({ name, mode }) => names.includes(name) || (mode.kind === "detail" && names.includes(mode.of)),
    );
    return new Set(dropped.flatMap(({ tables }) => [tables.main, ...tables.children].map(table => table.name)));
  }

  /** Reads the tables after a step and holds them against those before it. */
  async settle(
    { done, crash, notice, isTakenOver = false }: Ended & { readonly isTakenOver?: boolean },
    { titles }: Settings,
    emptied: ReadonlySet<string>,
    command: Job["command"] = "sync",
    confirmed = false,
  ): Promise<readonly string[]> {
    const { stand, world, story, workspace } = this.#cast;
    const struck = / (?:backend|server)$/.test(notice);
    if (crash !== undefined) return [`the engine's process ended by itself with ${crash}`];
    if (this.#widens) this.#streams = await widened(stand, this.#known);
    const streams = this.#streams;
    const found = await readTables(stand, "left", streams, COMPANY);
    if (found === undefined) return [];
    const { tables, twice } = found;
    const faults = [
      ...twice.map(key => `two rows ${key}`),
      ...faultsOfMoment(tables, streams, world.odd),
      ...orphans(tables, streams),
      ...(await faultsOfTableCounts(stand, tables, COMPANY)),
      ...faultsOfStep(this.#tables, tables, streams, {
        emptied,
        looseTitles: this.looseTitles,
        isLacking: (table, parent) =>
          world.served.has(`linesMissing ${table} ${parent}`) && !world.served.has(`whole ${table} ${parent}`),
        // --confirm-deletes takes all that its scan missed: offset pages may hide a live row from it, and null is an empty list.
        wasThere: (name, parent) =>
          !(confirmed && (story.hiding || world.served.has(`nullList ${listOf(name)}`))) &&
          this.#wasThere(name, parent),
      }),
    ];
    if (done?.report !== undefined) {
      // What was staged goes with the server, or to the run that went on.
      if (!struck && !isTakenOver) faults.push(...faultsOfCounts(done.report, await stand.staged(COMPANY)));
      for (const { stream, status } of done.report.streams)
        if (status === "succeeded" || status === "warning") this.#read.set(stream, world.turn);
      if (!story.hiding && command === "sync") faults.push(...lost(tables, world, done.report));
    }
    // A reset rewrites nothing.
    if (done?.report !== undefined && (done.exit === 0 || done.exit === 1)) {
      if (titles !== "keep") note(workspace.totals.counts, `titles under ${titles}`);
      faults.push(...untreated(tables, titles));
    }
    if (done?.said.some(line => line.includes(world.key)) === true) faults.push("the key stands in the log");
    this.#tables = tables;
    return faults;
  }

  /** What a reader sees in the middle of a run. */
  async look(who: string): Promise<string[]> {
    const { stand, story, workspace, world } = this.#cast;
    if (stand.database === "duckdb" && story.readers === "direct") return [];
    // What is shown may lack the newest of the added columns, or have more of them.
    const found = await readTables(stand, "shown", catalogue, COMPANY);
    if (found === undefined) return [];
    note(workspace.totals.counts, "looks of readers");
    const { tables, twice } = found;
    return [...twice, ...faultsOfMoment(tables, catalogue, world.odd), ...orphans(tables, catalogue)].map(
      fault => who + fault,
    );
  }

  /** Whether the service has had a list's row ever since the list was last read to its end, and before. */
  #wasThere(name: string, parent: string): boolean {
    const { world } = this.#cast;
    // The service has the same prices all the time.
    if (name === "prices") return true;
    // Its own address said that it is not there.
    if (world.odd.has(`absent ${parent}`)) return false;
    // An answer of many rows may have fewer of them the next time.
    const list = listOf(name) as ListName;
    if (!lists.includes(list)) return false;
    const { collection, family } = world.sources[list];
    if (collection.get(family.number(parent)) === undefined) return false;
    const removed = world.removed[list].get(parent);
    return removed === undefined || removed < (this.#read.get(list) ?? -1);
  }
}
