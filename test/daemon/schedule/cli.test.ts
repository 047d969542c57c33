import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { createContext, type Surface } from "../../../src/cli/invocation/context.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { start } from "../../cli/process.ts";
import { json, roleDatabase, secretKey, secretPassword, simulated, workplace } from "../../cli/workplace.ts";

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly schedule?: string;
  readonly cause?: string;
  readonly exit_code?: number;
  readonly status?: string;
}

const everySecond = { name: "often", cron: "* * * * * *", streams: ["items"] };
const noServer = { server: { listen: "127.0.0.1:0" } };

/** Reads a daemon's log; `next` waits for a line that fits, and gives it once. */
function logOf(child: ReturnType<typeof start>) {
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  let read = 0;
  createInterface({ input: child.stderr }).on("line", text => {
    if (text.includes(secretKey)) throw new Error(`the log showed the key: ${text}`);
    lines.push(JSON.parse(text) as Line);
    for (const look of [...waiting]) look();
  });
  return {
    lines,
    next(fits: (line: Line) => boolean): Promise<Line> {
      return new Promise(resolve => {
        const look = () => {
          for (; read < lines.length; read++) {
            const line = lines[read];
            if (line === undefined || !fits(line)) continue;
            read++;
            waiting.delete(look);
            return resolve(line);
          }
        };
        waiting.add(look);
        look();
      });
    },
  };
}

const ended = ({ msg }: Line) => msg === "the run ended well";

test("the daemon syncs by the clock, takes a good configuration, refuses a broken one, and ends within ten seconds", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { schedules: [everySecond], ...noServer });
  const file = join(place.folder, "config.yaml");
  const good = readFileSync(file, "utf8");
  const begun = performance.now();
  const child = place.start("schedule", "--no-server");
  const log = logOf(child);
  expect(await log.next(ended)).toMatchObject({ schedule: "often", cause: "schedule", exit_code: 0 });
  const firstMs = performance.now() - begun;

  writeFileSync(`${file}.new`, `${good}schedulez: []\n`);
  renameSync(`${file}.new`, file);
  child.kill("SIGHUP");
  const refused = await log.next(({ msg }) => msg.startsWith("The configuration is kept as it was."));
  expect(refused.msg).toContain("schedulez: unknown key, did you mean schedules?");
  for (let looks = 0; looks < 4; looks++) expect(await log.next(ended)).toMatchObject({ schedule: "often" });

  const changed = { ...parse(good), schedules: [{ ...everySecond, name: "renamed" }] };
  writeFileSync(`${file}.new`, stringify(changed));
  renameSync(`${file}.new`, file);
  child.kill("SIGHUP");
  const used = await log.next(({ msg }) => msg.startsWith("The new configuration is in use"));
  expect(used.msg).toContain("; changed: schedules. ");
  for (let looks = 0; looks < 4; looks++)
    expect(await log.next(line => ended(line) && line.schedule === "renamed")).toMatchObject({ exit_code: 0 });
  child.kill("SIGHUP");
  await log.next(({ msg }) => msg === "The configuration was read again: it does not differ from the one in use.");
  const told = log.lines.flatMap(({ msg }) => /^The .*configuration (is kept|is in use|was)/.exec(msg)?.[0] ?? []);
  // Each once: what the daemon saw by itself, before it heard the signal, it may have looked at twice.
  expect(log.lines.filter(({ msg }) => /configuration/.test(msg))).toHaveLength(told.length);
  expect(new Set(told).size).toBe(3);
  expect(told.length).toBeLessThanOrEqual(5);

  simulator.faults.latencyMs = 60_000;
  const answered = simulator.requests.total;
  // What is asked from now on has no answer for a minute: a run is under way for certain.
  await vi.waitFor(() => expect(simulator.requests.total).toBeGreaterThan(answered), { timeout: 300_000 });
  const since = performance.now();
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  // Where a start and a small run take as long as that, a few times what they take.
  expect(performance.now() - since).toBeLessThan(Math.max(10_000, 4 * firstMs));
  expect(code).toBe(0);
  expect(log.lines.at(-1)?.msg).toBe("stopped");
  expect(log.lines.find(({ exit_code }) => exit_code === 143)).toMatchObject({ schedule: "renamed" });
});

