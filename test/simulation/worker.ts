import { startPostgres } from "../support/server.ts";
import { openWorkspace } from "./engine/workspace.ts";
import type { Database, Story } from "./scenario/story.ts";

/* One of the processes that live scenarios: it gets stories, and answers with what became of them. */

const [database, runner, tries] = process.argv.slice(2) as [Database, string, string];
const server = database !== "duckdb" ? await startPostgres() : undefined;
const workspace = await openWorkspace(database, runner, server ?? { url: "" });
process.on("message", (story: Story) => {
  void workspace.live(story, Number(tries)).then(result => process.send?.(result));
});
process.once("disconnect", async () => {
  await workspace.close();
  await server?.close();
  process.exit(0);
});
process.send?.("ready");
