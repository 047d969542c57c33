import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { roleDatabase, simulated, workplace } from "../cli/workplace.ts";
import { startReceiver } from "../daemon/notify/receiver.ts";
import { until } from "./workers.ts";

interface Line {
  readonly msg: string;
  readonly run_id?: string;
  readonly exit_code?: number;
}

const streams = ["purchase_orders", "purchase_order_details"];
const EVERY_S = 6;
const isEnd = ({ exit_code }: Line) => exit_code !== undefined;
const isBegin = ({ msg }: Line) => msg === "a run begins";

test("two daemons have a due schedule run once, one tells of it, and when that one is killed the other ends and tells the run", async () => {
  const simulator = await simulated({ sizes: { orders: 150, items: 0, invoices: 0, findings: 0, ingested: 0 } });
  const receiver = await startReceiver();
  const database = await roleDatabase();
  const query = async (text: string) => (await database.admin.query(text)).rows as Record<string, unknown>[];
  const runs = () => query("select run_id, exit_code from _tributary.runs where command like '%nightly' order by 1");
  const jobs = () => query("select state from _tributary_jobs.job where name = 'runs'");
  /** A daemon that tells at an address of its own. */
  const daemon = (name: string) => {
    const place = workplace(simulator, {
      ...{ destination: database.destination, workers: {}, views: false, server: { listen: "127.0.0.1:0" } },
      schedules: [{ name: "nightly", cron: `*/${EVERY_S} * * * * *`, streams, retries: 0 }],
      notify: { targets: [{ url: `${receiver.url}/${name}` }] },
    });
    const lines: Line[] = [];
    const begin = (...args: string[]) => {
      const child = place.start(...args);
      createInterface({ input: child.stderr }).on("line", text => void lines.push(JSON.parse(text)));
      return child;
    };
    return { name, place, lines, child: begin("schedule", "--no-server"), ended: () => lines.filter(isEnd) };
  };
  const told = () => receiver.received.map(({ path, body }) => [path.slice(1), JSON.parse(body).title as string]);

  simulator.faults.hasMoreWithoutCursor = 1;
  const both = [daemon("a"), daemon("b")];
  const worker = both[0]!.place.start("work", "--no-server");
  worker.stderr.resume();
  await until(() => both[0]!.ended().some(({ run_id }) => both[1]!.ended().some(other => other.run_id === run_id)));
  const seen = new Set(both.flatMap(({ ended }) => ended().map(({ run_id, exit_code }) => `${run_id} ${exit_code}`)));
  const recorded = (await runs()).map(({ run_id, exit_code }) => `${run_id} ${exit_code}`);
  expect(recorded).toEqual(expect.arrayContaining([...seen].map(text => text.replace(/\d+$/, "1"))));
  await until(() => told().length > 0);

  // The next run goes on for as long as its answers take.
  simulator.faults.hasMoreWithoutCursor = 0;
  simulator.faults.latencyMs = 900;
  const goesOn = async () => (await jobs()).some(({ state }) => state === "active");
  const details = () => simulator.requests.count("/po/{po_number}");
  simulator.requests.clear();
  await until(
    () => details() > 2 && both.every(({ lines }) => isBegin(lines.filter(l => isEnd(l) || isBegin(l)).at(-1)!)),
  );
  // It is not over before another daemon has been started, however long that takes.
  simulator.faults.latencyMs = 5_000;
  const begun = (await runs()).at(-1)!["run_id"];
  expect(new Set(told().map(([name]) => name)).size).toBe(1);
  const [leader, other] = told()[0]![0] === "a" ? both : both.toReversed();
  leader!.child.kill("SIGKILL");
  await once(leader!.child, "close");
  // The run goes on past the schedule's next turn.
  const due = Math.ceil(Date.now() / 1_000 / EVERY_S) * EVERY_S * 1_000;
  await until(() => Date.now() > due);
  const third = daemon("c");
  await until(() => third.lines.some(isBegin));
  expect(await goesOn()).toBe(true);
  expect(other!.ended().map(({ run_id }) => run_id)).not.toContain(begun);
  simulator.faults.latencyMs = 0;
  await until(() => [other!, third].every(({ ended }) => ended().some(({ run_id }) => run_id === begun)));
  expect(other!.ended().find(({ run_id }) => run_id === begun)).toMatchObject({ exit_code: 0 });
  // It followed what was there, and began nothing beside it.
  expect(third.ended()[0]!.run_id).toBe(begun);
  await until(() => told().length >= 2);
  expect(told().map(([, title]) => title)).toEqual([
    "nightly failed with exit code 1, 1 stream of 2 not read",
    "nightly works again",
  ]);
  for (const { child } of [other!, third]) child.kill("SIGTERM");
  await Promise.all([other!, third].map(({ child }) => child.exitCode ?? once(child, "close")));
  expect([other!, third].map(({ child }) => child.exitCode)).toEqual([0, 0]);
});
