import type { Occasion } from "../../config/config.ts";
import { counted } from "../../counted.ts";
import { roughly } from "../../duration.ts";
import { type Message, reworded, textsOf } from "../../message.ts";
import type { StreamStatus } from "../../operations/status.ts";
import { type Redactor, redactJson } from "../../secrets.ts";
import type { FinishedRun } from "../schedule/events.ts";
import { notifyMessages, shown } from "./messages.ts";

/** A stream that a notification is about. `status` is that of its run, or `late`. */
export type NotedStream = Pick<StreamStatus, "company" | "stream" | "status" | "error">;

/** What targets are sent as JSON. Keys are added, never renamed. */
export interface Notification {
  readonly product: "tributary";
  readonly occasion: Occasion;
  /** Absent where it is about several companies. */
  readonly company?: string;
  /** Null where it is not about a schedule: late data. */
  readonly schedule: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly title: string;
  readonly text: string;
  readonly streams: readonly NotedStream[];
  /** The run's errors, or one for each late stream; none for a recovery. */
  readonly errors: readonly Message[];
  readonly exit_code: number | null;
  readonly run_id: string | null;
  /** Notifications of the same kind that were held back since the last one. */
  readonly suppressed: number;
}

/** Sends a notification with the number of those that were held back before it. */
export type Send = (notification: Notification, suppressed: number) => void;

export interface AgedStream {
  readonly company: string;
  readonly stream: string;
  readonly completeTo: string;
  readonly ageMs: number;
}

const MAX_LINES = 10;
const MAX_LINE = 500;

/** A run failed. */
export function failureMessage(finished: FinishedRun): Notification {
  const { outcome, finishedAt, retryAt } = finished;
  const report = "run_id" in outcome ? outcome : undefined;
  const streams = failedStreams(outcome);
  const next =
    retryAt === undefined
      ? "It is not tried again before the schedule's next time."
      : `It is tried again at ${shown(retryAt)}.`;
  const share =
    streams.length === 0 ? "" : `, ${counted(streams.length, "stream")} of ${report?.streams.length} not read`;
  const errors = "error" in outcome ? [outcome.error] : outcome.errors;
  const began = report === undefined ? "A run could not begin" : `Run ${report.run_id} failed`;
  return ofRun("failure", finished, { streams, errors }, `failed with exit code ${outcome.exit_code}${share}`, [
    `${began} at ${shown(finishedAt)}. ${next}`,
    ...listed(textsOf(errors)),
    "What was stored before is safe; `tributary status` shows how every stream stands.",
  ]);
}

/** The first success after a failure that was told. `since` is when the failing began, `before` the streams it was about. */
export function recoveryMessage(finished: FinishedRun, since: string, before: ReadonlySet<string>): Notification {
  const { outcome, finishedAt } = finished;
  const report = "run_id" in outcome ? outcome : undefined;
  const streams = (report?.streams ?? []).filter(one => before.has(nameOf(one))).map(noted);
  return ofRun("recovery", finished, { streams, errors: [] }, "works again", [
    `Run ${report?.run_id ?? ""} succeeded at ${shown(finishedAt)}, after failing since ${shown(since)}.`,
    ...(streams.length === 0 ? [] : listed([`Read again: ${streams.map(nameOf).join(", ")}.`])),
  ]);
}

function ofRun(
  occasion: Occasion,
  { run, outcome, finishedAt }: FinishedRun,
  told: Pick<Notification, "streams" | "errors">,
  title: string,
  lines: readonly string[],
): Notification {
  return {
    ...about(occasion, told, finishedAt),
    schedule: run.schedule,
    title: `${run.schedule} ${title}`,
    text: lines.join("\n"),
    exit_code: outcome.exit_code,
    run_id: "run_id" in outcome ? outcome.run_id : null,
  };
}

/** How a report that follows a schedule's run ended. */
export interface EndedReport {
  readonly place: string;
  readonly schedule: string;
  /** Why it was not made, or did not get somewhere. */
  readonly failures: readonly Message[];
}

