import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, the longest first; others come after them, and a new machine knows no more than this. */
export const longest: readonly string[] = [
  "test/all/everything.test.ts",
  "test/warehouse/upgrade/upgrade.test.ts",
  "test/all/vocabulary.test.ts",
  "test/simulation/simulation.test.ts",
  "test/sync/run/stored_models.test.ts",
  "test/hostile/regular_expressions.test.ts",
  "test/privacy/switching.test.ts",
  "test/sync/run/truth.test.ts",
  "test/bench/main.test.ts",
  "test/faults/misbehaviour.test.ts",
  "test/cli/reset.test.ts",
  "test/crash/kill.duckdb.test.ts",
  "test/crash/kill_details.test.ts",
  "test/sync/load/soft_deletes.test.ts",
  "test/crash/stop.test.ts",
  "test/outputs/dbt/marts.test.ts",
  "test/cli/sync.test.ts",
  "test/faults/key.test.ts",
  "test/sync/load/mass_changes.test.ts",
  "test/operations/replay/repair.test.ts",
  "test/daemon/schedule/cli.test.ts",
  "test/daemon/page/browser.test.ts",
  "test/faults/destination.test.ts",
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
