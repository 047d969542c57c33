import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { hookRoute } from "../../../src/daemon/page/hook.ts";
import type { Daemon } from "../../../src/daemon/schedule/events.ts";
import { ConfigError } from "../../../src/errors.ts";
import { sentence } from "../../support/log.ts";
import { eventually, type HandClock, handClock } from "../notify/clock.ts";

const SECRET = "0123456789abcdef-secret";

interface Hook {
  readonly clock: HandClock;
  readonly hints: () => number;
  /** What the daemon says to the next hint, and whether one is waiting. */
  readonly daemon: { takes: boolean; next: ReturnType<Daemon["nextRuns"]>; refuses?: string | Error };
  /** Rows that it was asked to refresh. */
  readonly named: unknown[];
  settings: { readonly secret: string } | undefined;
  call(secret: string, body?: RequestInit["body"]): Promise<Response>;
}

function hook(): Hook {
  const clock = handClock();
  let hints = 0;
  const daemon: Hook["daemon"] = { takes: true, next: [] };
  const asked = () => {
    hints += 1;
    return daemon.takes;
  };
  const route = hookRoute({
    hooks: () => made.settings,
    daemon: {
      hint: asked,
      nextRuns: () => daemon.next,
      refresh(rows) {
        made.named.push(rows);
        if (daemon.refuses instanceof Error) throw daemon.refuses;
        return daemon.refuses;
      },
    },
    clock,
  });
  expect(route).toMatchObject({ method: "POST", path: "/hooks/:secret", open: true });
  const made: Hook = {
    clock,
    named: [],
    hints: () => hints,
    daemon,
    settings: { secret: SECRET },
    call: async (secret, body = null) =>
      route.answer(new Request("http://localhost/hooks/x", { method: "POST", body, duplex: "half" } as RequestInit), {
        secret,
      }),
  };
  return made;
}

test("the right secret asks for a run, whatever the body says", async () => {
  const { call, hints } = hook();
  for (const body of [null, "", '{"event":"document.processed"}', "not json at all \u0000", "x".repeat(64 * 1024)]) {
    const answer = await call(SECRET, body);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ accepted: true });
  }
  expect(hints()).toBe(5);
});

test("while a run that was asked for is still to begin, one more changes nothing", async () => {
  const { call, daemon, hints } = hook();
  daemon.next = [{ schedule: "nightly", at: "2026-03-15T02:31:00.000Z", cause: "schedule" }];
  expect(await (await call(SECRET)).json()).toEqual({ accepted: true });
  daemon.next = [{ schedule: "hook", at: "2026-03-15T02:31:00.000Z", cause: "hint" }];
  const answer = await call(SECRET);
  expect(answer.status).toBe(202);
  expect(await answer.json()).toEqual({
    accepted: false,
    reason: "A run that was asked for before is still to begin.",
  });
  expect(hints()).toBe(1);
});

const naming = (list: unknown, keys: unknown) => JSON.stringify({ list, keys, event: "order.changed" });

test("a body that names rows has their details fetched, also while a run that was asked for is still to begin", async () => {
  const { call, daemon, named, hints } = hook();
  daemon.next = [{ schedule: "hook", at: "2026-03-15T02:31:00.000Z", cause: "hint" }];
  const answer = await call(SECRET, naming("purchase_orders", ["PO-17", "PO-18"]));
  expect(answer.status).toBe(202);
  expect(await answer.json()).toEqual({ accepted: true, list: "purchase_orders", keys: 2 });
  expect(named).toEqual([{ list: "purchase_orders", keys: ["PO-17", "PO-18"] }]);
  // Rows that wait are no run of the feeds.
  daemon.next = [{ schedule: "refresh", at: "2026-03-15T02:31:00.000Z", cause: "hint" }];
  expect(await (await call(SECRET)).json()).toEqual({ accepted: true });
  expect(hints()).toBe(1);
});

test.each([
  naming(17, ["PO-17"]),
  naming("purchase_orders", "PO-17"),
  naming("purchase_orders", []),
  naming("purchase_orders", [17]),
  naming("purchase_orders", Array(101).fill("PO-17")),
  '{"list":"purchase_orders"}',
  '{"keys":["PO-17"]}',
])("rows that cannot be what is meant are refused (%#)", async body => {
  const { call, named, hints } = hook();
  const answer = await call(SECRET, body);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("1 to 100 keys that are texts");
  expect([named, hints()]).toEqual([[], 0]);
});

