import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { emptyFolder, start, tributary } from "./process.ts";

const cwd = emptyFolder();

/** Starts a simulator and resolves with what it printed first. */
async function simulating(...args: readonly string[]) {
  const child = start(["simulate", "--port", "0", ...args], { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  return { child, printed: first.toString() };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "simulate serves until %s, and prints a configuration for itself",
  async signal => {
    const { child, printed } = await simulating("--key", "other-key", "--orders", "6");
    const { api } = parse(printed.slice(printed.indexOf("api:"))) as { api: { base_url: string; key: string } };
    expect(api.key).toBe("other-key");
    const answer = await fetch(`${api.base_url}/api/v1/items`, { headers: { "x-api-key": api.key } });
    expect(answer.status).toBe(200);
    const refused = await fetch(`${api.base_url}/api/v1/items`, { headers: { "x-api-key": "demo-key" } });
    expect(refused.status).toBe(401);
    const control = await fetch(`${api.base_url}/_simulator/truth?stream=items`);
    expect(await control.json()).toMatchObject({ count: 3 });
    child.kill(signal);
    const [code] = await once(child, "close");
    expect(code).toBe(0);
  },
);

test("another vocabulary by option", async () => {
  const { child, printed } = await simulating("--json", "--orders", "2", "--vocabulary", "other");
  const { url } = JSON.parse(printed) as { url: string };
  const truth = await fetch(`${url}/_simulator/truth?stream=items`);
  expect(await truth.json()).toMatchObject({ rows: [{ item_id: expect.stringMatching(/^.{12,}ITM|ITM.{12,}$/i) }] });
  child.kill("SIGTERM");
  expect(await text(child.stderr)).toBe("");
});

test("misbehaviour by option", async () => {
  const { child, printed } = await simulating("--json", "--fault", 'error500={"next":1}', "--fault", "only=/items");
  const { url, key } = JSON.parse(printed) as { url: string; key: string };
  const statuses: number[] = [];
  for (const path of ["/po", "/items", "/items"]) {
    const answer = await fetch(`${url}/api/v1${path}`, { headers: { "x-api-key": key } });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 500, 200]);
  child.kill("SIGTERM");
  expect(await text(child.stderr)).toBe("");
});

test("a port in use is said", async () => {
  const { printed } = await simulating("--json");
  const { port } = JSON.parse(printed) as { port: number };
  const { code, stderr } = await tributary(["simulate", "--port", String(port)], { cwd });
  expect(stderr).toContain(`The simulator can't listen on 127.0.0.1:${port} (EADDRINUSE)`);
  expect(code).toBe(2);
});
