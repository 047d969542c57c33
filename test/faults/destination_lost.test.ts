import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import type { RunReport } from "../../src/sync/run/run.ts";
import { lineOf } from "../support/run.ts";
import type { Loss } from "./gate.ts";
import { type Evening, evening, failing, type Night, names, type Plan } from "./night.ts";

let place: Evening;
let undisturbed: Night;
let whole: RunReport;
beforeAll(async () => {
  place = await evening(inject("postgresUrl"));
  undisturbed = await place.begin();
  whole = await undisturbed.sync({ names });
});
afterAll(async () => {
  await undisturbed.end();
  await place.close();
});

// Not what was found unchanged: a list that was published, but unheard, is read again.
const figures = ["status", "inserted", "updated", "deleted", "repeated", "rejected"] as const;
const figuresOf = ({ streams }: RunReport) =>
  streams.map(line => figures.map(name => `${line.stream} ${name} ${line[name]}`));

/** A night that is over when the test is. */
async function begin(plan?: Plan): Promise<Night> {
  const night = await place.begin(plan);
  onTestFinished(() => night.end());
  return night;
}

/** Everything is there once, and said once. */
async function expectWhole(night: Night, report: RunReport): Promise<void> {
  expect([report.exit_code, report.status, report.errors]).toEqual([0, "succeeded", []]);
  expect(figuresOf(report)).toEqual(figuresOf(whole));
  expect(await night.wrong()).toEqual([]);
  expect(await left(night)).toEqual([]);
}

/** What should not be there between two runs. */
async function left({ admin }: Night): Promise<unknown[]> {
  const { rows } = await admin.query(
    "select stream from _tributary.stages union all select family from _tributary.holders",
  );
  return rows;
}

/** Does it once: before the first detail is answered, when the lists are done. */
function atFirstDetail(what: (night: Night) => Promise<unknown> | unknown): NonNullable<Plan["passing"]> {
  let met = false;
  return async (night, path) => {
    if (met || !/^\/po\/[^/]+$/.test(path)) return;
    met = true;
    // The other list is done by then, however slow the machine is.
    for (let look = 0; look < 10_000 && (await done(night, "items")) === 0; look++) await night.clock.sleep(20);
    await what(night);
  };
}

async function done({ admin }: Night, stream: string): Promise<number | null> {
  const { rowCount } = await admin.query(
    "select from _tributary.stream_runs where stream = $1 and status = 'succeeded' offset 1",
    [stream],
  );
  return rowCount;
}

const endSessions = ({ admin }: Night) =>
  admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where starts_with(application_name, 'tributary') and datname = current_database()",
  );

const both = [
  ["failed", 6],
  ["succeeded", 0],
];

