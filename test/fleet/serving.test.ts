import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import type { Status } from "../../src/operations/status.ts";
import { json, roleDatabase, secretKey, simulated, workplace } from "../cli/workplace.ts";
import { exposition, lint } from "../daemon/page/exposition.ts";
import { freePort } from "../support/server.ts";
import { until } from "./workers.ts";

async function working(...args: readonly string[]) {
  const simulator = await simulated();
  const { destination, admin } = await roleDatabase();
  const port = await freePort();
  const server = { listen: `127.0.0.1:${port}`, token: secretKey };
  const place = workplace(simulator, { destination, server, workers: {}, views: false });
  const child = place.start("work", ...args);
  const ended = once(child, "close");
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => undefined);
    return answer && { status: answer.status, text: await answer.text() };
  };
  return { place, child, ended, ask, admin, port };
}

const ready = { status: 200, text: "ready\n" };

test("a worker serves health for everybody, figures for who has the token, and no page", async () => {
  const { place, child, ended, ask, admin } = await working();
  await until(async () => (await ask("/readyz"))?.status === 200);
  expect(await ask("/readyz")).toEqual(ready);
  expect(await ask("/healthz")).toEqual({ status: 200, text: "ok\n" });
  const token = { authorization: `Bearer ${secretKey}` };
  expect((await ask("/metrics"))?.status).toBe(401);
  for (const path of ["/", "/status.json", "/events", "/page.js"]) expect((await ask(path, token))?.status).toBe(404);
  await until(async () => (await ask("/metrics", token))?.text.includes("tributary_workers_up 1") === true);
  const figures = exposition((await ask("/metrics", token))!.text);
  expect(lint(figures)).toEqual([]);
  const { workers } = json<Status>(await place.run(["status", "--json"]));
  const { id } = workers!.workers[0]!;
  expect(figures.value("tributary_worker_jobs", `{worker="${id}"}`)).toBe(0);
  expect(figures.value("tributary_worker_refuses", `{worker="${id}"}`)).toBe(0);
  // The queue is gone for longer than the heartbeat, and then there again.
  await admin.query("alter table _tributary.workers rename to away");
  await until(async () => (await ask("/healthz"))?.status === 503);
  const lost = { status: 503, text: "The queue of jobs has not heard of this worker for too long.\n" };
  expect(await ask("/healthz")).toEqual(lost);
  expect(await ask("/readyz")).toEqual(lost);
  await admin.query("alter table _tributary.away rename to workers");
  await until(async () => (await ask("/healthz"))?.status === 200);
  child.kill("SIGTERM");
  expect((await ended)[0]).toBe(0);
  expect(await ask("/healthz")).toBeUndefined();
});

test("of local workers their parent answers, by what they have told the queue", async () => {
  const { place, child, ended, ask } = await working("--local", "2");
  await until(async () => {
    const found = json<Status>(await place.run(["status", "--json"]));
    return found.workers?.workers.length === 2;
  });
  await until(async () => (await ask("/readyz"))?.status === 200);
  expect(await ask("/healthz")).toEqual({ status: 200, text: "ok\n" });
  child.kill("SIGTERM");
  expect((await ended)[0]).toBe(0);
  expect(await ask("/healthz")).toBeUndefined();
});

test("where another program has the port a worker is told to serve nothing, and with --no-server nothing listens", async () => {
  const { place, child, ended, ask, port } = await working("--no-server");
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  const { code, stderr } = await place.run(["work"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/another program has that port.* With --no-server this worker serves nothing\./);
  other.close();
  await once(other, "close");
  await until(async () => json<Status>(await place.run(["status", "--json"])).workers?.workers.length === 1);
  expect(await ask("/healthz")).toBeUndefined();
  child.kill("SIGTERM");
  expect((await ended)[0]).toBe(0);
});
