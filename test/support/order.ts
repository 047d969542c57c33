import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, the longest first; others come after them, and a new machine knows no more than this. */
export const longest: readonly string[] = [
  "test/daemon/schedule/cli.test.ts",
  "test/privacy/switching.test.ts",
  "test/all/everything.test.ts",
  "test/sync/run/stored_models.test.ts",
  "test/daemon/page/browser.test.ts",
  "test/simulation/simulation.test.ts",
  "test/sync/load/soft_deletes.test.ts",
  "test/operations/move/move_warehouse.test.ts",
  "test/faults/misbehaviour.test.ts",
  "test/all/vocabulary.test.ts",
  "test/bench/main.test.ts",
  "test/cli/terminal/recordings.test.ts",
  "test/crash/kill.duckdb.test.ts",
  "test/cli/protocols.test.ts",
  "test/fleet/companies.test.ts",
  "test/fleet/run.test.ts",
  "test/fleet/backfill.test.ts",
  "test/fleet/command.test.ts",
  "test/sync/stream/causes.test.ts",
  "test/faults/key.test.ts",
  "test/cli/sync.test.ts",
  "test/fleet/mixed.test.ts",
  "test/operations/replay/repair.test.ts",
  "test/sync/stream/planned_details.test.ts",
  "test/cli/reset.test.ts",
  "test/operations/backfill/kill.test.ts",
  "test/repository/pack.test.ts",
  "test/sync/stream/lookups.test.ts",
  "test/outputs/dbt/marts.test.ts",
  "test/hostile/regular_expressions.test.ts",
  "test/fresh/fresh.test.ts",
  "test/privacy/overtaken.test.ts",
  "test/privacy/line_ids.test.ts",
  "test/outputs/report/figures.test.ts",
  "test/sync/run/truth.test.ts",
  "test/faults/destination.test.ts",
  "test/outputs/report/browser.test.ts",
  "test/outputs/report/command.test.ts",
];

/** Begins with the longest files: begun last, one of them goes on alone when all else is done. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex(name => moduleId.replaceAll("\\", "/").endsWith(`/${name}`));
      return at === -1 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
