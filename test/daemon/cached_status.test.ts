import { expect, test } from "vitest";
import { createStatusCache } from "../../src/daemon/cached_status.ts";
import type { DaemonEvent } from "../../src/daemon/schedule/events.ts";
import { sentence } from "../support/log.ts";
import { handClock } from "./notify/clock.ts";

test("a look is not kept when the clock was set back since", async () => {
  const clock = handClock();
  let looks = 0;
  const read = () => Promise.reject(new Error(`look ${++looks}`));
  const { look: cachedStatus } = createStatusCache({ clock, keptMs: () => 2_000, daemon: undefined, read });
  await cachedStatus();
  clock.advance(-3_600_000);
  expect(await cachedStatus()).toMatchObject({ trouble: "look 2" });
  expect(await cachedStatus()).toMatchObject({ trouble: "look 2" });
});

test("many that look at once cost one look, and one that takes too long is not waited for", async () => {
  const clock = handClock();
  let looks = 0;
  let answer: (error: Error) => void = () => undefined;
  let tell: (event: DaemonEvent) => void = () => undefined;
  const { look: cachedStatus } = createStatusCache({
    clock,
    keptMs: () => 2_000,
    daemon: {
      listen(listener) {
        tell = listener;
        return () => undefined;
      },
    },
    read: () => {
      looks += 1;
      return new Promise((_resolve, reject) => {
        answer = reject;
      });
    },
  });
  const first = [cachedStatus(), cachedStatus(), cachedStatus()];
  clock.advance(5_000);
  expect(await Promise.all(first)).toEqual(
    Array.from({ length: 3 }, () => ({ status: undefined, trouble: "the warehouse did not answer within 5 s" })),
  );
  expect(looks).toBe(1);
  const second = cachedStatus();
  answer(new Error("no route to the server"));
  expect(await second).toEqual({ status: undefined, trouble: "no route to the server" });
  expect(await cachedStatus()).toEqual({ status: undefined, trouble: "no route to the server" });
  expect(looks).toBe(1);
  clock.advance(2_000);
  const third = cachedStatus();
  expect(looks).toBe(2);
  const early = answer;
  const run = { schedule: "nightly", cause: "schedule", startedAt: "", view: undefined } as const;
  tell({ kind: "finished", run, finishedAt: "", outcome: { exit_code: 0, error: sentence("") }, retryAt: undefined });
  const fourth = cachedStatus();
  expect(looks).toBe(3);
  early(new Error("before the run ended"));
  expect(await third).toMatchObject({ trouble: "before the run ended" });
  answer(new Error("after it"));
  expect(await fourth).toMatchObject({ trouble: "after it" });
  expect(await cachedStatus()).toMatchObject({ trouble: "after it" });
});
