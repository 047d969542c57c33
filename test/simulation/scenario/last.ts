import type { Simulator } from "../../../simulator/simulator.ts";
import { compareWithTruth } from "../../support/truth.ts";
import { type Job, toldBy } from "../engine/job.ts";
import type { Runs } from "../engine/runs.ts";
import { note } from "../totals.ts";
import type { Cast } from "../world/cast_of_streams.ts";
import { catalogue } from "../world/catalogue.ts";
import { COMPANY, NEIGHBOUR } from "../world/neighbour.ts";
import type { Rows } from "../world/rows.ts";
import { readTables } from "../world/tables.ts";
import { faultsOfVersions } from "../world/versions.ts";
import { changesBetween, differences, faultsOfFigures, faultsOfState } from "./endings.ts";
import { changesOf, firstSettings } from "./story.ts";

const DAY = 86_400_000;

/** The end of a scenario: one undisturbed full run; two where a scan had begun long before. Then the tables are the service's truth. */
export async function last(cast: Cast, runs: Runs, rows: Rows): Promise<readonly string[]> {
  const { story, world, stand } = cast;
  world.turn = story.steps.length;
  runs.settings = firstSettings(story.streams, story.seed);
  runs.set(world.now + 40 * DAY);
  // A detail whose row was away when it was asked for counts as absent until the row changes, or all are asked for; so does one that came without lines.
  const isOdd = [...world.odd].some(each => each.startsWith("order_parts "));
  const restores = changesOf(story).some(({ what, list }) => what === "restore" && list === "orders");
  const twice = (await stand.staged(COMPANY)).size > 0;
  for (let nth = 0; nth < (twice ? 2 : 1); nth++) {
    const faults = await quiet({ full: true, confirmDeletes: true, allDetails: restores || isOdd });
    if (faults.length > 0) return faults;
  }
  const day = new Date(world.now).toISOString().slice(0, 10);
  const compared = rows.streams.filter(
    ({ name }) => story.streams.includes(name) && name !== "rates" && name !== "prices",
  );
  const simulator = world as unknown as Simulator;
  const truth = await compareWithTruth(simulator, stand.warehouse, compared, day, rows.streams);
  const faults = [
    ...truth.differences,
    ...(await faultsOfVersions(stand, rows.streams, COMPANY)),
    ...(await faultsOfState(stand)),
    ...(await faultsOfFigures(story, world, stand, day)),
    ...(await nextDoor()),
    ...(await stand.litter()).map(name => `left behind: ${name}`),
    ...((await stand.holds(world.key)) ? ["the key stands in the warehouse"] : []),
  ];
  if (faults.length === 0 && story.seed % 4 === 0) {
    const before = rows.tables;
    faults.push(...(await quiet({})), ...changesBetween(before, rows.tables));
  }
  if (faults.length === 0 && story.seed % 3 === 0) faults.push(...(await verified()));
  return faults.length === 0 && story.seed % 5 === 0 ? besideClean() : faults;

  /** The neighbour, too, has in the end what its service has; and that took nothing from the first. */
  async function nextDoor(): Promise<readonly string[]> {
    const { neighbour } = cast;
    if (neighbour === undefined) return [];
    const again = (await stand.staged(NEIGHBOUR)).size > 0;
    for (let nth = 0; nth < (again ? 2 : 1); nth++) {
      const job = { ...(await runs.job()), company: NEIGHBOUR, full: true, confirmDeletes: true };
      neighbour.begin(job, runs.settings);
      await runs.besideEnded();
      const found = await neighbour.look("nothing");
      if (found.length > 0) return found;
    }
    return [
      ...neighbour.faultsOfTruth(),
      ...(await rows.untouched()),
      ...(await faultsOfVersions(stand, rows.streams, NEIGHBOUR)),
    ];
  }

  /** What was just found to be the service's truth is found to be so by the product too. */
  async function verified(): Promise<readonly string[]> {
    note(cast.workspace.totals.runs, "verify");
    const { done } = await runs.run({ ...(await runs.job()), command: "verify" });
    const told = done?.verified?.differences ?? [];
    if (done?.exit !== 0)
      return [`verify ended with ${done?.exit}: ${toldBy(done)} ${JSON.stringify(told.slice(0, 3))}`];
    return told.map(each => `verify tells of a difference where there is none: ${JSON.stringify(each)}`);
  }

  /** A warehouse that has seen nothing but this one run has what this one has. */
  async function besideClean(): Promise<readonly string[]> {
    const clean = await cast.workspace.make(story.readers);
    try {
      note(cast.workspace.totals.runs, "into a clean warehouse");
      const { done } = await runs.run(await runs.job(clean));
      if (done?.exit !== 0) return [`a run into a clean warehouse ended with ${done?.exit}: ${toldBy(done)}`];
      const found = await readTables(clean, "left", catalogue, COMPANY);
      return found === undefined ? ["nothing is in the clean warehouse"] : differences(rows.tables, found.tables);
    } finally {
      await clean.remove();
    }
  }

  async function quiet(order: Partial<Job>): Promise<readonly string[]> {
    note(cast.workspace.totals.runs, "undisturbed");
    const ended = await runs.run({ ...(await runs.job()), ...order });
    const { done } = ended;
    if (done?.exit !== 0) return [`an undisturbed run ended with ${done?.exit}: ${toldBy(done)}`];
    const left = done.report?.streams.filter(({ status }) => status !== "succeeded" && status !== "warning") ?? [];
    return [
      ...left.map(line => `${line.stream} ended as ${line.status}: ${line.error}`),
      ...(await rows.settle(ended, runs.settings, new Set())),
    ];
  }
}
