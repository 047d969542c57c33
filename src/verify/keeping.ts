import { hostname } from "node:os";
import type { Clock } from "../clock.ts";
import { inState, type Where } from "../destinations/open.ts";
import { saveVerification } from "../destinations/verifications.ts";
import { HeldError } from "../errors.ts";
import type { VerifyReport } from "./report.ts";

/**
 * Writes the result beside the data, and lets readers see it. Answers a warning where another run has the warehouse: the
 * result is told all the same. @throws DestinationError, ConfigError
 */
export async function keepResult(
  where: Where,
  report: VerifyReport,
  clock: Clock,
  waitMs: number,
): Promise<string | undefined> {
  const { run_id: runId, started_at: startedAt, streams, differences } = report;
  const holder = { pid: process.pid, host: hostname(), command: "tributary verify", startedAt };
  try {
    await inState(where, { runId, holder, clock }, waitMs, async destination => {
      await saveVerification(destination, streams, differences);
      await destination.show();
    });
  } catch (error) {
    if (!(error instanceof HeldError)) throw error;
    return `The result was not written to ${where.stateSchema}.verifications: ${error.message} With --wait it waits for that run.`;
  }
  return undefined;
}
