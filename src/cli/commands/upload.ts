import { resolve } from "node:path";
import type { Command } from "commander";
import { timespan } from "../../duration.ts";
import { ConfigError, type ExitCode } from "../../errors.ts";
import type { Followed } from "../../operations/upload/follow.ts";
import type { UploadEvent, UploadedFile, UploadOrder } from "../../operations/upload/upload.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, duration } from "../invocation/options.ts";
import { runDefaults } from "../invocation/run_defaults.ts";
import type { Outcome } from "../invocation/run_tools.ts";
import { cutText, rowTable } from "../terminal/table.ts";

interface UploadOptions extends Omit<CommonOptions, "wait"> {
  /** Milliseconds; true: as long as usual. */
  readonly wait?: number | true;
  readonly watch?: string;
  readonly again?: true;
  readonly contentType?: string;
}

const WAIT_MS = 600_000;
/** Columns of a row that are shown off --json. */
const SHOWN = 8;

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("upload")
    .argument("[file...]", "invoices, orders, quotes …")
    .description(
      "Send files to the service, each content once: what was begun goes on, and what may have become a document without the answer coming through is told as unknown and not sent again.",
    )
    .option("--wait [duration]", "until they are processed (10m), then load and show what they became", duration)
    .option("--watch <folder>", "send what is put there, and move it to done/ or failed/ in it, until it is stopped")
    .option("--again", "send a content once more that was sent before")
    .option("--content-type <type>", "media type of the files (default: by the ending of each name)");
  attachOptions(
    command,
    ["company", "config", "json", "logLevel", "noProgress"],
    "tributary upload invoice.pdf order.xlsx",
    "tributary upload invoices/*.pdf --wait 10m --json | jq '.rows'",
    "tributary upload --watch ./inbox",
  ).action((files: string[], options: UploadOptions) => upload(files, options, context));
}

async function upload(files: readonly string[], options: UploadOptions, context: CliContext): Promise<void> {
  const { watch, wait } = options;
  if ((watch === undefined) === (files.length === 0))
    throw new ConfigError("upload: expected files, or --watch with a folder, got none of them or both.");
  if (watch !== undefined && wait !== undefined)
    throw new ConfigError(
      "--watch waits for no document: leave --wait out, and let a sync or the daemon's hook load them.",
    );
  const { config, warnings } = await context.openConfig(options);
  const { companiesOf } = await import("../../sync/run/run.ts");
  const companies = companiesOf(config, options.company);
  if (companies.length > 1)
    throw new ConfigError(`--company: expected one of ${companies.map(({ name }) => name).join(", ")}, got none.`);
  const { runOnTerminal } = await import("../invocation/run_tools.ts");
  const { uploads: flow } = await import("../../../streams/uploads.ts");
  await runOnTerminal(context, options, warnings, async tools => {
    const order: UploadOrder = {
      ...(await runDefaults()),
      ...{ config, flow, company: companies[0]!, contentType: options.contentType, again: options.again ?? false },
      files: files.map(file => resolve(context.cwd, file)),
      lockWaitMs: wait === true ? WAIT_MS : (wait ?? 0),
    };
    return watch === undefined ? uploadAll(order, tools, wait) : watching(resolve(context.cwd, watch), order, tools);
  });
}

const telling = ({ log }: RunTools) => ({
  tell: ({ file, step }: UploadEvent) => (step === "done" ? log.info({ file }, "uploaded") : log.debug({ file }, step)),
});

