import type { PostgresServer } from "../../support/server.ts";
import { type Divergence, live } from "../life.ts";
import { inSentences } from "../scenario/prose.ts";
import { shrunk } from "../scenario/shrink.ts";
import { duckdbStands, postgresStands } from "../scenario/stand.ts";
import type { Database, Story } from "../scenario/story.ts";
import { emptyTally, type Tally } from "../tally.ts";
import type { Yard } from "../world/cast.ts";
import { openCrew } from "./crew.ts";

/** What became of a life: nothing to tell, or a report with the story and a shorter one. */
export interface Lived {
  readonly seed: number;
  readonly tally: Tally;
  readonly report: string | undefined;
}

/** A place where lives of one database can be lived, one after another. */
export interface OpenYard {
  live(story: Story, shrinking: number): Promise<Lived>;
  close(): Promise<void>;
}

/** `runner` is the file of the process that runs the engine; `server` is where PostgreSQL's lives have their databases; one that cannot be killed will do. */
export async function openYard(
  database: Database,
  runner: string,
  server: Pick<PostgresServer, "url"> & Partial<PostgresServer>,
): Promise<OpenYard> {
  const crew = openCrew(runner);
  const stands = await duckdbStands();
  const make = database === "duckdb" ? stands.make : postgresStands(server.url);
  const yard = (tally: Tally): Yard => ({
    crew,
    make,
    tally,
    async strike({ strike }) {
      if (strike !== "server") return;
      await server.kill9?.();
      await server.restart?.();
    },
  });
  const attempt = (story: Story, tally: Tally): Promise<Divergence | undefined> =>
    live(story, yard(tally)).catch(error => ({ step: 0, faults: [`${(error as Error).stack ?? error}`] }));
  return {
    async live(story, shrinking) {
      const tally = emptyTally();
      const found = await attempt(story, tally);
      tally.lives = 1;
      if (found === undefined) return { seed: story.seed, tally, report: undefined };
      const lines = [
        `Seed ${story.seed} diverged after step ${found.step}:`,
        ...found.faults.slice(0, 8),
        "",
        ...inSentences(story),
      ];
      if (shrinking > 0) {
        console.error(`${lines.join("\n")}\n\nMaking it shorter …`);
        const fails = async (shorter: Story) => alike(await attempt(shorter, emptyTally()), found);
        const short = await shrunk(story, fails, shrinking);
        lines.push("", "A shorter one that fails like it:", ...inSentences(short), "", JSON.stringify(short));
      }
      return { seed: story.seed, tally, report: lines.join("\n") };
    },
    async close() {
      await crew.close();
      stands.close();
    },
  };
}

/** Whether two divergences are of one kind: the same words, whatever the keys and numbers. */
function alike(a: Divergence | undefined, b: Divergence): boolean {
  const words = (text: string | undefined) => text?.replace(/[\d.,:-]+|\([^)]*\)/g, "").slice(0, 60);
  return a !== undefined && b.faults.some(fault => words(fault) === words(a.faults[0]));
}
