import type { EngineProcess } from "../engine/engine_process.ts";
import type { MakeStand, Stand } from "../scenario/stand.ts";
import type { Story } from "../scenario/story.ts";
import type { Totals } from "../totals.ts";
import type { Neighbour } from "./neighbour.ts";
import type { World } from "./world.ts";

/** What scenarios are run with. `killServer` ends the server, where it may, and starts it again. */
export interface Workspace {
  readonly engine: EngineProcess;
  readonly make: MakeStand;
  readonly killServer: () => Promise<void>;
  readonly totals: Totals;
}

/** Who and what takes part in a scenario. */
export interface Cast {
  readonly story: Story;
  readonly workspace: Workspace;
  readonly world: World;
  readonly stand: Stand;
  readonly neighbour: Neighbour | undefined;
}
