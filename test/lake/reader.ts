/*
 * Readers of a lake in one process, each with a connection of its own, which it keeps all the while. It says "open" once they
 * have it, they look again and again until its input ends, and then it says as JSON what they saw.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { plainly } from "./plain.ts";

/** What readers are to do: in each transaction the two questions, one some time after the other, have one answer. */
export interface ReaderOrder {
  readonly destination: Readonly<Record<string, unknown>>;
  readonly readers: number;
  /** Each has one row as its answer. */
  readonly questions: readonly [string, string];
  /** Between two looks of a reader, on average. */
  readonly pauseMs: number;
}

/** What they saw; `states` of the one that saw most. */
export interface Told {
  readers: number;
  looks: number;
  states: number;
  readonly errors: string[];
  readonly mixtures: string[];
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "") as ReaderOrder;
  const told: Told = { readers: 0, looks: 0, states: 0, errors: [], mixtures: [] };
  const over = once(process.stdin.resume(), "end").then(() => true);
  let opened = 0;
  const readers = Array.from({ length: order.readers }, () => read(order, told, over, () => ++opened));
  while (opened < order.readers) await sleep(10);
  process.stdout.write("open\n");
  await Promise.all(readers);
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

function read(order: ReaderOrder, told: Told, over: Promise<boolean>, opened: () => void): Promise<void> {
  const { destination, questions, pauseMs } = order;
  const states = new Set<string>();
  return plainly(
    destination,
    async connection => {
      const ask = async (question: string) => String((await (await connection.run(question)).getRows())[0]);
      opened();
      for (let last = false; !last; ) {
        // One look comes after the word that it is over: it sees the newest state.
        last = await Promise.race([over, sleep(2 * pauseMs * Math.random(), false)]);
        await connection.run("begin transaction");
        const before = await ask(questions[0]);
        await sleep(50);
        const after = await ask(questions[1]);
        await connection.run("commit");
        told.looks++;
        states.add(before);
        if (before !== after) told.mixtures.push(`${before}, but ${after}`);
      }
    },
    "read_only, ",
  )
    .catch(error => void told.errors.push(String(error)))
    .finally(() => {
      told.readers++;
      told.states = Math.max(told.states, states.size);
    });
}
