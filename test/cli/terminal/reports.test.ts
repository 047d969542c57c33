import { expect, test } from "vitest";
import { verifyReport } from "../../../src/cli/terminal/verify_report.ts";
import { sentence } from "../../support/log.ts";

const look = { width: undefined, paint: (_: unknown, text: string) => text };

test("warnings and errors of a report are printed as their sentences", () => {
  const verified = verifyReport(
    {
      ...{ run_id: "20261128T020000-1a2b3c4d", status: "incomplete", exit_code: 3, seed: "x", sample: null },
      ...{ started_at: "2026-11-28T02:00:00Z", finished_at: "2026-11-28T02:00:01Z", streams: [], differences: [] },
      ...{
        warnings: [sentence("Not kept.")],
        errors: [sentence("No key.")],
        unseen_within_nights: null,
        incomparable: [],
      },
    },
    "_tributary",
    look,
  );
  expect(verified).toMatch(/\n\nWarning: Not kept\.\n\nNo key\.$/);
});