test("a token that is replaced in the configuration is the only one that the page takes from then on", async () => {
  const [first, second] = ["the-first-token-0123", "the-second-token-0123"] as const;
  const server = (token: string) => ({ server: { listen: "127.0.0.1:0", token } });
  const own = { destination: { path: "./w.duckdb", grant_select_to: ["bi"] }, ...server(first) };
  const place = workplace(await simulated(), { schedules: [{ name: "nightly", cron: "0 2 * * *" }], ...own });
  const file = join(place.folder, "config.yaml");
  const child = place.start("schedule");
  const log = logOf(child);
  const { url } = (await log.next(({ msg }) => msg === "the status page is served")) as { readonly url?: string };
  const statusWith = async (token: string) =>
    (await fetch(`${url}/page.css`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 401]);
  writeFileSync(`${file}.new`, stringify({ ...parse(readFileSync(file, "utf8")), ...server(second) }));
  renameSync(`${file}.new`, file);
  child.kill("SIGHUP");
  await log.next(({ msg }) => msg.startsWith("The new configuration is in use"));
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
  child.kill("SIGTERM");
  await once(child, "close");
  expect(JSON.stringify(log.lines)).not.toMatch(/the-(first|second)-token/);
  // A reload repeats no warning that the log has already.
  expect(log.lines.filter(({ msg }) => msg.includes("grant_select_to"))).toHaveLength(1);
});

test("a password that is changed in its mounted file is the one that the daemon's next runs connect with", async () => {
  const database = await roleDatabase();
  const destination = { type: "postgres", url: `\${file:./database_url}` };
  const place = workplace(await simulated(), { destination, schedules: [{ ...everySecond, retries: 0 }] });
  const mount = (password: string) => {
    const file = join(place.folder, "database_url");
    writeFileSync(`${file}.new`, `${database.as(database.role, password)}\n`);
    renameSync(`${file}.new`, file);
  };
  mount(secretPassword);
  const child = place.start("schedule", "--no-server");
  const log = logOf(child);
  expect(await log.next(ended)).toMatchObject({ exit_code: 0 });
  await database.admin.query(`alter role ${database.role} password 'another-${secretPassword}'`);
  expect(await log.next(({ exit_code }) => exit_code !== 0 && exit_code !== undefined)).toMatchObject({ exit_code: 6 });
  mount(`another-${secretPassword}`);
  expect(await log.next(ended)).toMatchObject({ exit_code: 0 });
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(JSON.stringify(log.lines)).not.toContain(secretPassword);
});

test("the daemon goes on when the reader of its log is gone, and still stops on a signal", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { schedules: [everySecond], ...noServer });
  const child = place.start("schedule", "--no-server");
  await logOf(child).next(ended);
  child.stderr.destroy();
  const runs = simulator.requests.count("/items");
  await vi.waitFor(() => expect(simulator.requests.count("/items")).toBeGreaterThan(runs + 4), { timeout: 300_000 });
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
});

test("a reload that is asked for while the daemon comes up is done once it is up", async () => {
  const silent = createServer(socket => void (letGo ? socket.destroy() : sockets.push(socket)));
  const sockets: Socket[] = [];
  let letGo = false;
  silent.listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const url = `postgres://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/none`;
  const destination = { type: "postgres", url };
  const place = workplace(await simulated(), { destination, schedules: [{ name: "nightly", cron: "0 2 * * *" }] });
  const child = place.start("schedule", "--no-server");
  const log = logOf(child);
  const closed = once(child, "close");
  await once(silent, "connection");
  child.kill("SIGHUP");
  letGo = true;
  for (const socket of sockets) socket.destroy();
  const reloaded = log.next(({ msg }) => msg.startsWith("The configuration was read again"));
  expect(await Promise.race([reloaded, closed])).toMatchObject({ level: "info" });
  child.kill("SIGTERM");
  expect(await closed).toEqual([0, null]);
});

