import { hostname } from "node:os";
import type { Clock } from "../clock.ts";
import { openDestination, type Where } from "../destinations/open.ts";
import { ensureState } from "../destinations/state_ddl.ts";
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
    const destination = await openDestination(where, { runId, holder, clock }, waitMs);
    try {
      await ensureState(destination.db, destination.dialect, destination.stateSchema);
      await saveVerification(destination, streams, differences);
      await destination.show();
    } finally {
      await destination.close();
    }
  } catch (error) {
    if (!(error instanceof HeldError)) throw error;
    return `The result was not written to ${where.stateSchema}.verifications: ${error.message} With --wait it waits for that run.`;
  }
  return undefined;
}
