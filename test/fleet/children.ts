import { once } from "node:events";
import type { start } from "../cli/process.ts";
import { roleDatabase, workplace } from "../cli/workplace.ts";
import { until } from "./workers.ts";

type Child = ReturnType<typeof start>;

/** A workplace on a database of its own whose configuration has workers. */
export async function fleetPlace(simulator: { readonly url: string }, more: object = {}) {
  const database = await roleDatabase();
  const { destination } = database;
  const place = workplace(simulator, { destination, workers: {}, views: false, ...more });
  const query = async (statement: string) => (await database.admin.query(statement)).rows as Record<string, unknown>[];
  const up = async () => (await query("select pid from _tributary.workers order by id")).map(({ pid }) => Number(pid));
  /** Starts workers, and waits until so many are up. */
  const work = async (count: number, ...args: string[]): Promise<Child> => {
    const child = place.start("work", "--no-server", ...args);
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    await until(async () => (await up().catch(() => [])).length >= count);
    return child;
  };
  return { ...place, query, up, work };
}

/** The exit code; null for one that was killed. */
export async function ended(child: Child): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}
