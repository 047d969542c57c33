import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../src/errors.ts";
import { createApi } from "../../src/source/client.ts";
import { createLimiter } from "../../src/source/limit.ts";

/* Asks an address once, and tells how that ended and how much memory it took at most. */

const [baseUrl = "", maxBodyBytes] = process.argv.slice(2);
const clock = { now: Date.now, sleep: (ms: number) => sleep(ms) };
const api = createApi({
  baseUrl,
  key: "sk-test",
  limits: {
    timeoutMs: 30_000,
    maxWaitMs: 1_000,
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes: Number(maxBodyBytes) }),
  },
  limit: createLimiter({ maxConcurrency: 1, clock }),
  clock,
  serviceClock: "check",
  random: () => 0,
  userAgent: "tributary/test",
});
const kilobytes = () => process.resourceUsage().maxRSS;
// What the first request loads is no part of what an answer takes.
await api.get("/small", {});
const before = kilobytes();
const ended = await api.get("/large", {}).then(
  ({ bytes }) => `${bytes} bytes`,
  (error: unknown) => (error instanceof ApiError ? error.failure : String(error)),
);
console.log(JSON.stringify({ ended, megabytes: Math.ceil((kilobytes() - before) / 1024) }));
await api.close();
