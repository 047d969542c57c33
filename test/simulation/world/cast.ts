import type { Crew } from "../engine/crew.ts";
import type { Strike } from "../engine/job.ts";
import type { MakeStand, Stand } from "../scenario/stand.ts";
import type { Story } from "../scenario/story.ts";
import type { Tally } from "../tally.ts";
import type { Neighbour } from "./neighbour.ts";
import type { Village } from "./village.ts";

/** What lives are lived with. `strike` ends the server or a backend of it. */
export interface Yard {
  readonly crew: Crew;
  readonly make: MakeStand;
  readonly strike: (strike: Strike) => Promise<void>;
  readonly tally: Tally;
}

/** Who and what takes part in a life. */
export interface Cast {
  readonly story: Story;
  readonly yard: Yard;
  readonly village: Village;
  readonly stand: Stand;
  readonly neighbour: Neighbour | undefined;
}