describe("a PostgreSQL that goes away for a moment", () => {
  it("is there all the time: the night as it should be", async () => {
    expect([whole.exit_code, whole.notes]).toEqual([0, []]);
    expect(lineOf(whole, "items")).toMatchObject({ inserted: 30, updated: 20 });
    expect(await undisturbed.wrong()).toEqual([]);
    expect(undisturbed.gate.commits).toBeGreaterThan(20);
  });

  it.each(["commit", "answer"] as const)(
    "loses the %s of a publish: rows are there once, and counted once",
    async loss => {
      const night = await begin();
      night.gate.cutAtCommitOf('insert into "procurement"."items"', loss);
      const report = await night.sync({ names });
      expect(night.pauses).toEqual([1]);
      await expectWhole(night, report);
      expect(await night.runs()).toEqual(both);
    },
  );

  it.each([
    ["commit", 0.3],
    ["answer", 0.35],
    ["answer", 0.75],
  ] as const)("loses the %s at %d of the run, and everything is written once", async (loss: Loss, share) => {
    const night = await begin();
    night.gate.cutAtCommit(Math.ceil(undisturbed.gate.commits * share), loss);
    const report = await night.sync({ names });
    expect(night.pauses).toEqual([1]);
    await expectWhole(night, report);
    const runs = await night.runs();
    expect(runs.length > 1 ? runs : [both[0], ...runs]).toEqual(both);
  });

  it("ends the sessions: what was done stays done and told, the rest is a run of its own", async () => {
    const night = await begin({ passing: atFirstDetail(endSessions) });
    place.simulator.requests.clear();
    const report = await night.sync({ names });
    await expectWhole(night, report);
    expect(place.simulator.requests.count("/po")).toBe(1);
    expect(await night.runs()).toEqual(both);
    const [orders, items, details] = report.streams;
    expect([items?.run_id, details?.run_id]).toEqual([orders?.run_id, report.run_id]);
    expect(orders?.run_id).not.toBe(report.run_id);
    expect(report.notes).toMatchObject([{ code: "run.begun_again", fields: { times: 1 } }]);
    expect(night.said.filter(line => /connection to PostgreSQL .* was lost/.test(line))).toHaveLength(1);
    expect(night.said).toContain("Trying again in 1 s.");
    const { rows } = await night.admin.query(
      "select r.error, s.status from _tributary.runs r join _tributary.stream_runs s using (run_id) where r.exit_code = 6 order by s.stream",
    );
    expect(rows.map(row => row.status)).toEqual(["succeeded", "failed", "succeeded"]);
    expect(rows[0].error).toMatch(/was lost/);
  });

  it.each([
    ["57P03", "the database system is starting up"],
    ["53300", "sorry, too many clients already"],
    [undefined, ""],
  ])("lets nobody in for a while (%s %s)", async (code, message) => {
    const error = code === undefined ? undefined : { code, message };
    const night = await begin({
      passing: atFirstDetail(({ gate }) => gate.shut(error)),
      pausing: ({ gate }, nth) => (nth === 3 ? gate.open() : undefined),
    });
    await expectWhole(night, await night.sync({ names }));
    expect(night.pauses).toEqual([1, 2, 5]);
  });

  it("is a standby for a moment after a failover, and read-only under the run", async () => {
    const freeze =
      "do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$";
    const night = await begin({
      passing: atFirstDetail(({ admin }) => admin.query(failing("_tributary.details", "25006", 1))),
      async pausing({ admin }, nth) {
        if (nth === 1) await admin.query(freeze);
        else await admin.query(freeze.replace("= on", "= off"));
      },
    });
    await expectWhole(night, await night.sync({ names }));
    expect(night.pauses).toEqual([1, 2]);
    expect(night.said.filter(line => /but it is read-only/.test(line))).toHaveLength(1);
    expect(night.said.filter(line => line.startsWith("Trying again in "))).toHaveLength(2);
  });

  it("still holds the locks of a session that it doesn't know to be dead", async () => {
    const night = await begin({
      passing: atFirstDetail(({ gate }) => gate.cut("half")),
      pausing: ({ gate }, nth) => (nth === 2 ? gate.bury() : undefined),
    });
    await expectWhole(night, await night.sync({ names }));
    expect(night.pauses).toEqual([1, 2]);
  });

  it("still holds the locks of one that was lost before anything could be told of it", async () => {
    const night = await begin({ pausing: ({ gate }, nth) => (nth === 2 ? gate.bury() : undefined) });
    night.gate.halfCutAt('insert into "_tributary"."runs"');
    await expectWhole(night, await night.sync({ names }));
    expect(night.pauses).toEqual([1, 2]);
    expect(night.said).toContainEqual(expect.stringMatching(/is held by run .* Trying again in 2 s/));
  });

  it("never learns that it is dead: that is no other run's work, but a warehouse that stays away", async () => {
    const untold = await begin();
    untold.gate.halfCutAt('insert into "_tributary"."runs"');
    await expect(untold.sync({ names: ["items"] })).rejects.toMatchObject({
      ...{ exitCode: 6, code: "run.locks_kept" },
      message: expect.stringMatching(/lost session to be free .* is held by run/),
    });
    expect(untold.pauses).toEqual([1, 2, 5, 10, 20, 40]);
    const night = await begin({ passing: atFirstDetail(({ gate }) => gate.cut("half")) });
    const report = await night.sync({ names });
    expect(report).toMatchObject({
      ...{ exit_code: 6, status: "failed", errors: [{ message: expect.stringMatching(/was lost/) }] },
      notes: [{ code: "run.begun_again", message: expect.stringMatching(/at last: .*lost session to be free/) }],
    });
  });
});
