import { expect, test } from "vitest";
import type { PageSource } from "../../../src/daemon/page/source.ts";
import { DestinationError } from "../../../src/errors.ts";
import type { Status } from "../../../src/operations/status.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence } from "../../support/log.ts";
import { scriptedDaemon } from "./scripted.ts";
import { ended, history, part, past, shown } from "./shown.ts";
import { now, served, stream, telling, warehouseStatus } from "./warehouse_status.ts";

const hostile = `<img src=x onerror=alert(1)> "quoted" </script><script>alert(2)</script>. PageSnapshot at \`<b>\` first.`;
const refused =
  "Expected data from GET /a, got 401 UNAUTHORIZED. The API key was refused: check api.key, and that the key belongs to this base_url.";

/** The source of a page with a daemon. */
function withDaemon(
  tell: (daemon: ReturnType<typeof scriptedDaemon>) => void,
  facts: Partial<Status> = {},
): PageSource {
  const daemon = scriptedDaemon();
  tell(daemon);
  return { ...telling(() => warehouseStatus([stream()], facts)), daemon };
}

const senseless =
  "/items: expected a pagination block, got none. The scan stays incomplete and the next run tries again.";
const nightly = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T02:00:00.000Z" } as const;
const elsewhere = { run_id: "r9", command: "sync items", started_at: "2026-03-15T11:55:00.000Z", pid: 7, host: "db1" };
const never = stream({ status: "never", complete_to: null, last_success_at: null, rows: 0, live_rows: 0 });
const inTheWay = { status: "warning", warnings: [sentence("items: a table of that name is in the way of a view.")] };

/** What the page says, and what it does not. */
const sayings: readonly {
  readonly what: string;
  readonly source: () => PageSource;
  readonly says: readonly (string | RegExp)[];
  readonly not?: readonly string[];
}[] = [
  {
    what: "a stream whose answers made no sense failed, also after a good run of another one",
    source: () =>
      telling(() =>
        warehouseStatus([stream({ status: "incomplete", error: senseless }), stream({ stream: "orders" })], ended()),
      ),
    says: ["1 of 2 streams failed", " incomplete "],
  },
  {
    what: "an earlier error stays to be seen when it is over",
    source: () => {
      const failed = {
        run_id: "r0",
        status: "failed",
        error: refused,
        started_at: "2026-03-14T02:00:00.000Z",
      } as const;
      return telling(() => warehouseStatus([stream()], ended()), history(past(), past(failed)));
    },
    says: ["The one stream is up to date", "sync failed Expected data from GET /a, got 401 UNAUTHORIZED."],
    not: ["What to do"],
  },
  {
    what: "a warning that begins with a stream's name and is not about the stream does not hide its rejects",
    source: () => telling(() => warehouseStatus([stream({ rejects: 2 })], ended(inTheWay)), history(past(inTheWay))),
    says: ["Some rows could not be stored"],
  },
  {
    what: "several companies are told apart",
    source: () => {
      const other = stream({ company: "globex", status: "failed", error: refused });
      return telling(() => warehouseStatus([stream({ company: "acme" }), other]));
    },
    says: ["globex/items", / acme .* globex /],
  },
  {
    what: "the next run and what runs elsewhere are shown",
    source: () =>
      withDaemon(daemon => daemon.plan([{ schedule: "nightly", at: "2026-03-16T02:00:00.000Z", cause: "retry" }]), {
        running: elsewhere,
      }),
    says: [
      "Next run in 14 h nightly (another try), Mon 16 Mar, 02:00",
      "Run r9 ( sync items , process 7 on db1) began 5 min ago . Its",
    ],
  },
  {
    what: "a run that goes on long after its max_time is what is wrong",
    source: () => withDaemon(daemon => daemon.run({ ...nightly, overdueSince: "2026-03-15T06:10:00.000Z" })),
    says: [
      "A run goes on long after its max_time",
      "The run nightly goes on long after its max_time. No other run starts before it ends.",
    ],
  },
  {
    what: "a run that waits before it knows its streams says for what",
    source: () => withDaemon(daemon => daemon.run({ ...nightly, waits: "Waiting up to 30 min 00 s for run r7." })),
    says: ["Waiting up to 30 min 00 s for run r7."],
  },
  {
    what: "a table with other rows than the service says so, and why",
    source: () => telling(() => warehouseStatus([stream({ difference: -2, difference_reason: "rows rejected" })])),
    says: ["2 rows fewer than at the service: rows rejected"],
  },
  {
    what: "a configuration that was refused says that the one before is in use, and why",
    source: () => withDaemon(daemon => daemon.refuse({ error: sentence("config.yaml:3:1 streems: unknown"), at: now })),
    says: [
      "The configuration has changed and is not in use: runs go on with the one before.",
      "config.yaml:3:1 streems: unknown",
    ],
  },
  {
    what: "before the first load it says how to begin",
    source: () => {
      const status = warehouseStatus([never]);
      return telling(() => ({ ...status, warehouse: { ...status.warehouse, loaded: false } }));
    },
    says: ["Nothing has been loaded yet tributary check looks whether everything is ready, tributary sync loads."],
  },
  {
    what: "a warehouse that could never be read is told with its advice, and the page is there",
    source: () =>
      telling(() => {
        throw new DestinationError(sentence("Expected a database, got no answer. Check destination.url."));
      }),
    says: [
      "The warehouse cannot be read What to do Expected a database",
      "Expected a database, got no answer. Check destination.url.",
    ],
  },
];

