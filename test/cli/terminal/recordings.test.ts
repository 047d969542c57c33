import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { runCommand } from "../../../src/cli/program.ts";
import { root } from "../../repository/sources.ts";
import { stillClock } from "../../support/clock.ts";
import { type Instead, interposed, refused } from "../../support/interposed.ts";
import { deafContext } from "../process.ts";
import { secretKey, simulated, workplace } from "../workplace.ts";
import { Screen } from "./screen.ts";

/** Somebody at a terminal before a service that answers one request after the other, each in a third of a second. */
async function desk(columns: number, more: Readonly<Record<string, unknown>> = {}) {
  const clock = stillClock();
  const simulator = await simulated({ sizes: { orders: 60, invoices: 80, items: 130 }, now: clock.date });
  let look: (path: string, nth: number) => Instead | undefined | Promise<Instead | undefined> = () => undefined;
  const service = await interposed(simulator, async ({ path, nth }) => {
    clock.advance(333);
    return look(path, nth);
  });
  // The service has the clock of the terminal, which stands still; runs have the machine's.
  const api = { base_url: service.url, key: `\${KEY}`, clock: "ignore" };
  const { folder } = workplace(service, { streams: { preset: "core" }, api, ...more });
  const type = (...words: readonly string[]) => {
    const screen = new Screen(columns);
    const listeners: ((signal: "SIGINT") => void)[] = [];
    const { stream } = screen;
    const { context, code } = deafContext({
      ...{ cwd: folder, clock, stdout: stream, stderr: stream },
      env: { KEY: secretKey, TERM: "xterm" },
      onSignal: listener => {
        listeners.push(listener as (signal: "SIGINT") => void);
        return () => undefined;
      },
    });
    const config = join(folder, "config.yaml");
    const ended = runCommand([...words, "--config", config], context).then(code);
    return { screen, ended, interrupt: () => listeners.at(-1)!("SIGINT") };
  };
  const meet = (next: typeof look) => {
    look = next;
  };
  return { clock, simulator, type, meet };
}

/** Waits until the screen shows all of it, and answers the progress. */
async function shown(screen: Screen, ...what: readonly RegExp[]): Promise<string> {
  for (let looks = 0; !what.every(each => each.test(screen.text())); looks++) {
    if (looks > 20_000) throw new Error(`expected ${what.join(" and ")} on the screen:\n${screen.text()}`);
    await sleep(10);
  }
  return progressOf(screen);
}

const FRAME = /^\d+ of \d+ streams done/m;

/** The lines that are kept up to date: the last ones while a run lasts. */
const progressOf = (screen: Screen): string => screen.text().slice(screen.text().search(FRAME));

/** What is said at the end, without where the tables are. */
function reportOf(screen: Screen): string {
  const text = screen.text();
  return text
    .slice(text.search(/^stream +status/m))
    .replace(/\n\nReaders find the tables[\s\S]*?(?=\n\n|$)/, "")
    .replace(/\d{8}T\S+/, "20261126T020000-5f0c9b1e");
}