/** A report was not made, or did not get everywhere; without failures: it does again. */
export function reportMessage({ place, schedule, failures }: EndedReport, at: string): Notification {
  const [occasion, title] =
    failures.length > 0 ? (["failure", "failed"] as const) : (["recovery", "works again"] as const);
  const next = `The next one follows the next run of ${schedule}; the tables are up to date.`;
  return {
    ...about(occasion, { streams: [], errors: failures }, at),
    ...{ schedule, title: `${place} ${title}`, text: [...listed(textsOf(failures)), next].join("\n") },
    ...{ exit_code: null, run_id: null },
  };
}

export function lateMessage(streams: readonly AgedStream[], lateAfterMs: number, at: string): Notification {
  const late = streams.map(({ company, stream, completeTo, ageMs }) => ({
    ...{ company, stream },
    message: notifyMessages.data_late({ complete_to: completeTo, age_ms: ageMs, late_after_ms: lateAfterMs }),
  }));
  const told = late.map(({ message, ...named }) => ({ ...named, status: "late", error: message.message }));
  const errors = late.map(({ message, ...named }) => reworded(message, `${nameOf(named)}: ${message.message}`, named));
  return ofData("late", { streams: told, errors }, at, "Data is late", [
    ...listed(textsOf(errors)),
    "`tributary status` shows the last run; `tributary check` says whether the next one would go well.",
  ]);
}

/** Streams whose data was late, as people were told, and is not any more. */
export function upToDateMessage(streams: readonly AgedStream[], at: string): Notification {
  const fresh = streams.map(({ company, stream }) => ({ company, stream, status: "up to date", error: null }));
  const lines = streams.map(one => `${nameOf(one)}: complete to ${shown(one.completeTo)}, ${roughly(one.ageMs)} ago.`);
  return ofData("recovery", { streams: fresh, errors: [] }, at, "Data is up to date again", listed(lines));
}

function ofData(
  occasion: Occasion,
  told: Pick<Notification, "streams" | "errors">,
  at: string,
  title: string,
  lines: readonly string[],
): Notification {
  return {
    ...about(occasion, told, at),
    ...{ schedule: null, title: `${title}: ${counted(told.streams.length, "stream")}`, text: lines.join("\n") },
    ...{ exit_code: null, run_id: null },
  };
}

export function withSuppressed(notification: Notification, count: number): Notification {
  if (count <= 0) return notification;
  const what = count === 1 ? "One more notification" : `${count} more notifications`;
  const text = `${notification.text}\n${what} of this kind had been held back (notify.at_most_every).`;
  return { ...notification, text, suppressed: count };
}

/** The body of a POST, or a command's input, without secrets. */
export function bodyOf(notification: Notification, format: "json" | "slack", redact: Redactor): string {
  if (format === "json") return JSON.stringify(redactJson(notification, redact));
  const { title, text } = notification;
  return JSON.stringify({ text: `*${slackText(redact(title))}*\n${slackText(redact(text))}` });
}

export const nameOf = ({ company, stream }: { readonly company: string; readonly stream: string }): string =>
  `${company}/${stream}`;

export function failedStreams(outcome: FinishedRun["outcome"]): NotedStream[] {
  if (!("run_id" in outcome)) return [];
  return outcome.streams.filter(one => one.status !== "succeeded" && one.status !== "warning").map(noted);
}

function noted({ company, stream, status, error }: NotedStream): NotedStream {
  return { company, stream, status, error: error === null ? null : cut(error) };
}

function about(occasion: Occasion, { streams, errors }: Pick<Notification, "streams" | "errors">, at: string) {
  const companies = [...new Set(streams.map(one => one.company))];
  const [company] = companies;
  const single = companies.length === 1 && company !== undefined ? { company } : {};
  return { product: "tributary" as const, occasion, ...single, at, streams, errors, suppressed: 0 };
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES).map(cut), ...(more > 0 ? [`… and ${more} more.`] : [])];
}

const cut = (text: string): string => (text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE - 1)}…`);

/** Slack's three characters that would be read as markup. */
const slackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