async function uploadAll(order: UploadOrder, tools: RunTools, wait: UploadOptions["wait"]): Promise<Outcome> {
  const { uploadFiles } = await import("../../operations/upload/upload.ts");
  const { exitCodeOfAll } = await import("../../sync/run/report.ts");
  const files = await uploadFiles(order, { ...tools, ...telling(tools) });
  const documents = [...new Set(files.flatMap(({ doc_id }) => doc_id ?? []))];
  const waitMs = wait === true ? WAIT_MS : wait;
  const { followUploads } = await import("../../operations/upload/follow.ts");
  const followed =
    waitMs === undefined || documents.length === 0
      ? undefined
      : await followUploads(order, tools, documents, { since: oldest(files), waitMs });
  const codes = [...files.map(({ exit_code }) => exit_code), followed?.sync?.exit_code ?? 0];
  const exitCode = exitCodeOfAll(followed !== undefined && followed.pending.size > 0 ? [...codes, 5] : codes);
  const document = {
    exit_code: exitCode,
    uploads: files.map(file => ({ ...file, ...standingOf(file, followed) })),
    run_id: followed?.sync?.run_id ?? null,
    warnings: followed?.unread === undefined ? [] : [followed.unread],
    rows: followed?.rows ?? {},
  };
  return { document, text: () => inWords(files, followed, waitMs) };
}

const oldest = (files: readonly UploadedFile[]): string => files.flatMap(({ sent_at }) => sent_at ?? []).toSorted()[0]!;

function standingOf({ doc_id }: UploadedFile, followed: Followed | undefined) {
  const isFollowed = followed !== undefined && doc_id !== null;
  return {
    processed: isFollowed ? !followed.pending.has(doc_id) : null,
    status: isFollowed ? (followed.pending.get(doc_id) ?? null) : null,
  };
}

function inWords(files: readonly UploadedFile[], followed: Followed | undefined, waitMs: number | undefined): string {
  const table = rowTable(files, [
    ["file", file => file.file],
    ["", file => file.outcome],
    ["document", file => file.doc_id ?? file.found.map(id => `${id}?`).join(" ")],
  ]);
  const errors = files.flatMap(({ error }) => error ?? []);
  const { pending = new Map<string, string | null>(), unread, rows = {} } = followed ?? {};
  const late = [...pending].map(([id, status]) => `${id}${status === null ? "" : ` (${status})`}`).join(", ");
  const advice = `Not processed within ${timespan(waitMs ?? 0)}, as far as is said: ${late}. Call it again with --wait to go on waiting.`;
  const told = pending.size === 0 ? [] : [unread ?? advice];
  const tables = Object.entries(rows).map(([name, all]) => `${name}\n${all.length === 0 ? "no rows" : shown(all)}`);
  return [table, ...errors, ...told, ...tables].join("\n\n");
}

/** The columns that say something, the first of them. */
function shown(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const isSaid = (column: string) => !column.startsWith("_") && rows.some(row => row[column] !== null);
  const columns = Object.keys(rows[0] ?? {})
    .filter(isSaid)
    .slice(0, SHOWN);
  const cell = (value: unknown) => (typeof value === "string" || value === null ? value : JSON.stringify(value));
  return rowTable(
    rows,
    columns.map(column => [column, row => cutText(cell(row[column]) ?? "", 40)]),
  );
}

async function watching(folder: string, order: UploadOrder, tools: RunTools): Promise<Outcome> {
  const { uploadFiles } = await import("../../operations/upload/upload.ts");
  const { watchFolder } = await import("../../operations/upload/watch.ts");
  const { log } = tools;
  let exitCode: ExitCode = 0;
  const counts = { sent: 0, failed: 0 };
  const watched = {
    ...{ folder, contentType: order.contentType },
    send: (files: readonly string[]) => uploadFiles({ ...order, files }, { ...tools, ...telling(tools) }),
    moved: (file: UploadedFile | string, to: string) => {
      const fault = typeof file === "string" ? file : file.error;
      counts[fault === null ? "sent" : "failed"]++;
      if (fault === null) return log.info({ to }, "sent and moved");
      exitCode = 1;
      log.warn({ to }, fault);
    },
  };
  await watchFolder(watched, tools);
  return {
    document: { exit_code: exitCode, ...counts },
    text: () => `${counts.sent} files sent, ${counts.failed} not.`,
  };
}
