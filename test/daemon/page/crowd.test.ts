import { expect, test } from "vitest";
import type { Status } from "../../../src/operations/status.ts";
import { groups } from "../../../streams/index.ts";
import { sentence } from "../../support/log.ts";
import { manyStreams } from "./many.ts";
import { scriptedDaemon } from "./scripted.ts";
import { ended, shown } from "./shown.ts";
import { fleet, now, queuedRun, stream, telling, warehouseStatus, worker } from "./warehouse_status.ts";

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
