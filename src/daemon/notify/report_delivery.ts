import { type Clock, withTimeLimit } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { requireOwnFile, writePage } from "../../outputs/report/file.ts";
import { mailTransport } from "../../outputs/report/mail.ts";
import { messageFor, type RunReport } from "../../sync/run/report.ts";
import type { Daemon } from "../schedule/events.ts";
import { type EndedRun, endedRuns } from "../schedule/past_runs.ts";
import { postTo, requireTaken, trying } from "./delivery.ts";
import { notifyMessages } from "./messages.ts";
import type { EndedReport } from "./notification.ts";

type ReportConfig = Config["reports"][number];

/** A report as people get it: the page, and its first screen in plain words. */
export interface MadeReport {
  readonly title: string;
  readonly page: string;
  readonly words: string;
}

export interface ReportTools {
  readonly make: (report: ReportConfig, config: Config) => Promise<MadeReport>;
  readonly clock: Clock;
  readonly log: Log;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

const SEND_MS = 60_000;
/** How long the end waits for deliveries. */
const FAREWELL_MS = 700;

/** A schedule's run that brought everything. */
export interface WholeRun {
  readonly schedule: string;
  readonly outcome: RunReport;
}

/**
 * Makes the reports that follow a run, and sends each where it goes; `owed`: those whose last mail failed. A failure is logged and
 * does not stop the others. Answers how each ended.
 */
export async function deliverReports(
  config: Config,
  run: WholeRun,
  tools: ReportTools,
  owed: Set<string> = new Set(),
): Promise<readonly EndedReport[]> {
  const { make, log, redact } = tools;
  const { schedule } = run;
  const ended: EndedReport[] = [];
  if (!config.schedules.some(({ name }) => name === schedule)) return ended;
  for (const [index, report] of config.reports.entries()) {
    if (report.after.length > 0 && !report.after.includes(schedule)) continue;
    const place = `reports[${index}]`;
    const own = JSON.stringify(report);
    const failures: Message[] = [];
    const deliver = async (to: string, send: (limit: AbortSignal) => Promise<unknown>) => {
      const failure = await delivered(`${place} (${to})`, tools, send);
      if (failure !== undefined) failures.push(failure);
    };
    try {
      const { out, post } = report;
      const wasOwed = owed.has(own);
      owed.add(own);
      const mail = wasOwed || (await isMailDue(report, config, run)) ? report.mail : undefined;
      if (mail === undefined) owed.delete(own);
      if ((out ?? mail ?? post) === undefined) continue;
      const made = await make(report, config);
      if (out !== undefined) await deliver(out, () => written(out, made));
      if (mail !== undefined)
        await deliver("mail", async limit => {
          await mailed(mail, made, limit);
          owed.delete(own);
        });
      if (post !== undefined) await deliver(URL.parse(post)?.host ?? "post", limit => posted(post, made, limit));
    } catch (error) {
      failures.push(notifyMessages.report_not_made({ report: place, reason: redact(messageFor(error).message) }));
      log.warn(failures[0]!, { report: place });
    }
    ended.push({ place, schedule, failures });
  }
  return ended;
}

const DAY_MS = 86_400_000;

/** Whether a mail follows the run: each run, or the first one of its day or week that brought changes. */
async function isMailDue({ mail, after, company }: ReportConfig, config: Config, run: WholeRun): Promise<boolean> {
  if (mail === undefined || mail.when === "always") return mail !== undefined;
  const { finished_at, streams } = run.outcome;
  const at = new Date(finished_at);
  const isChanging = streams
    .filter(stream => company === undefined || stream.company === company)
    .some(({ inserted, updated, deleted }) => inserted + updated + deleted > 0);
  const { timezone } = config.schedules.find(({ name }) => name === run.schedule)!;
  const schedules = after.length > 0 ? after : config.schedules.map(({ name }) => name);
  // A week, and the hour by which a day may be longer.
  const since = new Date(at.getTime() - 8 * DAY_MS);
  const before = await endedRuns(config.destination, { schedules, company }, [since, at]);
  return isFirstWithChanges([...before, { at, isWhole: true, isChanging }], mail.every ?? "day", timezone);
}

/** Whether the last of these runs is the first of its day or week that brought changes: its own, or those of runs before it that failed. */
export function isFirstWithChanges(runs: readonly EndedRun[], every: "day" | "week", timeZone: string): boolean {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  const beginOf = (moment: Date): number => {
    const day = new Date(format.format(moment));
    // Weekdays count from Sunday.
    return day.getTime() - (every === "week" ? ((day.getUTCDay() + 6) % 7) * DAY_MS : 0);
  };
  let isChanged = false;
  const begins = runs.map(({ at, isWhole, isChanging }) => {
    isChanged ||= isChanging;
    const begin = isWhole && isChanged ? beginOf(at) : undefined;
    if (isWhole) isChanged = false;
    return begin;
  });
  const last = begins.pop();
  return last !== undefined && !begins.includes(last);
}

async function delivered(
  place: string,
  tools: ReportTools,
  send: (limit: AbortSignal) => Promise<unknown>,
): Promise<Message | undefined> {
  const { log, redact } = tools;
  const to = redact(place);
  const end = await trying({ ...tools, ms: SEND_MS }, send);
  if (end === undefined) {
    log.info(notifyMessages.report_delivered({ to }), { report: place });
    return undefined;
  }
  const { failure, tries } = end;
  const reason = redact(failure instanceof Error ? failure.message : String(failure));
  const message = notifyMessages.report_not_delivered({ to, reason, tries });
  log.warn(message, { report: place });
  return message;
}

const written = async (out: string, { page }: MadeReport) => writePage(await requireOwnFile(out), page);

async function mailed(
  { smtp, from, to, subject }: NonNullable<ReportConfig["mail"]>,
  made: MadeReport,
  limit: AbortSignal,
): Promise<void> {
  const transport = mailTransport(smtp, SEND_MS / 2);
  const over = Promise.withResolvers<never>();
  limit.addEventListener("abort", () => over.reject(limit.reason), { once: true });
  try {
    const sent = transport.sendMail({
      ...{ from, to: [...to], subject: subject ?? made.title, text: made.words },
      attachments: [{ filename: "report.html", content: made.page, contentType: "text/html; charset=utf-8" }],
    });
    await Promise.race([sent, over.promise]);
  } finally {
    transport.close();
  }
}

async function posted(address: string, { page }: MadeReport, limit: AbortSignal): Promise<void> {
  requireTaken(await postTo(address, page, limit, "text/html; charset=utf-8"));
}

/** Reports for as long as a daemon lives; `observe` hears how each ended. Answers how they end. */
export function attachReports(
  daemon: Pick<Daemon, "listen">,
  settings: () => Config,
  isLeading: () => Promise<boolean>,
  { observe, ...tools }: Omit<ReportTools, "signal"> & { readonly observe?: (ended: EndedReport) => void },
): () => Promise<void> {
  const ending = new AbortController();
  const owed = new Set<string>();
  let last = Promise.resolve();
  const unlisten = daemon.listen(event => {
    if (event.kind !== "finished" || event.outcome.exit_code !== 0 || "error" in event.outcome) return;
    const run = { schedule: event.run.schedule, outcome: event.outcome };
    last = last.then(async () => {
      if (settings().reports.length === 0 || !(await isLeading())) return;
      const ended = await deliverReports(settings(), run, { ...tools, signal: ending.signal }, owed);
      // A daemon that ends breaks deliveries off itself.
      if (!ending.signal.aborted) for (const each of ended) observe?.(each);
    });
  });
  return async () => {
    unlisten();
    await withTimeLimit(tools.clock, FAREWELL_MS, last, undefined);
    ending.abort();
    await last;
  };
}
