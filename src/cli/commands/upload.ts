import { relative, resolve } from "node:path";
import { Argument } from "commander";
import { counted, formatCount } from "../../counted.ts";
import { ConfigError, type ExitCode } from "../../errors.ts";
import type { UploadReport } from "../../library/upload.ts";
import { type Message, textsOf } from "../../message.ts";
import type { Inputs } from "../../operations/upload/inputs.ts";
import { type Given, uploadOptions } from "../../options/options.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import { askConsent } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, textOption } from "../invocation/options.ts";
import { type Outcome, runOnTerminal } from "../invocation/run_tools.ts";
import type { Look } from "../terminal/look.ts";
import { cutText, rowTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

const { company: _, wait, ...sending } = uploadOptions;

const own = {
  wait,
  watch: textOption(
    "send what is put there, until it is stopped; files move to sending/ in it, then to done/ or failed/",
    "<folder>",
  ),
  ...sending,
};

type UploadedFile = UploadReport["uploads"][number];

type UploadOptions = Omit<CommonOptions, "waitMs"> &
  Omit<Given<typeof own>, "waitMs"> & { readonly waitMs?: number | true | undefined };

const WAIT_MS = 600_000;
/** Columns of a row that are shown off --json. */
const SHOWN = 8;
/** More files than these are sent only after a confirmation: a pattern may have matched more than was meant. */
const UNASKED = 20;

export const register = defined({
  arguments: [new Argument("[file...]", "invoices, orders, quotes …")],
  description:
    "Upload documents to the service, each content once. An interrupted upload is resumed. When the service may have created a document but its answer was lost, the file is reported as unknown and not sent again. More than 20 files, and a folder, need a confirmation or --yes.",
  options: [own, "company", "config", "json", "dry_run", "log", "progress", "yes"],
  examples: [
    "tributary upload invoice.pdf order.xlsx",
    "tributary upload invoices/*.pdf --dry-run",
    "tributary upload invoices/*.pdf --yes --wait 10m --json | jq '.rows'",
    "tributary upload --watch ./inbox --yes",
  ],
  run: upload,
});

async function upload(named: readonly string[], options: UploadOptions, context: CliContext): Promise<void> {
  const { watch, company, contentType, again } = options;
  const waitMs = options.waitMs === true ? WAIT_MS : options.waitMs;
  if ((watch === undefined) === (named.length === 0)) throw new ConfigError(commandMessages.upload_files_or_watch());
  if (watch !== undefined && waitMs !== undefined) throw new ConfigError(commandMessages.upload_watch_with_wait());
  const loaded = await context.openConfig(options, options.dryRun ? { local: true } : undefined);
  const { OpenWarehouse } = await import("../../library/warehouse.ts");
  const { uploadEach, uploadInputs, uploadingCompany } = await import("../../library/upload.ts");
  await runOnTerminal(context, options, loaded.warnings, async tools => {
    const warehouse = new OpenWarehouse(loaded, tools);
    const whose = await uploadingCompany(warehouse, company);
    const inputs = await uploadInputs(warehouse, contentType);
    const folder = watch === undefined ? undefined : resolve(context.cwd, watch);
    const files = await filesOf(folder, named, inputs, context);
    if (options.dryRun) return planned(files, inputs, context);
    if (!options.yes && (folder !== undefined || new Set(files).size > UNASKED))
      await requireConsent(folder, files.length, whose, context);
    const send = (all: readonly string[], through?: (sent: UploadedFile) => Promise<void>) =>
      uploadEach(warehouse, all, { company, contentType, again, waitMs, signal: tools.signal }, through);
    if (folder !== undefined) return watching({ ...inputs, folder, waiting: files.length }, send, tools);
    const report = await send(files);
    return { document: report, text: look => inWords(report, context.cwd, look) };
  });
}

/** The files of a folder, or those that were named, once each of them can be sent. @throws ConfigError */
async function filesOf(
  folder: string | undefined,
  named: readonly string[],
  inputs: Inputs,
  { cwd }: CliContext,
): Promise<readonly string[]> {
  if (folder !== undefined) {
    const { filesWaiting } = await import("../../operations/upload/watch.ts");
    return filesWaiting(folder, inputs.guarded);
  }
  const { requireSendable } = await import("../../operations/upload/inputs.ts");
  const files = named.map(file => resolve(cwd, file));
  await requireSendable(files, inputs);
  return files;
}

async function planned(files: readonly string[], inputs: Inputs, { cwd }: CliContext): Promise<Outcome> {
  const { plannedUploads } = await import("../../operations/upload/inputs.ts");
  const plan = await plannedUploads(files, inputs);
  const text = (look: Look) => {
    const table = rowTable(
      plan,
      [
        ["file", each => relative(cwd, each.file)],
        ["media type", each => each.content_type],
        ["bytes", each => each.bytes, "right"],
      ],
      look,
    );
    const faults = plan.flatMap(({ error }) => error ?? []);
    return [table, ...faults, "Nothing was sent: --dry-run. A content that was sent before is not sent again."].join(
      "\n\n",
    );
  };
  const document = { dry_run: true, files: plan };
  return { document, text };
}

function requireConsent(
  folder: string | undefined,
  files: number,
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
  context: CliContext,
): Promise<void> {
  const to = `to ${baseUrl} for company ${name}`;
  const question =
    folder === undefined
      ? `Send ${counted(files, "file")} ${to}?`
      : `Send ${counted(files, "file")} of ${folder}, and all that is put there later, ${to}?`;
  return askConsent(context, question, {
    offTerminal: commandMessages.upload_off_terminal({ what: folder ?? counted(files, "file") }),
    refused: commandMessages.upload_refused(),
  });
}

function inWords({ uploads, warnings, rows }: UploadReport, cwd: string, look: Look): string {
  const table = rowTable(
    uploads,
    [
      ["", upload => upload.outcome],
      ["document", upload => upload.doc_id],
      ["file", upload => relative(cwd, upload.file)],
    ],
    look,
    // A document's id is of no use unless it is whole.
    { pinned: 2 },
  );
  const tables = Object.entries(rows).map(
    ([name, all]) => `${name}\n${all.length === 0 ? "no rows" : shown(all, look)}`,
  );
  return [table, ...uploads.flatMap(({ error }) => error ?? []), ...textsOf(warnings), ...tables].join("\n\n");
}

/** The columns that say something, the first of them. */
function shown(rows: readonly Readonly<Record<string, unknown>>[], look: Look): string {
  const isSaid = (column: string) => !column.startsWith("_") && rows.some(row => row[column] !== null);
  const columns = Object.keys(rows[0]!).filter(isSaid).slice(0, SHOWN);
  const cell = (value: unknown) => (typeof value === "string" ? value : value === null ? "" : JSON.stringify(value));
  return rowTable(
    rows,
    columns.map(column => [column, row => cutText(cell(row[column]), 40)]),
    look,
  );
}

async function watching(
  { waiting, ...place }: Inputs & { readonly folder: string; readonly waiting: number },
  send: (files: readonly string[], through: (sent: UploadedFile) => Promise<void>) => Promise<UploadReport>,
  tools: RunTools,
): Promise<Outcome> {
  const { filesWaiting, watchFolder } = await import("../../operations/upload/watch.ts");
  const { folder, guarded } = place;
  const counts = { done: 0, present: 0, failed: 0 };
  const watched = {
    ...place,
    send: async (...given: Parameters<typeof send>) => {
      for (const warning of (await send(...given)).warnings) tools.log.warn(warning);
    },
    moved: (to: string, fault: Message | undefined, sent: UploadedFile | undefined) => {
      counts[sent === undefined || sent.doc_id === null ? "failed" : "done"]++;
      if (sent?.outcome === "present") counts.present++;
      if (fault === undefined) tools.log.info(commandMessages.upload_moved(), { to });
      else tools.log.warn(fault, { to });
    },
  };
  tools.log.info(commandMessages.upload_watching({ folder, files: waiting }));
  await watchFolder(watched, tools);
  const left = (await filesWaiting(folder, guarded).catch(() => [])).length;
  const { done, present, failed } = counts;
  const further = Object.entries({ "sent before": present, "moved to failed/": failed, "left in the folder": left });
  const parts = [
    `${counted(done - present, "file")} sent`,
    ...further.flatMap(([what, count]) => (count === 0 ? [] : `${formatCount(count)} ${what}`)),
  ];
  const exit_code: ExitCode = failed === 0 ? 0 : 1;
  const document = { exit_code, ...counts, left };
  return { document, text: () => `${parts.join(", ")}.` };
}