test.each(sayings)("$what", async ({ source, says, not = [] }) => {
  const { words } = await shown(source());
  for (const each of says) expect(words).toMatch(each);
  for (const each of not) expect(words).not.toContain(each);
});

test("what is fresh, late and off is told apart at the threshold", async () => {
  const at = (hours: number) => new Date(Date.parse(now) - hours * 3_600_000).toISOString();
  const source = (...hours: readonly number[]) =>
    telling(() => warehouseStatus(hours.map((age, index) => stream({ stream: `s${index}`, complete_to: at(age) }))));
  const fresh = await shown(source(26, 1));
  expect(fresh.words).toContain("All 2 streams are up to date");
  expect(fresh.markup).not.toContain('<span class="pill warn">');
  const late = await shown(source(26.01, 1));
  expect(late.words).toContain("1 of 2 streams is late");
  expect(late.markup.match(/<span class="pill warn">late<\/span>/g)).toHaveLength(1);
  expect(late.words).toContain("A stream's data is older than 26 h.");
  const off = await shown(
    telling(() => warehouseStatus([stream(), stream({ stream: "old", on: false, complete_to: at(9_000) })])),
  );
  expect(off.words).toContain("The one stream is up to date");
  const begun = await shown(telling(() => warehouseStatus([stream(), stream({ stream: "new", complete_to: null })])));
  expect(begun.words).toContain("1 of 2 streams not complete yet");
});

test("an error is told once, with the streams it is about and its advice", async () => {
  const failed = { status: "failed", error: refused } as const;
  const status = warehouseStatus(
    [stream(failed), stream({ ...failed, stream: "orders" })],
    ended({ ...failed, exit_code: 3 }),
  );
  const { markup, words } = await shown(telling(() => status, history(past({ ...failed, streams: [part(failed)] }))));
  expect(words).toContain("2 of 2 streams failed");
  expect(markup.match(/<p class="what">/g)).toHaveLength(1);
  expect(markup).toContain('<p class="advice">The API key was refused: check api.key, and that the key belongs');
  expect(words).toContain("items, orders · 9 h ago");
});

test("failures that differ in their request alone are told once, and earlier runs with their errors", async () => {
  const fault = (path: string) => `Expected data from GET ${path}, got status 500. Try again later.`;
  const failed = (name: string) => stream({ stream: name, status: "failed", error: fault(`/${name}`) });
  const streams = [failed("items"), failed("bills"), failed("orders"), stream({ stream: "sites" })];
  const run = (run_id: string) => past({ run_id, status: "failed", error: "The server is away. Start it." });
  const history = { streams: [], runs: [past(), run("r3"), run("r2"), run("r1")] };
  const { words } = await shown(telling(() => warehouseStatus(streams), history));
  expect(words).toContain(
    "Expected data from GET /items, got status 500. 2 more failures have the same remedy. Try again later.",
  );
  expect(words).toContain("items, bills, orders");
  expect(words.match(/got status 500/g)).toHaveLength(1);
  expect(words.match(/failed The server is away\./g)).toHaveLength(3);
});

test("warnings, rejects and problems say which command shows more, each once", async () => {
  const warning = "items: 2 rows could not be stored; `tributary rejects items` shows them.";
  const streams = [stream({ status: "warning", rejects: 2 }), stream({ stream: "orders", problems: 5 })];
  const run = past({
    status: "warning",
    warnings: [sentence(warning)],
    streams: [part({ status: "warning", rejected: 2 })],
  });
  const last = ended({ status: "warning", warnings: [sentence(warning)] });
  const { markup, words } = await shown(telling(() => warehouseStatus(streams, last), history(run)));
  expect(markup).toContain("2 rows could not be stored; <code>tributary rejects items</code> shows them.");
  expect(words).not.toContain("Some rows could not be stored");
  expect(words).toContain("tributary rejects --problems says which, and why. orders");
});

test("warnings as in the run before of the same command are counted, new ones told in full", async () => {
  const old = ["items: this is old.", "orders: this too."].map(sentence);
  const fresh = sentence("items, bills: this is new.");
  const run = { command: "tributary schedule nightly", status: "warning" };
  const warned = { status: "warning" };
  const bills = { ...warned, stream: "bills" };
  const history = {
    streams: [],
    runs: [
      past({ ...run, warnings: [...old, fresh], streams: [part(warned), part(bills)] }),
      past({ run_id: "r0", command: "tributary sync", warnings: [] }),
      past({ ...run, run_id: "r-1", warnings: old }),
    ],
  };
  const last = ended({ ...run, warnings: [...old, fresh] });
  const streams = [stream(), stream({ stream: "bills", problems: 5 })];
  const { words } = await shown(telling(() => warehouseStatus(streams, last), history));
  expect(words).toContain("items, bills: this is new.");
  expect(words).toContain("2 warnings as in the run before. tributary status shows them in full.");
  expect(words).not.toContain("this is old");
  expect(words).not.toContain("Some values did not fit");
});

