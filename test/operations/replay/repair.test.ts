import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { scan } from "../../../src/catalog/stream.ts";
import { textsOf } from "../../../src/message.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import { damage, temporaryFolder } from "../../source/archive/folder.ts";
import { forget } from "../../support/forgetting.ts";
import { lineOf } from "../../support/run.ts";
import { compareWarehouses } from "../../support/truth.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { instead, noSuch } from "../../sync/answers.ts";
import { scenario } from "../../sync/scenario.ts";
import { addressIn, again } from "./again.ts";
import { events, figures, marks, others, parts, shopAnswer, stocked, things } from "./shop.ts";

const DAY = 86_400_000;
const refused = instead(403, { error: { code: "FORBIDDEN", message: "not for this key", request_id: "r" } });

/** A shop whose runs are archived, and its warehouse. */
async function place(catalogue = [things, parts], { dated = false } = {}) {
  const path = await temporaryFolder();
  const stock = stocked();
  const warehouse = await passing(duckdbWarehouse());
  const config = { archive: { path } };
  const its = await scenario(async () => warehouse, {}, { config });
  const shut = new Set<string>();
  /** Whose further pages are answered with 404. */
  const cut = new Set<string>();
  its.look = passed => {
    const isCut = cut.has(passed.path) && passed.query.has("cursor");
    const answer = shut.has(passed.path) ? refused : isCut ? noSuch : shopAnswer(stock, passed);
    return answer === undefined || !dated ? answer : { ...answer, date: its.clock.date() };
  };
  const night = async (order: object = {}) => {
    its.clock.advance(DAY);
    return its.sync({ catalogue, ...order });
  };
  await night();
  const copy = again(warehouse, its.clock, config, await addressIn(warehouse));
  const all = () =>
    warehouse.query(
      "select thing, name, due, cast(_problems as varchar) as problems, _deleted_at is null as live from procurement.things order by thing",
    );
  return { ...its, path, stock, shut, cut, warehouse, config, copy, night, all, catalogue };
}

const statuses = ({ streams }: RunReport) => Object.fromEntries(streams.map(({ stream, status }) => [stream, status]));

test("a stream that was dropped comes back with everything that its runs had made, and others are left alone", async () => {
  const its = await place();
  const { night, stock, copy, all, catalogue } = its;
  stock.things.splice(4, 1);
  await night();
  const before = await all();
  await forget(its, catalogue, ["things"], { drop: true });
  const report = await copy.replay({ catalogue, names: ["things", "thing_parts"] });
  expect(report.errors).toEqual([]);
  expect(await all()).toEqual(before);
  expect(before.filter(row => row["live"] === false)).toHaveLength(1);
  expect(lineOf(report, "thing_parts")).toMatchObject({ inserted: 7, requests: 0 });
  expect(Object.keys(statuses(report))).toEqual(["things", "thing_parts"]);
});

test("a list that is replayed takes its details with it, those that are on", async () => {
  const its = await place();
  const { copy, catalogue, warehouse } = its;
  const details = () => warehouse.query("select * from procurement.thing_parts order by thing");
  const before = await details();
  expect(before.length).toBeGreaterThan(0);
  await forget(its, catalogue, ["things"], { drop: true });
  const report = await copy.replay({ catalogue, names: ["things"] });
  expect(report).toMatchObject({ exit_code: 0, errors: [] });
  expect(Object.keys(statuses(report))).toEqual(["things", "thing_parts"]);
  const without = (rows: typeof before) => rows.map(({ _first_seen_at, _changed_at, ...row }) => row);
  expect(without(await details())).toEqual(without(before));
  await forget(its, catalogue, ["things"], { drop: true });
  copy.configure({ ...its.config, streams: { exclude: ["thing_parts"] } });
  expect(Object.keys(statuses(await copy.replay({ catalogue, names: ["things"] })))).toEqual(["things"]);
});

