import { startPostgres } from "../support/server.ts";
import { openYard } from "./engine/yard.ts";
import type { Database, Story } from "./scenario/story.ts";

/* One of the processes that live lives: it gets stories, and answers with what became of them. */

const [database, runner, tries] = process.argv.slice(2) as [Database, string, string];
const server = database === "postgres" ? await startPostgres() : undefined;
const yard = await openYard(database, runner, server ?? { url: "" });
process.on("message", (story: Story) => {
  void yard.live(story, Number(tries)).then(lived => process.send?.(lived));
});
process.once("disconnect", async () => {
  await yard.close();
  await server?.close();
  process.exit(0);
});
process.send?.("ready");
