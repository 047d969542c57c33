import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { StoppedError } from "../../src/errors.ts";
import type { RunReport } from "../../src/sync/run/report.ts";
import { sentence } from "../support/log.ts";
import { lineOf } from "../support/run.ts";
import { config, type Evening, evening, type Night, names } from "./night.ts";

let place: Evening;
beforeAll(async () => {
  place = await evening(inject("postgresUrl"));
});
afterAll(() => place.close());

/** A night whose first run meets an idle session that holds a lock. */
async function held(statement: string, lockWait = "2m"): Promise<Night & { readonly holder: RegExp }> {
  const night = await place.begin();
  onTestFinished(() => night.end());
  night.configure({ ...config, destination: { lock_wait: lockWait } });
  const { rows } = await night.admin
    .query("set application_name = 'editor'; select pg_backend_pid() as pid, current_user as role")
    .then(results => (results as unknown as { rows: { pid: number; role: string }[] }[])[1]!);
  await night.admin.query(`begin; ${statement}`);
  const { pid, role } = rows[0]!;
  return { ...night, holder: new RegExp(`session ${pid} \\(of ${role}, editor, since 2\\d{3}-.*T.*Z\\)`) };
}

/** The next run, with nothing in its way, ends as it should. */
async function expectGoodNext(night: Night): Promise<void> {
  await night.admin.query("rollback");
  const report = await night.sync({ names });
  expect([report.exit_code, report.errors]).toEqual([0, []]);
  expect(await night.wrong()).toEqual([]);
}

const rows = "select from procurement.items for update";

describe("a lock that an idle session holds", () => {
  it("is waited for as long as destination.lock_wait says; its holder is named, and the next run goes on", async () => {
    const night = await held(rows, "3s");
    const report = await night.sync({ names });
    expect([report.exit_code, report.errors]).toMatchObject([6, [{ message: expect.stringMatching(night.holder) }]]);
    expect(report.errors[0]?.message).toMatch(
      /within destination\.lock_wait, but .* in relation "items"\).* end that session/,
    );
    expect([night.pauses, await night.runs()]).toEqual([[], [["failed", 6]]]);
    expect(lineOf(report, "items")).toMatchObject({ status: "failed", inserted: 0, updated: 0 });
    await expectGoodNext(night);
  });

  it("is waited for no longer than --max-time", async () => {
    const night = await held(rows);
    const report = await timedOut(night);
    expect([report.exit_code, report.status]).toEqual([5, "stopped"]);
    const waited = { message: expect.stringMatching(night.holder) };
    expect(report.errors).toMatchObject([waited, { code: "run.time_over" }]);
    expect(await night.runs()).toEqual([["stopped", 5]]);
    await expectGoodNext(night);
  });

  it("is not waited for after a signal", async () => {
    const night = await held(rows);
    const stopping = new AbortController();
    const report = night.sync({ names }, stopping.signal);
    await blocked(night);
    stopping.abort(new StoppedError(sentence("Stopped by SIGINT."), 130));
    expect(await report).toMatchObject({
      exit_code: 130,
      errors: [{ message: expect.stringMatching(night.holder) }, { message: "Stopped by SIGINT." }],
    });
    await expectGoodNext(night);
  });

  it.each(["warehouse", "runs"])(
    "on the program's own %s ends the run before it began, by either limit",
    async table => {
      const statement = `lock table _tributary.${table}`;
      const timed = await held(statement);
      await expect(timedOut(timed)).rejects.toMatchObject({
        exitCode: 5,
        message: expect.stringMatching(timed.holder),
      });
      await expectGoodNext(timed);
      const patient = await held(statement, "3s");
      await expect(patient.sync({ names })).rejects.toMatchObject({
        exitCode: 6,
        message: expect.stringMatching(patient.holder),
      });
      await expectGoodNext(patient);
    },
  );
});

/** A run whose time is over as soon as it waits for the lock, however long it took to come to that. */
async function timedOut(night: Night): Promise<RunReport> {
  // Longer than the clock's pauses that pass by themselves.
  const maxTimeMs = 600_000;
  const run = night.sync({ names, maxTimeMs });
  await Promise.race([blocked(night), run]);
  night.clock.advance(maxTimeMs);
  return run;
}

/** Until a session waits for a lock. */
async function blocked({ admin, clock }: Night): Promise<void> {
  for (;;) {
    const { rowCount } = await admin.query(
      "select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))",
    );
    if (rowCount !== 0) return;
    await clock.sleep(200);
  }
}