test("a stream whose archived answers are damaged fails, and says what to do; others come back", async () => {
  const its = await place([things, others]);
  const { copy, catalogue, path } = its;
  await forget(its, catalogue, ["things", "others"], { drop: true });
  await damage(path, "things");
  const report = await copy.replay({ catalogue });
  expect(report.exit_code).toBe(1);
  expect(report.errors).toMatchObject([{ code: "replay.answer_damaged", fields: { path: "/things" } }]);
  expect(statuses(report)).toEqual({ things: "failed", others: "succeeded" });
});

test("values that could not be read are, once their format is known: nothing else moves", async () => {
  const { night, copy, all, catalogue, config } = await place();
  await night();
  const before = await all();
  expect(before[3]).toMatchObject({ due: null, problems: expect.stringContaining("31.12.2026") });
  copy.configure({ ...config, formats: { dates: ["iso", "DD.MM.YYYY"] } });
  const report = await copy.replay({ catalogue, names: ["things"] });
  expect(lineOf(report, "things")).toMatchObject({ inserted: 0, updated: 1, unchanged: 6, deleted: 0, problems: 0 });
  const after = await all();
  expect(after[3]).toMatchObject({ problems: null });
  expect(String(after[3]!["due"])).toMatch(/2026-12-31|Dec 31 2026/);
  expect(after.toSpliced(3, 1)).toEqual(before.toSpliced(3, 1));
});

test("an archive that lacks the last runs takes nothing back by itself, and says so", async () => {
  const { night, stock, copy, all, catalogue, configure, config, warehouse } = await place([things, events]);
  configure({});
  stock.things[1]!["name"] = "changed";
  await night();
  configure(config);
  const before = await all();
  const report = await copy.replay({ catalogue });
  expect(report).toMatchObject({ exit_code: 0, status: "warning" });
  const behind = (stream: string) => ({ code: "replay.archive_behind", fields: { stream } });
  expect(report.warnings).toMatchObject([behind("things"), behind("events")]);
  expect(await all()).toEqual(before);
  const named = await copy.replay({ catalogue, names: ["things"] });
  expect(named).toMatchObject({
    exit_code: 1,
    status: "failed",
    warnings: [],
    errors: [behind("things")],
  });
  const [row] = await warehouse.query("select finished_at from _tributary.stream_runs where status = 'failed'");
  expect(row).toMatchObject({ finished_at: expect.anything() });
});

test("an archive that lacks the last runs takes back no rows that a reset left: lists, and details", async () => {
  const its = await place();
  const { night, stock, copy, all, catalogue, configure, warehouse } = its;
  const texts = () => warehouse.query("select thing, note, _deleted_at from procurement.thing_parts order by thing");
  configure({});
  stock.things[1]!["name"] = "changed";
  stock.things.push({ thing: "T8", name: "new" });
  await night({ allDetails: true });
  await forget(its, catalogue, ["things", "thing_parts"]);
  const before = [await all(), await texts()];
  const report = await copy.replay({ catalogue });
  expect(report).toMatchObject({ exit_code: 0, status: "warning" });
  const behind = (stream: string, option: string) => ({ code: "replay.archive_behind", fields: { stream, option } });
  expect(report.warnings).toMatchObject([behind("things", "--full"), behind("thing_parts", "--details")]);
  expect([await all(), await texts()]).toEqual(before);
  const insisted = await copy.replay({ catalogue, names: ["thing_parts"], span: { from: "2026-01-01" } });
  expect(lineOf(insisted, "thing_parts")).toMatchObject({ status: "succeeded", requests: 0 });
});

test("an answer whose further page was a 404 is left out like any other that was cut off", async () => {
  const its = await place([things, marks]);
  const { night, stock, cut, copy, catalogue, warehouse } = its;
  const said = () => warehouse.query("select thing, mark, said from procurement.thing_marks order by thing, mark");
  const before = await said();
  stock.things[1]!["name"] = "changed";
  cut.add("/things/T1/marks");
  expect((await night()).exit_code).toBe(1);
  expect(await said()).toEqual(before);
  await forget(its, catalogue, ["things"], { drop: true });
  expect(await copy.replay({ catalogue })).toMatchObject({ exit_code: 0 });
  expect(await said()).toEqual(before);
});

