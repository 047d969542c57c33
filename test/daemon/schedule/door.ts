import type { Simulator } from "../../../simulator/simulator.ts";
import { type Instead, interposed, refused } from "../../support/interposed.ts";

/** What is between the runs and the service: nothing, a torn line, or a notice that it is being mended. */
export type Door = "open" | "torn" | "mending";

/** The way to the service. */
export interface Doorway {
  /** To be asked instead of the simulator. */
  readonly service: Simulator;
  door: Door;
  /** Paths of the details that were asked for, in their order. */
  details: string[];
  /** Told before each of them is answered. */
  onDetail: (nth: number) => void;
  /** Told of each request that came to nothing because of the door. */
  onRefused: () => void;
}

/** `asked` hears of every request. */
export async function doorway(simulator: Simulator, asked: () => void): Promise<Doorway> {
  const look = (path: string): Instead | undefined => {
    asked();
    if (way.door === "open") {
      if (path.endsWith("/line-items")) way.onDetail(way.details.push(path));
      return undefined;
    }
    const { door } = way;
    way.onRefused();
    if (door === "torn") throw new Error("the line is torn");
    return refused(503, "SERVICE_UNAVAILABLE");
  };
  const service = await interposed(simulator, ({ path }) => look(path));
  const way: Doorway = {
    service,
    door: "open",
    details: [],
    onDetail: () => undefined,
    onRefused: () => undefined,
  };
  return way;
}
