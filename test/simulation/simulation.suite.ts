import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { buildRunner } from "./engine/engine_process.ts";
import { type OpenWorkspace, openWorkspace } from "./engine/workspace.ts";
import { storyOf } from "./scenario/drawn.ts";
import type { Database, Story } from "./scenario/story.ts";

/** Scenarios of these seeds, and stories by what each shows, in a database. */
export function simulationSuite(
  database: Database,
  seeds: readonly number[],
  stories: Readonly<Record<string, Story>>,
): void {
  describe(`scenarios in ${database}`, () => {
    let runner: Awaited<ReturnType<typeof buildRunner>>;
    let workspace: OpenWorkspace;
    beforeAll(async () => {
      runner = await buildRunner();
      workspace = await openWorkspace(database, runner.file, { url: inject("postgresUrl") });
    });
    afterAll(async () => {
      await workspace.close();
      await runner.remove();
    });

    for (const seed of seeds)
      it(`whatever happens, the tables end up right (seed ${seed})`, async () => {
        expect((await workspace.live(storyOf(seed, database), 0)).report).toBeUndefined();
      });

    for (const [sentence, story] of Object.entries(stories))
      it(sentence, async () => {
        expect((await workspace.live({ ...story, database }, 0)).report).toBeUndefined();
      });
  });
}
