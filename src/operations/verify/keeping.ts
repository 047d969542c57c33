import { hostname } from "node:os";
import type { Clock } from "../../clock.ts";
import { HeldError } from "../../errors.ts";
import { isUnder, type Privacy } from "../../privacy/settling.ts";
import { inState, type Where } from "../../warehouse/connect/open.ts";
import { saveVerification } from "../../warehouse/state/verifications.ts";
import type { VerifyReport } from "./report.ts";

/**
 * Writes the result beside the data, and lets readers see it. Answers a warning where another run has the warehouse, or has
 * brought it under another privacy than the values were read under: the result is told all the same. @throws DestinationError,
 * ConfigError
 */
export async function keepResult(
  where: Where,
  report: VerifyReport,
  { policy }: Pick<Privacy, "policy">,
  clock: Clock,
  waitMs: number,
): Promise<string | undefined> {
  const { run_id: runId, started_at: startedAt, streams, differences } = report;
  const holder = { pid: process.pid, host: hostname(), command: "tributary verify", startedAt };
  try {
    return await inState(where, { runId, holder, clock }, waitMs, async destination => {
      const whole = await saveVerification(destination, streams, differences, records => isUnder(records, policy));
      await destination.show();
      if (whole || differences.length === 0) return undefined;
      return `Values were not written to ${where.stateSchema}.verification_differences, only keys: the warehouse's values are stored under another \`privacy\` than the configuration that this verification began with. Run \`tributary sync\`, then verify again.`;
    });
  } catch (error) {
    if (!(error instanceof HeldError)) throw error;
    return `The result was not written to ${where.stateSchema}.verifications: ${error.message} With --wait it waits for that run.`;
  }
}