test("hostile text stays text wherever it comes from", async () => {
  const name = `x"><script>alert(3)</script>`;
  const daemon = scriptedDaemon();
  daemon.run({ schedule: hostile, cause: "retry", startedAt: now }, [
    { stream: name, state: "reading", pages: 0, rows: 0, waitingFor: hostile },
  ]);
  daemon.plan([{ schedule: hostile, at: now, cause: "schedule" }]);
  const failed = { status: "failed", error: hostile } as const;
  const status = warehouseStatus([stream({ ...failed, company: name, stream: name }), stream({ company: "b" })], {
    ...ended({ ...failed, command: name, warnings: [sentence(hostile)] }),
    running: { run_id: name, command: name, started_at: now, pid: 1, host: name },
  });
  const mine = part({ ...failed, company: name, stream: name });
  const told = {
    runs: [past({ ...failed, command: name, streams: [mine] }), past(failed)],
    streams: [{ company: name, stream: name, runs: [mine] }],
  };
  const { markup } = await shown({ ...telling(() => status, told), daemon });
  expect(markup).toContain("&lt;img src=x onerror=alert(1)&gt; &quot;quoted&quot;");
  expect(markup).toContain("<code>&lt;b&gt;</code>");
  expect(markup).not.toMatch(/<img|<b>|<script>/);
  expect(markup.match(/<script/g)).toHaveLength(1);
});

test("charts say in words what they show, and runs what they did", async () => {
  const runs = [1, 5, 0].map((rejected, index) =>
    past({ run_id: `r${index}`, streams: [part({ rejected, rows_read: 100 * index })] }),
  );
  const { markup, words } = await shown(telling(() => warehouseStatus([stream()]), history(...runs)));
  const charts = [...markup.matchAll(/aria-label="Chart: ([^"]*)".*?<figcaption class="unseen">([^<]*)</gs)];
  expect(charts.map(([, what, summary]) => [what, summary])).toEqual([
    ["rows read", "Over 3 runs between 0 and 200; 0 in the last."],
    ["changes", "7 in each of 3 runs."],
    ["rejects", "Over 3 runs between 0 and 5; 1 in the last."],
  ]);
  expect(words).toMatch(/Last runs .* succeeded 1 min 00 s 13 100 7 1 succeeded/);
});

test("a run that could not begin is known to the daemon alone, and told", async () => {
  const daemon = scriptedDaemon();
  const run = { schedule: "nightly", cause: "schedule", startedAt: now, view: undefined } as const;
  const error = "Expected a database, got no answer. Check destination.url.";
  daemon.end({
    kind: "finished",
    run,
    finishedAt: now,
    outcome: { exit_code: 6, error: sentence(error) },
    retryAt: undefined,
  });
  const { words } = await shown({
    ...telling(() => warehouseStatus([stream({ status: "failed", error: refused })], ended())),
    daemon,
  });
  expect(words).toContain("1 of 1 streams failed");
  expect(words).toContain("Last run could not begin nightly, just now");
  expect(words).toContain("Expected a database, got no answer. Check destination.url.");
  expect(words.indexOf("Expected a database")).toBeLessThan(words.indexOf("The API key was refused"));
});

test("after the clock was set back the page is not the old one", async () => {
  const daemon = scriptedDaemon();
  const clock = stillClock(now);
  let status = warehouseStatus([stream()]);
  const { url } = await served({ ...telling(() => status), daemon }, { clock });
  const words = async () => (await fetch(url)).text();
  expect(await words()).toContain("The one stream is up to date");
  clock.advance(-3_600_000);
  status = warehouseStatus([stream({ status: "failed", error: "Expected a database, got no answer." })]);
  expect(await words()).toContain("1 of 1 streams failed");
});

test("while a run has the file, what was known before is shown", async () => {
  let note: string | null = null;
  const known = warehouseStatus([stream({ live_rows: 4_711 })]);
  const clock = stillClock(now);
  const source = telling(() =>
    note === null
      ? known
      : { ...warehouseStatus([stream({ status: "never", live_rows: 0 })]), warehouse: { ...known.warehouse, note } },
  );
  const { url } = await served(source, { clock });
  expect(await (await fetch(url)).text()).toContain("4,711 rows");
  note = "Expected the file to be free, but run r2 has held it since 12:00.";
  clock.advance(60_000);
  const held = await (await fetch(url)).text();
  expect(held).toContain("4,711 rows");
  expect(held).toContain("run r2 has held it");
});