test("details are complete with answers of runs that were cut short no more than they were after those runs", async () => {
  const its = await place();
  const { night, stock, copy, catalogue, warehouse, configure, config } = its;
  const completeTo = async () => {
    const rows = await warehouse.query("select complete_to from _tributary.streams where stream = 'thing_parts'");
    return rows[0]!["complete_to"];
  };
  const before = await completeTo();
  configure({ ...config, streams: { settings: { thing_parts: { max_details: 1 } } } });
  for (let n = 0; n < 3; n++) stock.things.push({ thing: `N${n}`, name: "new" });
  expect(lineOf(await night(), "thing_parts")).toMatchObject({ inserted: 1 });
  expect(await completeTo()).toEqual(before);
  await forget(its, catalogue, ["things"], { drop: true });
  expect(lineOf(await copy.replay({ catalogue }), "thing_parts")).toMatchObject({ inserted: 8 });
  expect(await completeTo()).toEqual(before);
});

test("of two runs that began within a second the later one counts, though its name comes first", async () => {
  const its = await place([things], { dated: true });
  const { stock, copy, all, catalogue, sync, clock, night } = its;
  await night();
  const chance = vi.spyOn(Math, "random").mockReturnValue(0.9);
  onTestFinished(() => chance.mockRestore());
  clock.advance(DAY);
  await sync({ catalogue });
  clock.advance(300);
  stock.things[1]!["name"] = "changed";
  chance.mockReturnValue(0.1);
  await sync({ catalogue });
  const before = await all();
  const replayed = async () => {
    expect(await copy.replay({ catalogue })).toMatchObject({ exit_code: 0 });
    return all();
  };
  expect(await replayed()).toEqual(before);
  await forget(its, catalogue, ["things"], { drop: true });
  expect(await replayed()).toEqual(before);
});

test("the order of two runs is kept where another stream knows the later one alone", async () => {
  const its = await place([things, events], { dated: true });
  const { stock, copy, catalogue, sync, clock, warehouse } = its;
  const said = () => warehouse.query("select event, said from procurement.events order by event");
  clock.advance(DAY);
  await sync({ catalogue, names: ["events"], full: true });
  clock.advance(300);
  stock.events[0]!["said"] = "changed";
  await sync({ catalogue, full: true });
  const before = await said();
  expect(before).toContainEqual(expect.objectContaining({ said: "changed" }));
  for (const run of (await readdir(join(its.path, "acme", "things"))).sort().slice(0, 1))
    await rm(join(its.path, "acme", "things", run), { recursive: true });
  await forget(its, catalogue, ["things", "events"], { drop: true });
  expect(await copy.replay({ catalogue })).toMatchObject({ exit_code: 0 });
  expect(await said()).toEqual(before);
});

test("a run that was refused the list, and one that only published what another had read, are in the archive all the same", async () => {
  const { night, stock, copy, catalogue, shut, clock, sync } = await place([things]);
  shut.add("/things");
  expect(lineOf(await night(), "things")).toMatchObject({ status: "failed", requests: 1 });
  shut.clear();
  expect(lineOf(await copy.replay({ catalogue }), "things")).toMatchObject({ unchanged: 7, error: null });
  stock.total = 99;
  stock.gone.add(`/things/${String(stock.things.pop()!["thing"])}`);
  expect((await night({ names: ["things"], maxRequests: 3 })).exit_code).toBe(5);
  clock.advance(DAY / 24);
  expect(lineOf(await sync({ catalogue }), "things")).toMatchObject({ requests: 2, deleted: 1 });
  expect(lineOf(await copy.replay({ catalogue }), "things")).toMatchObject({ unchanged: 6, error: null });
});

