import type { Simulator } from "../../simulator/simulator.ts";
import { standBetween } from "../support/interposed.ts";

/** Done before a request for such a path is answered. */
export type Passing = (path: string) => Promise<void> | void;

/** Stands before the simulator for as long as many tests need one address of it. */
export interface Doorway {
  readonly service: Pick<Simulator, "url" | "key">;
  /** What is done from now on. */
  watch(passing: Passing): void;
  close(): void;
}

export async function openDoorway(simulator: Simulator): Promise<Doorway> {
  let passing: Passing = () => undefined;
  const standing = await standBetween(simulator, async ({ path }) => {
    await passing(path);
    return undefined;
  });
  return {
    ...standing,
    watch(next) {
      passing = next;
    },
  };
}
