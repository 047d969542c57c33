import { loadConfig } from "../../../src/config/load.ts";
import type { RunOrder, RunTools } from "../../../src/sync/run/run_order.ts";
// First: what the engine calls has to be in place when it is loaded.
import { relationsOf } from "../../../streams/relations.ts";
import { logTo } from "../../support/log.ts";
import { models } from "../../support/models.ts";
import "./touches.ts";
import { setImmediate as turn } from "node:timers/promises";
import { Draw } from "../../../simulator/random.ts";
import type { Clock } from "../../../src/clock.ts";
import { TributaryError } from "../../../src/errors.ts";
import type { Message } from "../../../src/message.ts";
import { runBackfill } from "../../../src/operations/backfill/backfill.ts";
import { runReplay } from "../../../src/operations/replay/replay.ts";
import { reset } from "../../../src/operations/reset.ts";
import type { VerifyReport } from "../../../src/operations/verify/report.ts";
import { verify } from "../../../src/operations/verify/verify.ts";
import { runAttempts } from "../../../src/sync/run/attempts.ts";
import { messageFor } from "../../../src/sync/run/report.ts";
import { newRunId, type RunReport } from "../../../src/sync/run/run.ts";
import { identityEndpoint } from "../../../streams/identity.ts";
import { catalogues, releases } from "../world/catalogue.ts";
import type { Done, Job } from "./job.ts";
import { beginCounting, touching } from "./touches.ts";

/* The process in which the engine runs: job after job over IPC, until one kills it. Time is the job's own. */

/** How long a request takes by the run's clock. */
const LATENCY = 250;
/** Real time without any of the run's own, after which an alarm ends. */
const STILL = 5_000;

interface RunClock extends Clock {
  pass(ms: number): void;
}

function clockOf({ startsAt, alarms, maxTimeMs }: Job): RunClock {
  const set = new Set(maxTimeMs === undefined ? alarms : [...alarms, maxTimeMs]);
  let now = startsAt;
  const sleeping = new Set<() => void>();
  const pass = (ms: number) => {
    now += ms;
    for (const look of [...sleeping]) look();
  };
  return {
    now: () => now,
    pass,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      if (!set.has(ms)) {
        await turn();
        signal?.throwIfAborted();
        return pass(ms);
      }
      const until = now + ms;
      await new Promise<void>((resolve, reject) => {
        // A pause of an attempt may be as long as an alarm, and then nobody else is there to let time pass.
        let seen = now;
        const still = setInterval(() => {
          if (now === seen) pass(until - now);
          seen = now;
        }, STILL);
        const end = () => {
          clearInterval(still);
          sleeping.delete(look);
          signal?.removeEventListener("abort", abort);
        };
        const abort = () => {
          end();
          // It may be set again for what is left of it.
          set.add(until - now);
          reject(signal?.reason);
        };
        const look = () => {
          if (now < until) return;
          end();
          resolve();
        };
        sleeping.add(look);
        signal?.addEventListener("abort", abort, { once: true });
      });
    },
  };
}

async function perform(job: Job): Promise<Done> {
  const said: string[] = [];
  const clock = clockOf(job);
  const draw = new Draw(job.seed);
  const random = () => draw.next() / 4_294_967_296;
  touching.onRequest = () => clock.pass(LATENCY);
  beginCounting(job.death);
  let report: RunReport | undefined;
  let verified: VerifyReport | undefined;
  let exit: number;
  let thrown: Message | undefined;
  try {
    const catalogue = catalogues[job.program];
    const { config } = await loadConfig(job.config, { KEY: job.key, OTHER_KEY: job.otherKey });
    const tools: RunTools = {
      clock,
      random,
      log: logTo((text, facts) => void said.push(`${text} ${JSON.stringify(facts)}`)),
      signal: new AbortController().signal,
      redact: text => text.replaceAll(job.key, "•••").replaceAll(job.otherKey, "•••"),
      watch: () => undefined,
    };
    const { names, full, allDetails, confirmDeletes, maxTimeMs, maxRequests } = job;
    const shared = {
      version: releases[job.program],
      config,
      catalogue,
      models,
      relations: relationsOf,
      identity: identityEndpoint,
    };
    const { company } = job;
    const asked = { selection: { names, company }, limits: { maxTimeMs, maxRequests, waitMs: 0 } };
    if (job.command === "reset") {
      const runId = newRunId(new Date(clock.now()).toISOString(), random);
      const order = { config, catalogue, names, companies: [job.company], drop: job.drop };
      said.push(...(await reset(order, { runId, clock, waitMs: 0, version: "1.0.0" })));
      exit = 0;
    } else if (job.command === "backfill") {
      const range = { from: job.from, to: job.to };
      const order = { ...shared, ...asked, command: "tributary backfill", range };
      report = await runBackfill({ ...order, resume: false, restart: job.restart }, tools, undefined);
      exit = report.exit_code;
    } else if (job.command === "replay") {
      const span = { from: undefined, to: undefined };
      const order = { ...shared, ...asked, command: "tributary replay", span, rejects: job.rejects };
      report = await runReplay(order, tools);
      exit = report.exit_code;
    } else if (job.command === "verify") {
      const order = { ...shared, ...asked.selection, ...asked.limits, sample: undefined };
      verified = await verify(order, tools);
      exit = verified.exit_code;
    } else {
      const order: RunOrder = {
        ...shared,
        ...asked,
        command: "tributary sync",
        refresh: { full, allDetails, confirmDeletes },
      };
      report = await runAttempts(order, tools);
      exit = report.exit_code;
    }
  } catch (failure) {
    exit = failure instanceof TributaryError ? failure.exitCode : 70;
    const { code, message, fields } = messageFor(failure);
    thrown = { code, message: exit === 70 ? String((failure as Error)?.stack ?? failure) : message, fields };
  }
  touching.death = undefined;
  const errors = thrown === undefined ? (report?.errors ?? []) : [thrown];
  return { exit, report, verified, errors, endsAt: clock.now(), touches: { ...touching.counts }, said };
}

touching.strike = (strike, backend) =>
  new Promise(resolve => {
    const answered = (message: unknown) => {
      if (message !== "struck") return;
      process.off("message", answered);
      resolve();
    };
    process.on("message", answered);
    process.send?.({ strike, backend });
  });
process.on("message", (message: unknown) => {
  if (message === "struck") return;
  void perform(message as Job).then(done => process.send?.(done));
});
process.once("disconnect", () => process.exit(0));
process.send?.("ready");
