import { z } from "zod";
import * as f from "../options/fields.ts";
import { names, object } from "../options/fields.ts";
import { limitOptions, reportOptions, selectionOptions } from "../options/options.ts";

/** When a run begins, and of what. */
export const schedule = object({
  name: f.name("a name"),
  cron: f.cron(),
  timezone: f.timezone().default("UTC"),
  /** Empty: all that are on. */
  streams: selectionOptions.streams.unwrap().default([]),
  max_time: limitOptions.max_time,
  wait: limitOptions.wait.unwrap().prefault("30m"),
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
  company: selectionOptions.company,
  ...reportOptions,
  out: f.filePath("a file's path").optional(),
  mail: object({
    smtp: f.smtpUrl(),
    from: f.mailAddress(),
    to: z.array(f.mailAddress(), { error: "expected a list such as [buying@example.com]" }).min(1),
    subject: f.text("a subject").optional(),
    /** After the first run of a day or week that changed rows, or after each run. */
    when: f.choice("changed", "always").default("changed"),
    /** By default a day; weeks begin on Monday. */
    every: f.choice("day", "week").optional(),
  }).optional(),
  post: f.httpUrl().optional(),
});
