import type { Death } from "../simulation/engine/deaths.ts";
import { plainRun, story } from "../simulation/scenario/found.ts";
import { simulationSuite } from "../simulation/simulation.suite.ts";

/** A run of the night that meets this. */
const struck = (death: Death) =>
  story(
    ["notes"],
    [plainRun, { do: "change", change: { what: "update", list: "notes", count: 3 } }, { ...plainRun, death }],
  );

/* A seed with two commands, a run beside another and a verification; and what no other database has. */
simulationSuite("ducklake", [3], {
  "sessions that the catalog's server ends before a commit are a loss that the run outlives": struck({
    at: "commit",
    nth: 10,
    when: "before",
    of: "backend",
  }),
  "files that are away for a moment amid a publish cost no row": struck({
    at: "commit",
    nth: 9,
    when: "before",
    of: "store",
  }),
});
