import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { buildRunner } from "./engine/engine_process.ts";
import { type OpenWorkspace, openWorkspace } from "./engine/workspace.ts";
import { storyOf } from "./scenario/drawn.ts";
import { found } from "./scenario/found.ts";
import type { Database } from "./scenario/story.ts";

/**
 * Seeds whose scenarios have deaths in them, and together every stream, command, a reset, added columns, a clean
 * warehouse, a second company, and a later program with runs of the one before it.
 */
const seeds: Readonly<Record<Database, readonly number[]>> = {
  duckdb: [255, 82, 547, 107],
  postgres: [137, 94],
};
let runner: Awaited<ReturnType<typeof buildRunner>>;

beforeAll(async () => {
  runner = await buildRunner();
});
afterAll(() => runner.remove());

describe.each(["duckdb", "postgres"] as const)("scenarios in %s", database => {
  let workspace: OpenWorkspace;
  beforeAll(async () => {
    workspace = await openWorkspace(database, runner.file, { url: inject("postgresUrl") });
  });
  afterAll(() => workspace.close());

  for (const seed of seeds[database])
    it(`whatever happens, the tables end up right (seed ${seed})`, async () => {
      expect((await workspace.live(storyOf(seed, database), 0)).report).toBeUndefined();
    });

  for (const [sentence, story] of Object.entries(found))
    it(sentence, async () => {
      expect((await workspace.live({ ...story, database }, 0)).report).toBeUndefined();
    });
});