test("what the daemon says of the rows is answered: no such list, no room", async () => {
  const { call, daemon } = hook();
  daemon.refuses = new ConfigError(sentence("refresh: there is no stream"));
  const unknown = await call(SECRET, naming("orders", ["PO-17"]));
  expect([unknown.status, await unknown.json()]).toEqual([400, { error: "refresh: there is no stream" }]);
  daemon.refuses = "Too many rows wait already.";
  const full = await call(SECRET, naming("purchase_orders", ["PO-17"]));
  expect([full.status, full.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(await full.text()).toContain("Too many rows wait already. Nothing of this hint is kept; send it again.");
  daemon.refuses = new Error("a bug");
  await expect(call(SECRET, naming("purchase_orders", ["PO-17"]))).rejects.toThrow("a bug");
  expect((await call("wrong", naming("purchase_orders", ["PO-17"]))).status).toBe(404);
});

test("where nothing would run it says so", async () => {
  const { call, daemon } = hook();
  daemon.takes = false;
  const answer = await call(SECRET);
  expect(answer.status).toBe(202);
  expect(await answer.json()).toEqual({
    accepted: false,
    reason: "There is nothing to run: no stream of hooks.streams is on, or tributary is ending.",
  });
});

test.each(["", "wrong", SECRET.slice(0, -1), `${SECRET}x`, SECRET.toUpperCase()])(
  "%j asks for nothing",
  async secret => {
    const { call, hints } = hook();
    const answer = await call(secret, "x".repeat(1000));
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe("404 Not Found\n");
    expect(hints()).toBe(0);
  },
);

test("where no hook is configured every secret is unknown, and a reloaded configuration holds at once", async () => {
  const made = hook();
  made.settings = undefined;
  for (let calls = 0; calls < 40; calls += 1) expect((await made.call(SECRET)).status).toBe(404);
  made.settings = { secret: "another-secret-4711" };
  expect((await made.call(SECRET)).status).toBe(404);
  expect((await made.call("another-secret-4711")).status).toBe(202);
  expect(made.hints()).toBe(1);
});

test("the 31st call within a minute has to wait", async () => {
  const { call, clock, hints } = hook();
  for (let calls = 0; calls < 30; calls += 1) {
    expect((await call(SECRET)).status).toBe(202);
    clock.advance(1_000);
  }
  const refused = await call(SECRET);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(await refused.json()).toEqual({ error: "No more than 30 calls a minute are taken; try again in 30 s." });
  clock.advance(29_999);
  expect((await call(SECRET)).status).toBe(429);
  clock.advance(1);
  expect((await call(SECRET)).status).toBe(202);
  expect(hints()).toBe(31);
});

test("wrong secrets are rate-limited, and do not limit callers with the right one", async () => {
  const { call, clock } = hook();
  for (let calls = 0; calls < 30; calls += 1) expect((await call(`guess-${calls}`)).status).toBe(404);
  expect((await call("guess-31")).status).toBe(429);
  expect((await call(SECRET)).status).toBe(202);
  clock.advance(60_000);
  expect((await call("guess-32")).status).toBe(404);
});

test("a body above 64 kB is refused and not read to its end", async () => {
  const { call, hints } = hook();
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1;
      controller.enqueue(new Uint8Array(16 * 1024));
    },
  });
  const answer = await call(SECRET, endless);
  expect(answer.status).toBe(413);
  expect(sent).toBeLessThan(10);
  expect(hints()).toBe(0);
});

test("a body that does not end is given up after ten seconds", async () => {
  const { call, clock, hints } = hook();
  const answer = call(SECRET, new ReadableStream<Uint8Array>({ start: c => c.enqueue(new Uint8Array(10)) }));
  await eventually(() => expect(clock.pauses()).toEqual([10_000]));
  clock.advance(10_000);
  expect((await answer).status).toBe(408);
  expect(hints()).toBe(0);
});

test("a body that breaks off asks for nothing", async () => {
  const { call, hints } = hook();
  const broken = new ReadableStream<Uint8Array>({ start: c => c.error(new Error("gone")) });
  expect((await call(SECRET, broken)).status).toBe(400);
  expect(hints()).toBe(0);
});

test("over a real connection: with a wrong secret a large body is answered without being read", async () => {
  const { call } = hook();
  const server = createServer(async (message, response) => {
    const secret = message.url?.split("/").at(-1) ?? "";
    const answer = await call(secret, Readable.toWeb(message) as ReadableStream<Uint8Array<ArrayBuffer>>);
    response.writeHead(answer.status, { connection: "close" }).end(await answer.text());
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = httpRequest({ port, host: "127.0.0.1", path: "/hooks/wrong", method: "POST" }, answer => {
      resolve(answer.statusCode);
      sending.destroy();
    });
    sending.on("error", error => (sending.destroyed ? undefined : reject(error)));
    // Announced and never finished.
    sending.write("x".repeat(1000));
  });
  expect(status).toBe(404);
});
