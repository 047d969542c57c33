import { textsOf } from "../../src/message.ts";
import type { PostgresServer } from "../support/server.ts";
import { type Instant, reach, startSync } from "./killing.ts";
import { faultsOf, type Scenario, type Yard } from "./trial.ts";

/** What a sync said when its PostgreSQL was killed; `over`: it had ended before. */
export interface ServerOutcome {
  readonly over: boolean;
  readonly code: number | null;
  readonly errors: readonly string[];
  /** What is wrong when the server has come back and the run has gone on by itself. */
  readonly faults: readonly string[];
}

/** Kills the server under a sync at an instant, starts it again, and lets the sync to its end. */
export async function serverTrial(
  yard: Yard,
  server: PostgresServer,
  scenario: Scenario,
  instant: Instant,
): Promise<ServerOutcome> {
  const { company } = yard;
  const warehouse = await yard.warehouse(scenario);
  company.requests.clear();
  const running = startSync(warehouse, ["--json"]);
  const over = !(await reach(running, company, instant));
  await server.kill9();
  await server.restart();
  const { code, stdout, stderr } = await running.ended;
  const faults = await faultsOf(yard, scenario, warehouse);
  if (faults.length === 0) await warehouse.remove();
  else process.stderr.write(`${warehouse.config}\n${stderr}\n`);
  return { over, code, errors: errorsIn(stdout), faults };
}

/** The errors that a run's `--json` document tells, whether it began or not. */
function errorsIn(stdout: string): string[] {
  const document = JSON.parse(stdout);
  return textsOf(document.errors ?? [document.error]);
}
