import { z } from "zod";
import * as f from "./fields.ts";
import { names, object } from "./fields.ts";

/** When a run begins, and of what. */
export const schedule = object({
  name: f.name("a name"),
  cron: f.cron(),
  timezone: f.timezone().default("UTC"),
  /** Empty: all that are on. */
  streams: names("a stream's name or pattern").default([]),
  max_time: f.duration().optional(),
  /** A run starts up to so much later, by chance. */
  /** How long a run waits for another one that has the lock. */
  wait: f.duration("0s").prefault("30m"),
  /** How often a failed run is tried again before the next regular one, and after what pause; each pause doubles. */
  retries: f.whole(0, 100).default(2),
  retry_after: f.duration("1s", "1d").prefault("5m"),
});

/** A target of notifications. */
export const notifyTarget = object({
  url: f.httpUrl().optional(),
  command: z
    .array(f.text("a program and its arguments"), { error: "expected a list such as [/usr/local/bin/page, ops]" })
    .min(1)
    .optional(),
  format: f.choice("json", "slack").default("json"),
  on: z
    .array(f.choice("failure", "recovery", "late"), { error: "expected a list such as [failure, recovery]" })
    .default(["failure", "recovery", "late"]),
});

/** A report that follows runs, and where it goes. */
export const report = object({
  /** Empty: all schedules. */
  after: names("a schedule's name").default([]),
  /** All of them on one page, unless told. */
  company: f.name("a company's name").optional(),
  months: f.whole(1, 36).default(12),
  out: f.filePath("a file's path").optional(),
  mail: object({
    smtp: f.smtpUrl(),
    from: f.mailAddress(),
    to: z.array(f.mailAddress(), { error: "expected a list such as [buying@example.com]" }).min(1),
    subject: f.text("a subject").optional(),
  }).optional(),
  post: f.httpUrl().optional(),
});