test("an idle daemon ends at once, and SIGINT is as good as SIGTERM", async () => {
  const place = workplace(await simulated(), { schedules: [{ name: "yearly", cron: "0 2 29 2 *" }], ...noServer });
  const child = place.start("schedule", "--no-server");
  const log = logOf(child);
  await log.next(({ msg }) => msg.includes("has never run"));
  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([0, null]);
});

test("a time that passed while no daemon was up is made up for, after a kill too", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { schedules: [{ ...everySecond, cron: "0 2 29 2 *" }], ...noServer });
  // No run is under way at the kill: one that was cut short would be tried again later instead.
  expect((await place.run(["schedule", "--once", "often"])).code).toBe(0);
  const first = place.start("schedule", "--no-server");
  await logOf(first).next(({ msg }) => msg === "next run");
  first.kill("SIGKILL");
  await once(first, "close");
  await sleep(1_100);
  // Once a year, and it has just been.
  const missed = new Date(Math.floor(Date.now() / 1000) * 1000);
  const second = [missed.getUTCSeconds(), missed.getUTCMinutes(), missed.getUTCHours()].join(" ");
  const cron = `${second} ${missed.getUTCDate()} ${missed.getUTCMonth() + 1} *`;
  const file = join(place.folder, "config.yaml");
  const config = parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, stringify({ ...config, schedules: [{ ...everySecond, cron }] }));
  const child = place.start("schedule", "--no-server");
  expect(await logOf(child).next(ended)).toMatchObject({ schedule: "often", cause: "missed", exit_code: 0 });
});

test("--once ends with exit code 1 where the run went well and its report did not", async () => {
  const nightly = { name: "nightly", cron: "0 2 * * *", streams: ["items"] };
  const { run, folder } = workplace(await simulated(), { schedules: [nightly], reports: [{ out: "report.html" }] });
  writeFileSync(join(folder, "report.html"), "not tributary's");
  const done = await run(["schedule", "--once", "nightly", "--json"]);
  expect([done.code, json<RunReport>(done)]).toMatchObject([
    1,
    { status: "succeeded", exit_code: 1, errors: [{ code: "notify.report_not_delivered" }] },
  ]);
});

test("--once runs a schedule now with its selection, ends with the run's code, and counts as the schedule's run", async () => {
  const simulator = await simulated();
  const nightly = { name: "nightly", cron: "0 2 * * *", streams: ["items"] };
  const { run } = workplace(simulator, { schedules: [nightly], ...noServer });
  const done = await run(["schedule", "--once", "nightly", "--json"]);
  const report = json<RunReport>(done);
  expect([done.code, report.status, report.streams.map(({ stream }) => stream)]).toEqual([0, "succeeded", ["items"]]);
  const { stdout } = await run(["status", "--json"]);
  expect(JSON.parse(stdout).last_run).toMatchObject({ command: "tributary schedule nightly" });
  simulator.faults.hasMoreWithoutCursor = 1;
  expect((await run(["schedule", "--once", "nightly"])).code).toBe(1);
});

test("what can't be used is refused before anything starts, with exit code 2", async () => {
  const simulator = await simulated();
  const { run } = workplace(simulator, { schedules: [{ ...everySecond, cron: "61 2 * * *" }] });
  const refused = await run(["schedule"]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/config\.yaml:\d+:\d+ schedules\[0\]\.cron \(often\): .*Invalid value for minute: 61/);
});

test("the secrets of every configuration that was ever loaded stay secret: a run may still use the one before", async () => {
  const place = workplace(await simulated());
  const file = join(place.folder, "config.yaml");
  const surface = { env: { KEY: "first-key", OTHER: "second-key" } } as unknown as Surface;
  const context = createContext(surface);
  await context.openConfig({ config: file });
  writeFileSync(file, readFileSync(file, "utf8").replace("KEY", "OTHER"));
  await context.openConfig({ config: file });
  expect(context.redact("first-key, second-key and third-key")).toBe("•••, ••• and third-key");
});
