import { dirname } from "node:path";
import type { Config } from "../../config/config.ts";
import { ConfigError, TributaryError } from "../../errors.ts";
import { requireOwnFile } from "../../outputs/report/file.ts";
import { mailTransport } from "../../outputs/report/mail.ts";
import { type CheckLine, failure, ok } from "./line.ts";
import { checkMessages } from "./messages.ts";
import { lockedOut } from "./surroundings.ts";

const PATIENCE_MS = 10_000;

/** Whether the reports of `schedule` can get where they go: files, and mail servers unless `offline`. Nothing is written or mailed. */
export async function* checkReports({ reports }: Config, offline: boolean): AsyncGenerator<CheckLine> {
  for (const [index, { out, mail }] of reports.entries()) {
    const name = `reports[${index}]`;
    if (out !== undefined) yield await fileLine(name, out);
    if (mail !== undefined) yield offline ? ok(name, checkMessages.offline()) : await mailLine(name, mail.smtp);
  }
}

async function fileLine(name: string, path: string): Promise<CheckLine> {
  try {
    const file = await requireOwnFile(path);
    const reason = await lockedOut(dirname(file));
    return reason === undefined
      ? ok(name, checkMessages.report_file({ path }))
      : failure(name, new ConfigError(checkMessages.report_not_writable({ path, reason })));
  } catch (error) {
    return failure(name, error);
  }
}

async function mailLine(name: string, smtp: string): Promise<CheckLine> {
  const { host } = new URL(smtp);
  const transport = mailTransport(smtp, PATIENCE_MS);
  try {
    await transport.verify();
    return ok(name, checkMessages.mail_server({ host }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failure(name, new TributaryError(checkMessages.mail_server_unusable({ host, reason }), 1, error));
  } finally {
    transport.close();
  }
}
