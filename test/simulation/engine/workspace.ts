import { lakeExtensions } from "../../lake/extensions.ts";
import type { PostgresServer } from "../../support/server.ts";
import { lakeStands, postgresStands } from "../scenario/served_stand.ts";
import { shrunk } from "../scenario/shrink.ts";
import { duckdbStands } from "../scenario/stand.ts";
import type { Database, Story } from "../scenario/story.ts";
import { type Divergence, live } from "../scenario.ts";
import { noTotals, type Totals } from "../totals.ts";
import type { Workspace } from "../world/cast_of_streams.ts";
import { openEngineProcess } from "./engine_process.ts";

/** What became of a scenario: nothing to tell, or a report with the story and a shorter one. */
export interface ScenarioResult {
  readonly seed: number;
  readonly totals: Totals;
  readonly report: string | undefined;
}

/** A place where scenarios of one database can be run, one after another. */
export interface OpenWorkspace {
  live(story: Story, shrinking: number): Promise<ScenarioResult>;
  close(): Promise<void>;
}

/** `runner` is the file of the process that runs the engine; `server` is where scenarios of PostgreSQL and of lakes have their databases; one that cannot be killed will do. */
export async function openWorkspace(
  database: Database,
  runner: string,
  server: Pick<PostgresServer, "url"> & Partial<PostgresServer>,
): Promise<OpenWorkspace> {
  const engine = openEngineProcess(runner);
  const stands = await duckdbStands();
  const makes = {
    duckdb: () => stands.make,
    postgres: () => postgresStands(server.url),
    ducklake: async () => lakeStands(server.url, await lakeExtensions()),
  };
  const make = await makes[database]();
  const workspace = (totals: Totals): Workspace => ({
    engine,
    make,
    totals,
    async killServer() {
      await server.kill9?.();
      await server.restart?.();
    },
  });
  const attempt = (story: Story, totals: Totals): Promise<Divergence | undefined> =>
    live(story, workspace(totals)).catch(error => ({ step: 0, faults: [`${(error as Error).stack ?? error}`] }));
  return {
    async live(story, shrinking) {
      const totals = noTotals();
      const found = await attempt(story, totals);
      totals.scenarios = 1;
      if (found === undefined) return { seed: story.seed, totals, report: undefined };
      const lines = [
        `Seed ${story.seed} diverged after step ${found.step}:`,
        ...found.faults.slice(0, 8),
        "",
        JSON.stringify(story),
      ];
      if (shrinking > 0) {
        console.error(`${lines.join("\n")}\n\nMaking it shorter …`);
        const fails = async (shorter: Story) => alike(await attempt(shorter, noTotals()), found);
        const short = await shrunk(story, fails, shrinking);
        lines.push("", "A shorter one that fails like it:", JSON.stringify(short));
      }
      return { seed: story.seed, totals, report: lines.join("\n") };
    },
    async close() {
      await engine.close();
      stands.close();
    },
  };
}

/** Whether two divergences are of one kind: the same words, whatever the keys and numbers. */
function alike(a: Divergence | undefined, b: Divergence): boolean {
  const words = (text: string | undefined) => text?.replace(/[\d.,:-]+|\([^)]*\)/g, "").slice(0, 60);
  return a !== undefined && b.faults.some(fault => words(fault) === words(a.faults[0]));
}
