import { expect, test } from "vitest";
import { systemClock } from "../src/clock.ts";

test("an aborted sleep rejects with the signal's own reason, before and while it sleeps", async () => {
  const reason = new Error("stop");
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const sleep = systemClock.sleep(60_000, controller.signal);
  controller.abort(reason);
  await expect(sleep).rejects.toBe(reason);
});

test("a month is not a millisecond", async () => {
  const controller = new AbortController();
  const sleep = systemClock.sleep(40 * 86_400_000, controller.signal);
  const first = await Promise.race([sleep.then(() => "woke"), systemClock.sleep(20).then(() => "still asleep")]);
  expect(first).toBe("still asleep");
  controller.abort("done");
  await expect(sleep).rejects.toBe("done");
});
