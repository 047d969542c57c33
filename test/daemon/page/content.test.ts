import { expect, test } from "vitest";
import type { PageSource } from "../../../src/daemon/page/source.ts";
import { DestinationError } from "../../../src/errors.ts";
import type { RunStatus, Status } from "../../../src/operations/status.ts";
import type { History, PastRun, PastStreamRun } from "../../../src/warehouse/read/run_history.ts";
import { groups } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { sentence } from "../../support/log.ts";
import { manyStreams } from "./many.ts";
import { scriptedDaemon } from "./scripted.ts";
import { fleet, now, queuedRun, served, stream, telling, warehouseStatus, worker } from "./warehouse_status.ts";

const hostile = `<img src=x onerror=alert(1)> "quoted" </script><script>alert(2)</script>. PageSnapshot at \`<b>\` first.`;
const refused =
  "Expected data from GET /a, got 401 UNAUTHORIZED. The API key was refused: check api.key, and that the key belongs to this base_url.";

/** The page as text and as markup. */
async function shown(source: PageSource, path = ""): Promise<{ markup: string; words: string }> {
  const { url } = await served(source);
  const markup = await (await fetch(url + path)).text();
  const body = markup.slice(markup.indexOf("<body>"));
  const words = body
    .replace(/<title>.*?<\/title>|<\/?a\b[^>]*>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&#39;", "'");
  return { markup, words };
}

const part = (facts: Partial<PastStreamRun> = {}): PastStreamRun => ({
  run_id: "r1",
  company: "acme",
  stream: "items",
  status: "succeeded",
  started_at: "2026-03-15T02:00:01.000Z",
  finished_at: "2026-03-15T02:00:31.000Z",
  requests: 13,
  rows_read: 1_204,
  inserted: 4,
  updated: 2,
  deleted: 1,
  rejected: 0,
  error: null,
  ...facts,
});

const past = (facts: Partial<PastRun> = {}): PastRun => ({
  run_id: "r1",
  command: "sync",
  status: "succeeded",
  started_at: "2026-03-15T02:00:00.000Z",
  finished_at: "2026-03-15T02:01:00.000Z",
  error: null,
  warnings: [],
  streams: [part()],
  ...facts,
});

const ended = (facts: Partial<RunStatus> = {}): Pick<Status, "last_run"> => ({
  last_run: {
    run_id: "r1",
    command: "sync",
    status: "succeeded",
    exit_code: 0,
    started_at: "2026-03-15T02:00:00.000Z",
    finished_at: "2026-03-15T02:01:00.000Z",
    warnings: [],
    error: null,
    snapshot: null,
    ...facts,
  },
});

const history = (...runs: readonly PastRun[]): History => ({
  runs,
  streams: [{ company: "acme", stream: "items", runs: runs.flatMap(run => run.streams).toReversed() }],
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

test("a stream whose answers made no sense failed, also after a good run of another one", async () => {
  const error =
    "/items: expected a pagination block, got none. The scan stays incomplete and the next run tries again.";
  const streams = [stream({ status: "incomplete", error }), stream({ stream: "orders" })];
  const { words, markup } = await shown(telling(() => warehouseStatus(streams, ended())));
  expect(words).toContain("1 of 2 streams failed");
  expect(markup).toContain('<span class="pill bad">incomplete</span>');
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

test("an earlier error stays to be seen when it is over", async () => {
  const failed = past({ run_id: "r0", status: "failed", error: refused, started_at: "2026-03-14T02:00:00.000Z" });
  const { words } = await shown(telling(() => warehouseStatus([stream()], ended()), history(past(), failed)));
  expect(words).toContain("The one stream is up to date");
  expect(words).not.toContain("What to do");
  expect(words).toContain("sync failed Expected data from GET /a, got 401 UNAUTHORIZED.");
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

test("a warning that begins with a stream's name and is not about the stream does not hide its rejects", async () => {
  const warnings = [sentence("items: a table of that name is in the way of a view.")];
  const last = ended({ status: "warning", warnings });
  const status = warehouseStatus([stream({ rejects: 2 })], last);
  const { words } = await shown(telling(() => status, history(past({ status: "warning", warnings }))));
  expect(words).toContain("Some rows could not be stored");
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

test("several companies are told apart", async () => {
  const streams = [stream({ company: "acme" }), stream({ company: "globex", status: "failed", error: refused })];
  const { markup, words } = await shown(telling(() => warehouseStatus(streams)));
  expect(markup).toMatch(/<h3>acme<\/h3>.*<h3>globex<\/h3>/s);
  expect(words).toContain("globex/items");
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

test("the next run and what runs elsewhere", async () => {
  const daemon = scriptedDaemon();
  daemon.plan([{ schedule: "nightly", at: "2026-03-16T02:00:00.000Z", cause: "retry" }]);
  const running = { run_id: "r9", command: "sync items", started_at: "2026-03-15T11:55:00.000Z", pid: 7, host: "db1" };
  const { words } = await shown({ ...telling(() => warehouseStatus([stream()], { running })), daemon });
  expect(words).toContain("Next run in 14 h nightly (another try), Mon 16 Mar, 02:00");
  expect(words).toContain("Run r9 ( sync items , process 7 on db1) began 5 min ago . Its");
});

test("a run that goes on long after its max_time is what is wrong", async () => {
  const daemon = scriptedDaemon();
  const facts = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T02:00:00.000Z" } as const;
  daemon.run({ ...facts, overdueSince: "2026-03-15T06:10:00.000Z" });
  const { words } = await shown({ ...telling(() => warehouseStatus([stream()])), daemon });
  expect(words).toContain("A run goes on long after its max_time");
  expect(words).toContain("The run nightly goes on long after its max_time. No other run starts before it ends.");
});

test("a table with other rows than the service says so, and why", async () => {
  const apart = stream({ service_rows: 12, difference: -2, difference_reason: "rows rejected" });
  const { words } = await shown(telling(() => warehouseStatus([apart, stream({ stream: "even" })])));
  expect(words).toContain("2 rows fewer than at the service: rows rejected");
  expect(words.match(/than at the service/g)).toHaveLength(1);
});

test("a configuration that was refused says that the one before is in use, and why", async () => {
  const daemon = scriptedDaemon();
  daemon.refuse({ error: sentence("config.yaml:3:1 streems: unknown key, did you mean streams?"), at: now });
  const { words } = await shown({ ...telling(() => warehouseStatus([stream()])), daemon });
  expect(words).toContain("The configuration has changed and is not in use: runs go on with the one before.");
  expect(words).toContain("config.yaml:3:1 streems: unknown key, did you mean streams?");
});

test("what a run waits for before it knows its streams is told", async () => {
  const daemon = scriptedDaemon();
  const facts = { schedule: "nightly", cause: "schedule", startedAt: "2026-03-15T02:00:00.000Z" } as const;
  daemon.run({ ...facts, waits: "Waiting up to 30 min 00 s for run r7." });
  const { words } = await shown({ ...telling(() => warehouseStatus([stream()])), daemon });
  expect(words).toContain("Waiting up to 30 min 00 s for run r7.");
});

test("before the first load it says how to begin", async () => {
  const empty = warehouseStatus([
    stream({ status: "never", complete_to: null, last_success_at: null, rows: 0, live_rows: 0 }),
  ]);
  const { words } = await shown(telling(() => ({ ...empty, warehouse: { ...empty.warehouse, loaded: false } })));
  expect(words).toContain(
    "Nothing has been loaded yet tributary check looks whether everything is ready, tributary sync loads.",
  );
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

test("a warehouse that could never be read is told with its advice, and the page is there", async () => {
  const { words } = await shown(
    telling(() => {
      throw new DestinationError(sentence("Expected a database, got no answer. Check destination.url."));
    }),
  );
  expect(words).toContain("The warehouse cannot be read What to do Expected a database");
  expect(words).toContain("Expected a database, got no answer. Check destination.url.");
});

const withWorkers = (workers: Status["workers"]) => telling(() => warehouseStatus([stream()], { workers }));

test("workers are shown with what they do and what waits for them; without any the page says nothing of them", async () => {
  for (const none of [null, fleet([])]) {
    const { markup } = await shown(withWorkers(none));
    expect(markup).not.toContain('id="workers"');
  }
  const reading = { stream: "items", state: "reading", rows: 1_200, total: 4_000 } as const;
  const job = { run_id: "r", company: "acme", since: "2026-03-15T11:58:00.000Z", streams: [reading] };
  const conducts = { ...job, run_id: "20260315T020000-1a2b3c4d", company: null, streams: [] };
  const { markup, words } = await shown(
    withWorkers(
      fleet(
        [
          worker({ id: "one", jobs: [conducts, job] }),
          worker({ id: "two", draining: true }),
          worker({ id: "three", up: false, seen_seconds_ago: 75 }),
        ],
        {
          queue: { waiting_companies: 1_200, active_companies: 1, runs: [queuedRun()] },
        },
      ),
    ),
  );
  expect(markup.indexOf('class="tiles"')).toBeLessThan(markup.indexOf('id="workers"'));
  expect(markup.indexOf('id="workers"')).toBeLessThan(markup.indexOf('id="streams"'));
  expect(words).toContain("1 run: 1 company being worked on, 1,200 waiting.");
  expect(words).toContain(
    "conducts run 20260315T020000-1a2b3c4d acme since Sun 15 Mar, 11:58 : items reading, 1,200 of 4,000 rows",
  );
  expect(words).toMatch(/two process 1 on .*?, version 1\.0\.0 leaving seen 1 s ago, up since 1 h ago nothing/);
  expect(words).toContain("silent seen 1 min 15 s ago");
  expect(markup).not.toContain("<img src=x");
  expect(words).not.toContain("What to do");
});

test("it is a concern when runs wait and no worker is up, when one refuses, and when none can be looked at", async () => {
  const silent = worker({ up: false });
  const runs = (count: number) => ({
    queue: { waiting_companies: 0, active_companies: 0, runs: Array(count).fill(queuedRun()) },
  });
  const alone = await shown(withWorkers(fleet([silent], runs(1))));
  expect(alone.words).toContain("No worker is up, and a run waits for one.");
  expect(alone.markup).toContain("<code>tributary work</code>");
  expect((await shown(withWorkers(fleet([], runs(2))))).words).toContain("No worker is up, and 2 runs wait for one.");
  for (const calm of [fleet([silent]), fleet([silent, worker()], runs(1))])
    expect((await shown(withWorkers(calm))).words).not.toContain("What to do");
  const refusal = "The warehouse was written by a later version. Update this one.";
  const refusing = await shown(
    withWorkers(
      fleet([worker({ id: "one", refusal }), worker({ id: "two", refusal }), worker({ up: false, refusal: "Old." })]),
    ),
  );
  expect(refusing.words).toContain(`The workers one, two take no jobs. ${refusal}`);
  expect(refusing.words).not.toContain("Old.");
  const note = "Expected to read _tributary.workers. Grant it.";
  expect((await shown(withWorkers(fleet([], { note })))).words).toContain(
    `What the workers do can't be looked at. ${note}`,
  );
});

test("many warnings of a run are one thing to look at, and what is wrong beyond the first four is folded", async () => {
  const warnings = Array.from({ length: 9 }, (_, nth) => sentence(`s${nth}: ${nth} rows could not be stored.`));
  const broken = Array.from({ length: 7 }, (_, nth) =>
    stream({ stream: `s${nth}`, status: "failed", error: `Fault ${nth}. Mend it so: ${"x".repeat(nth)}.` }),
  );
  const late = Array.from({ length: 8 }, (_, nth) =>
    stream({ stream: `l${nth}`, complete_to: "2026-01-01T00:00:00Z" }),
  );
  const status = warehouseStatus([...broken, ...late], ended({ status: "warning", warnings }));
  const { markup } = await shown(telling(() => status));
  const trouble = markup.slice(markup.indexOf('id="trouble"'), markup.indexOf('class="tiles"'));
  expect(trouble.match(/<p class="what">/g)).toHaveLength(9);
  const [open, folded] = [
    trouble.slice(0, trouble.indexOf("<summary>5 more")),
    trouble.slice(trouble.indexOf("<summary>5 more")),
  ];
  expect(open.match(/<p class="what">Fault/g)).toHaveLength(4);
  expect(folded).toContain("The last run ended with 9 warnings.");
  expect(folded.match(/rows could not be stored/g)).toHaveLength(9);
  expect(folded).toMatch(/l4<\/a><\/p>\s*<details class="rest"><summary>and 3 more streams<\/summary>/);
  expect(folded).toContain('<a href="/streams/acme/l7">l7</a>');
});

test("streams stand by subject in the order of the catalogue, many of them folded", async () => {
  const subjects = (markup: string) => [...markup.matchAll(/<details( open)?><summary><span class="subject">([^<]*)/g)];
  const few = ["rate_cards", "invoices", "items", "of_another_version"];
  const { markup } = await shown(telling(() => warehouseStatus(few.map(name => stream({ stream: name })))));
  expect(subjects(markup).map(([, open, title]) => [title, open])).toEqual([
    ["Freight", " open"],
    ["Core", " open"],
    ["Others", " open"],
  ]);
  const { status } = manyStreams(false);
  const many = await shown(telling(() => status));
  expect(subjects(many.markup).map(([, open, title]) => [title, open])).toEqual(
    groups.map(({ title }) => [title, undefined]),
  );
  expect(many.words).toContain("Contracts and budgets 1 failed 1 late 5 streams, ");
  expect(many.markup.length).toBeLessThan(1_200_000);
});

test("a run of many streams names the first of those that failed, and counts the others", async () => {
  const { status, history } = manyStreams(false);
  const { words } = await shown(telling(() => status, history));
  expect(words).toContain(
    "5 failed (findings, contracts, entity_graph, …), 1 incomplete (import_review_parked), 23 with warnings, 136 succeeded",
  );
  expect(words).toContain("165 succeeded");
});

test("of a run of many streams those are shown that something happens to, the others folded", async () => {
  const daemon = scriptedDaemon();
  const states = ["reading", ...Array(20).fill("waiting"), "failed", ...Array(10).fill("done")];
  const streams = states.map((state, nth) => ({ stream: `s${nth}`, state, pages: 0, rows: 1 }));
  daemon.run({ schedule: "nightly", cause: "schedule", startedAt: now }, streams);
  const { markup, words } = await shown({ ...telling(() => warehouseStatus([stream()])), daemon });
  const live = markup.slice(markup.indexOf('id="live"'), markup.indexOf('id="streams"'));
  const before = live.slice(0, live.indexOf("<details"));
  expect([...before.matchAll(/data-stream="(\w+)"/g)].map(([, name]) => name)).toEqual(["s0", "s21"]);
  expect(words).toContain("30 streams waiting or done");
});