/** Lines that went on below themselves, but for paths: they stay whole. */
const torn = ({ tooLong }: Screen) => tooLong.filter(line => !/^(?:`duckdb -readonly )?[/]/.test(line));

/** What two runs have in common: all but how long it takes and how many there are. */
const alike = (text: string): string =>
  text
    .replaceAll(/, about .+ left$/gm, "")
    .replaceAll(/\d+ (?:ms|min \d+ s|s)\b/g, "")
    .replaceAll(/\d[\d,]*/g, "N")
    .replaceAll(/\bN (row|request|stream|detail)\b/g, "N $1s")
    // Where a line ends follows from how long numbers are.
    .replaceAll(/\s+/g, " ")
    // The cursor may stand on a line of its own when the screen is looked at.
    .trim();

const told = [...readFileSync(join(root, "docs/terminal.md"), "utf8").matchAll(/^```text\n(.*?)\n```$/gms)].map(
  ([, text]) => text!,
);

test.each([80, 140])("a first load, a hang and a night with trouble at %i columns", async columns => {
  const { clock, simulator, type, meet } = await desk(columns);
  const recorded: string[] = [];
  const ends = (screen: Screen) => {
    // Nothing of the progress is left.
    expect(screen.text()).not.toMatch(/^\d+ of \d+ streams done|requests in flight/m);
    expect(torn(screen)).toEqual([]);
    expect(screen.coloured).toBe(true);
  };

  const gate = Promise.withResolvers<undefined>();
  const asked = { po: 0, reconciliation: 0 };
  meet(path => {
    const [, list, id] = path.split("/") as [string, keyof typeof asked, string?];
    return id !== undefined && list in asked && ++asked[list] === 50 ? gate.promise : undefined;
  });
  const first = type("sync");
  const half = [/purchase_order_details +reading +59 of 60/, /invoice_matches +reading +79 of 80/];
  recorded.push(await shown(first.screen, /^6 of 8 streams done/m, ...half));
  gate.resolve(undefined);
  expect(await first.ended).toBe(0);
  ends(first.screen);

  const never = Promise.withResolvers<undefined>();
  meet(path => (path === "/items" ? never.promise : undefined));
  const hanging = type("sync");
  await shown(hanging.screen, /^7 of 8 streams done/m, /^items +reading/m);
  clock.advance(12_000);
  recorded.push(await shown(hanging.screen, /^items +reading .*GET .items since/m));
  hanging.interrupt();
  expect(await hanging.ended).toBe(130);
  ends(hanging.screen);
  never.resolve(undefined);

  simulator.update("items", 3);
  simulator.insert("purchase_orders", 2);
  simulator.delete("invoices", 60);
  Object.assign(simulator.faults, { only: "/items", nullKeys: 0.02 });
  meet(path => (path === "/findings" ? refused(500, "internal") : undefined));
  const trouble = type("sync");
  expect(await trouble.ended).toBe(1);
  ends(trouble.screen);

  const night = reportOf(trouble.screen);
  recorded.push(night);
  expect(night).toMatch(/^purchase_orders +succeeded[\s\S]*^items +warning[\s\S]*^findings +failed/m);
  expect(night).toMatch(/^1 stream unchanged, 4 requests$/m);
  expect(night).toMatch(/^In all .* requests: 4 inserted, 3 updated/m);
  if (columns === 80) expect(recorded.map(alike)).toEqual(told.map(alike));
  else
    expect(night).toMatch(
      /^stream +status +read +inserted +updated +unchanged +deleted +missing +rejects +requests +in table +at service +time$/m,
    );
});

test("--quiet says nothing but errors, --verbose shows all that is folded, and the log comes as it is wanted", async () => {
  const { simulator, type, meet } = await desk(60);
  const quiet = type("sync", "items", "invoices", "--quiet");
  expect([await quiet.ended, quiet.screen.text()]).toEqual([0, ""]);
  const loud = type("sync", "items", "invoices", "--verbose", "--log-format", "json");
  expect(await loud.ended).toBe(0);
  const lines = loud.screen.text();
  expect(lines).toMatch(/^\{"level":"debug",/m);
  expect(lines).not.toContain("streams unchanged");
  // Wider than the screen, which is what was asked for.
  expect(loud.screen.tooLong.some(line => line.startsWith("stream    status"))).toBe(true);
  const folded = type("sync", "items", "invoices", "--log-level", "warn");
  expect(await folded.ended).toBe(0);
  expect(folded.screen.text()).toMatch(/^2 streams unchanged, 3 requests\n\nRun \S+ succeeded/);
  expect(torn(folded.screen)).toEqual([]);

  simulator.insert("invoices", 1);
  meet(path => (path === "/items" ? refused(500, "internal") : undefined));
  const failing = type("sync", "items", "invoices", "--quiet");
  expect(await failing.ended).toBe(1);
  expect(failing.screen.text()).toMatch(/^Expected data from GET .items, got status 500/);
  expect(failing.screen.text()).not.toContain("invoices");
});
