import { openDestination } from "../../src/warehouse/connect/open.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { whereIs } from "../outputs/export/exporting.ts";
import type { Scenario } from "./scenario.ts";

type Stored = Record<string, unknown>;

/** What is stored of a stream between two runs, as JSON. */
export async function remembered({ warehouse }: Scenario, stream: string): Promise<Stored> {
  const [row] = await warehouse.query<{ state: Stored }>(
    `select state from _tributary.stream_state where stream = '${stream}'`,
  );
  return row!.state;
}

/** Stores it otherwise, as another version of the program may have done. */
export async function remember(place: Scenario, stream: string, change: (stored: Stored) => Stored): Promise<void> {
  const state = JSON.stringify(change(await remembered(place, stream)));
  await between(place, ({ db }) =>
    db.updateTable("stream_state").set({ state }).where("stream", "=", stream).execute(),
  );
}

/** Writes to the warehouse between two runs. */
export async function between(place: Scenario, work: (destination: Destination) => Promise<unknown>): Promise<void> {
  const holder = { pid: process.pid, host: "here", command: "a test", startedAt: place.clock.date().toISOString() };
  const destination = await openDestination(
    whereIs(place.warehouse),
    { runId: "changing", holder, clock: place.clock },
    0,
  );
  try {
    await work(destination);
  } finally {
    await destination.close();
  }
}
