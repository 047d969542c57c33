import { createTransport } from "nodemailer";
import { type Clock, withTimeLimit } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../logging.ts";
import { requireOwnFile, writePage } from "../../outputs/report/file.ts";
import { messageFor } from "../../sync/run/report.ts";
import type { Daemon } from "../schedule/events.ts";
import { postTo, requireTaken, trying } from "./delivery.ts";
import { notifyMessages } from "./messages.ts";

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

/** Makes the reports that follow a schedule's run that brought everything, and sends each where it goes. What fails is logged, and keeps nothing else. */
export async function deliverReports(config: Config, schedule: string, tools: ReportTools): Promise<void> {
  const { make, log, redact } = tools;
  if (!config.schedules.some(({ name }) => name === schedule)) return;
  for (const [index, report] of config.reports.entries()) {
    if (report.after.length > 0 && !report.after.includes(schedule)) continue;
    const place = `reports[${index}]`;
    try {
      const made = await make(report, config);
      const { out, mail, post } = report;
      if (out !== undefined) await delivered(`${place} (${out})`, tools, () => written(out, made));
      if (mail !== undefined) await delivered(`${place} (mail)`, tools, limit => mailed(mail, made, limit));
      if (post !== undefined)
        await delivered(`${place} (${URL.parse(post)?.host ?? "post"})`, tools, limit => posted(post, made, limit));
    } catch (error) {
      log.warn(notifyMessages.report_not_made({ report: place, reason: redact(messageFor(error).message) }), {
        report: place,
      });
    }
  }
}

async function delivered(
  place: string,
  tools: ReportTools,
  send: (limit: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const { log, redact } = tools;
  const to = redact(place);
  const end = await trying({ ...tools, ms: SEND_MS }, send);
  if (end === undefined) return log.info(notifyMessages.report_delivered({ to }), { report: place });
  const { failure, tries } = end;
  const reason = redact(failure instanceof Error ? failure.message : String(failure));
  log.warn(notifyMessages.report_not_delivered({ to, reason, tries }), { report: place });
}

const written = async (out: string, { page }: MadeReport) => writePage(await requireOwnFile(out), page);

async function mailed(
  { smtp, from, to, subject }: NonNullable<ReportConfig["mail"]>,
  made: MadeReport,
  limit: AbortSignal,
): Promise<void> {
  const limits = { connectionTimeout: SEND_MS / 2, greetingTimeout: SEND_MS / 2, socketTimeout: SEND_MS / 2 };
  const transport = createTransport({ url: smtp, ...limits, disableFileAccess: true, disableUrlAccess: true });
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

/** Reports for as long as a daemon lives. Answers how they end. */
export function attachReports(
  daemon: Pick<Daemon, "listen">,
  settings: () => Config,
  isLeading: () => Promise<boolean>,
  tools: Omit<ReportTools, "signal">,
): () => Promise<void> {
  const ending = new AbortController();
  let last = Promise.resolve();
  const unlisten = daemon.listen(event => {
    if (event.kind !== "finished" || event.outcome.exit_code !== 0) return;
    const { schedule } = event.run;
    last = last.then(async () => {
      if (settings().reports.length > 0 && (await isLeading()))
        await deliverReports(settings(), schedule, { ...tools, signal: ending.signal });
    });
  });
  return async () => {
    unlisten();
    await withTimeLimit(tools.clock, FAREWELL_MS, last, undefined);
    ending.abort();
    await last;
  };
}
