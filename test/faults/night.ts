import { randomBytes } from "node:crypto";
import pg from "pg";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { textsOf } from "../../src/message.ts";
import { runAttempts } from "../../src/sync/run/attempts.ts";
import { valueTypes } from "../../src/warehouse/postgres/connect.ts";
import { streams } from "../../streams/index.ts";
import { type StillClock, stillClock } from "../support/clock.ts";
import { connected } from "../support/database.ts";
import { type Bench, bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { type Doorway, openDoorway } from "./doorway.ts";
import { type Gate, startGate } from "./gate.ts";

export const names = ["purchase_orders", "items", "purchase_order_details"];

/** A night's run into a database of its own, behind a gate. */
export interface Night extends Bench {
  readonly gate: Gate;
  /** Beside the run, past the gate. */
  readonly admin: pg.Client;
  readonly url: string;
  /** Seconds of the pauses between attempts so far. */
  readonly pauses: number[];
  /** Differences between the tables and the service. */
  wrong(): Promise<readonly string[]>;
  /** Status and exit code of the runs since the evening. */
  runs(): Promise<readonly (readonly [string, number | null])[]>;
  end(): Promise<void>;
}

/** What a test has to say to a night. */
export interface Plan {
  /** Before a request is answered. */
  readonly passing?: (night: Night, path: string) => Promise<void> | void;
  /** Before the nth pause between two attempts, counted from 1. */
  readonly pausing?: (night: Night, nth: number) => Promise<void> | void;
}

/** A company whose warehouse is full of yesterday, and much that is new. */
export interface Evening {
  readonly simulator: Simulator;
  begin(plan?: Plan): Promise<Night>;
  close(): Promise<void>;
}

export const config = {
  streams: { defaults: { details: { audit: 0 } }, exclude: ["invoice*", "findings*", "ingested"] },
};

export async function evening(serverUrl: string): Promise<Evening> {
  const clock = stillClock();
  const sizes = { orders: 6, invoices: 1, items: 120, findings: 1, ingested: 1 };
  const simulator = await startSimulator({ sizes, now: clock.date });
  const way = await openDoorway(simulator);
  const server = await connected(serverUrl);
  const base = `t_${randomBytes(6).toString("hex")}`;
  await server.query(`create database ${base} encoding 'UTF8' template template0`);
  const address = new URL(serverUrl);
  address.pathname = `/${base}`;
  const destination = { type: "postgres", url: address.href };
  const first = await bench({ simulator: way.service, warehouse: { destination }, clock, config }).sync();
  if (first.exit_code !== 0) throw new Error(textsOf(first.errors).join("\n"));
  clock.advance(86_400_000);
  simulator.update("items", 20);
  simulator.insert("items", 30);
  simulator.update("purchase_orders", 2);
  simulator.insert("purchase_orders", 4);
  const now = clock.date().toISOString();
  return {
    simulator,
    begin: plan => beginNight(plan ?? {}, simulator, way, server, base, address, now),
    async close() {
      await server.query(`drop database ${base}`);
      await server.end();
      way.close();
      await simulator.close();
    },
  };
}

async function beginNight(
  plan: Plan,
  simulator: Simulator,
  way: Doorway,
  server: pg.Client,
  base: string,
  address: URL,
  now: string,
): Promise<Night> {
  const name = `t_${randomBytes(6).toString("hex")}`;
  await server.query(`create database ${name} template ${base}`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  const admin = new pg.Client({ connectionString: url.href, types: valueTypes });
  admin.on("error", () => undefined);
  await admin.connect();
  const gate = await startGate(url.href);
  way.watch(path => plan.passing?.(night, path));
  const pauses: number[] = [];
  const pause = async (seconds: number) => {
    pauses.push(seconds);
    await plan.pausing?.(night, pauses.length);
  };
  const clock = hurried(stillClock(now), () => night.said.at(-1), pause);
  const query = async <T>(text: string) => (await admin.query(text)).rows as T[];
  const warehouse = { name: "postgres" as const, destination: { type: "postgres", url: gate.url } };
  const view = { ...warehouse, query, look: <T>(looking: (at: typeof seen) => Promise<T>) => looking(seen) };
  const seen = { name: warehouse.name, query };
  const night: Night = {
    ...bench({ simulator: way.service, warehouse, clock, config, run: runAttempts }),
    gate,
    admin,
    url: url.href,
    pauses,
    async wrong() {
      const chosen = streams.filter(stream => names.includes(stream.name));
      const truth = await compareWithTruth(
        simulator,
        { ...view, drop: async () => undefined },
        chosen,
        now.slice(0, 10),
      );
      return truth.differences;
    },
    async runs() {
      const rows = await query<{ status: string; exit_code: number }>(
        "select status, exit_code from _tributary.runs order by started_at, finished_at offset 1",
      );
      return rows.map(({ status, exit_code }) => [status, exit_code] as const);
    },
    async end() {
      await gate.close();
      await admin.end();
      await server.query(`drop database ${name} with (force)`);
    },
  };
  return night;
}

/** SQL for a trigger on a table: so many of its next statements fail with an error of the server's. */
export function failing(table: string, code: string, times: number, on = "insert or update"): string {
  return `create sequence if not exists public.times;
    create or replace function public.failing() returns trigger language plpgsql as $$ begin
      if nextval('public.times') <= ${times} then raise exception 'as the test wishes' using errcode = '${code}'; end if;
      return null;
    end $$;
    create trigger failing before ${on} on ${table} execute function public.failing()`;
}

/** A clock on which the pauses between attempts, which are said before, pass at once. */
function hurried(
  clock: StillClock,
  said: () => string | undefined,
  before: (seconds: number) => Promise<void>,
): StillClock {
  return {
    ...clock,
    async sleep(ms, signal) {
      if (said()?.endsWith(`Trying again in ${ms / 1_000} s.`) !== true) return clock.sleep(ms, signal);
      await before(ms / 1_000);
      signal?.throwIfAborted();
      clock.advance(ms);
    },
  };
}