test("what an earlier run's answers had to say is told though a later run's are faultless", async () => {
  const { night, stock, clock, config, configure, catalogue } = await place([others]);
  const lenient = { ...config, streams: { defaults: { max_reject_share: 0.5 } } };
  stock.others.push({ other: null });
  configure(lenient);
  await night();
  stock.others.pop();
  await night();
  const copy = again(await passing(duckdbWarehouse()), clock, lenient);
  const report = await copy.replay({ catalogue });
  expect(report).toMatchObject({ exit_code: 0, status: "warning", streams: [{ status: "warning", rejected: 1 }] });
  expect(textsOf(report.warnings)).toEqual([expect.stringContaining("1 row could not be stored")]);
  const [row] = await copy.warehouse.query("select status from _tributary.stream_runs");
  expect(row).toMatchObject({ status: "warning" });
});

test("streams of which the archive has nothing are left out; asked for by name that is a failure", async () => {
  const { copy, path, catalogue } = await place([things, figures]);
  await rm(join(path, "acme", "figures"), { recursive: true });
  const report = await copy.replay({ catalogue });
  expect(statuses(report)).toEqual({ things: "warning", figures: "skipped" });
  const fields = expect.objectContaining({ unarchived: ["figures"] });
  expect(report.warnings).toContainEqual(expect.objectContaining({ code: "replay.streams_not_archived", fields }));
  const named = await copy.replay({ catalogue, names: ["figures"] });
  expect(named).toMatchObject({
    exit_code: 1,
    errors: [{ code: "replay.nothing_archived", fields: { stream: "figures" } }],
  });
});

test("a replay that is broken off is gone on with by the next one", async () => {
  const { night, stock, path, clock, catalogue, config, warehouse } = await place([things, parts]);
  stock.things.splice(2, 1);
  await night();
  stock.things[0]!["name"] = "last";
  await night();
  const copy = again(await passing(duckdbWarehouse()), clock, config);
  const folder = join(path, "acme", "things");
  const files = (await readdir(folder)).sort();
  // Only what was archived up to the second night is there at first.
  await rename(join(folder, files[2]!), join(path, "later"));
  expect((await copy.replay({ catalogue })).exit_code).toBe(0);
  await rename(join(path, "later"), join(folder, files[2]!));
  expect((await copy.replay({ catalogue })).exit_code).toBe(0);
  expect((await compareWarehouses(warehouse, copy.warehouse, catalogue)).differences).toEqual([]);
});

test("a row that one scan alone missed is not taken for gone because that scan is loaded again", async () => {
  const { night, stock, copy, catalogue } = await place([{ ...things, mode: scan({ rows: "things" }) }]);
  stock.things.pop();
  expect(lineOf(await night(), "things")).toMatchObject({ missing: 1, deleted: 0 });
  expect(lineOf(await copy.replay({ catalogue }), "things")).toMatchObject({ missing: 1, deleted: 0 });
  expect(lineOf(await night(), "things")).toMatchObject({ missing: 0, deleted: 1 });
});

test("so it is where a reset that left the rows has forgotten which scan that was", async () => {
  const its = await place([{ ...things, mode: scan({ rows: "things" }) }]);
  const { night, stock, copy, catalogue } = its;
  stock.things.pop();
  expect(lineOf(await night(), "things")).toMatchObject({ missing: 1, deleted: 0 });
  await forget(its, catalogue, ["things"]);
  expect(lineOf(await copy.replay({ catalogue }), "things")).toMatchObject({ missing: 1, deleted: 0 });
});

test("a company that is not the one which the warehouse knows fails, though the archive holds nothing of it", async () => {
  const { path, warehouse, clock, catalogue } = await place();
  const replay = async (address: string) => {
    const entries = [await addressIn(warehouse), address].map((base_url, i) => {
      return { name: ["acme", "beta"][i], key: "nobody-knows-it", base_url };
    });
    const config = { archive: { path }, company: undefined, companies: entries };
    return again(warehouse, clock, config).replay({ catalogue });
  };
  expect((await replay("http://127.0.0.1:8")).exit_code).toBe(0);
  const report = await replay("http://127.0.0.1:7");
  expect(report).toMatchObject({
    exit_code: 2,
    errors: [{ message: expect.stringContaining("keeps company beta from") }],
  });
  const failed = report.streams.filter(({ company }) => company === "beta").map(({ status }) => status);
  expect(failed).toEqual(["failed", "failed"]);
});
