import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { secretKey, simulated, workplace } from "../../cli/workplace.ts";

test("status --serve serves the page of a warehouse until it is told to end", async () => {
  const simulator = await simulated();
  const place = workplace(simulator, { server: { listen: "127.0.0.1:0" } });
  expect((await place.run(["sync", "items"])).code).toBe(0);
  const child = place.start("status", "--serve", "--json");
  const ended = once(child, "close");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === 3) break;
  const { url } = JSON.parse(lines.join("")) as { readonly url: string };
  const page = await (await fetch(url)).text();
  expect(page).toContain("items");
  expect(page).toContain("130 rows");
  expect(page).not.toContain(secretKey);
  expect(await (await fetch(`${url}/status.json`)).json()).toMatchObject({ last_run: { status: "succeeded" } });
  // A visitor who stays does not keep it from ending.
  const events = await fetch(`${url}/events`);
  child.kill("SIGINT");
  expect((await ended)[0]).toBe(0);
  await events.body?.cancel().catch(() => undefined);
});

test("an address for everybody is refused, and with a token the page says how to come in", async () => {
  const listen = "0.0.0.0:0";
  const refused = await workplace({ url: "http://127.0.0.1:9" }, { server: { listen } }).run(["status", "--serve"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("server.token");
  const child = workplace({ url: "http://127.0.0.1:9" }, { server: { listen, token: secretKey } }).start(
    "status",
    "--serve",
  );
  const said = text(child.stdout);
  const [first] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill("SIGTERM");
  expect(first).toMatch(/^The status page is at http:\/\/0\.0\.0\.0:\d+\/\?token=<server\.token>\. Ctrl-C ends it\.$/);
  expect(await said).not.toContain(secretKey);
});
