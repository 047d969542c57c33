import { isTakenBack } from "./failure.ts";

const TIMES = 5;

/**
 * Does work that can be done again from its start: again, when the server took it back for the sake of another session's.
 * That one has gone on by then, so there is nothing to wait for.
 */
export async function repeating<T>(work: () => Promise<T>): Promise<T> {
  for (let time = 1; ; time++) {
    try {
      return await work();
    } catch (error) {
      if (time === TIMES || !isTakenBack(error)) throw error;
    }
  }
}
