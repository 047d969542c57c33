import { resolve } from "node:path";
import { Argument } from "commander";
import { ConfigError, type ExitCode } from "../../errors.ts";
import type { UploadReport } from "../../library/upload.ts";
import { type Message, textsOf } from "../../message.ts";
import { type Given, uploadOptions } from "../../options/options.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, textOption } from "../invocation/options.ts";
import { type Outcome, runOnTerminal } from "../invocation/run_tools.ts";
import type { Look } from "../terminal/look.ts";
import { cutText, rowTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

const { company: _, wait, ...sending } = uploadOptions;

const own = {
  wait,
  watch: textOption("send what is put there, and move it to done/ or failed/ in it, until it is stopped", "<folder>"),
  ...sending,
};

type UploadOptions = Omit<CommonOptions, "waitMs"> &
  Omit<Given<typeof own>, "waitMs"> & { readonly waitMs?: number | true | undefined };

const WAIT_MS = 600_000;
/** Columns of a row that are shown off --json. */
const SHOWN = 8;

export const register = defined({
  arguments: [new Argument("[file...]", "invoices, orders, quotes …")],
  description:
    "Upload files to the service, each content once. An interrupted upload is resumed. When the service may have created a document but its answer was lost, the file is reported as unknown and not sent again.",
  options: [own, "company", "config", "json", "log", "progress"],
  examples: [
    "tributary upload invoice.pdf order.xlsx",
    "tributary upload invoices/*.pdf --wait 10m --json | jq '.rows'",
    "tributary upload --watch ./inbox",
  ],
  run: upload,
});

async function upload(files: readonly string[], options: UploadOptions, context: CliContext): Promise<void> {
  const { watch } = options;
  const waitMs = options.waitMs === true ? WAIT_MS : options.waitMs;
  if ((watch === undefined) === (files.length === 0)) throw new ConfigError(commandMessages.upload_files_or_watch());
  if (watch !== undefined && waitMs !== undefined) throw new ConfigError(commandMessages.upload_watch_with_wait());
  const loaded = await context.openConfig(options);
  const { OpenWarehouse } = await import("../../library/warehouse.ts");
  const { upload: send } = await import("../../library/upload.ts");
  await runOnTerminal(context, options, loaded.warnings, async tools => {
    const warehouse = new OpenWarehouse(loaded, tools);
    const { company, contentType, again } = options;
    const sendAll = (all: readonly string[]) =>
      send(warehouse, all, { company, contentType, again, waitMs, signal: tools.signal });
    if (watch !== undefined) return watching(resolve(context.cwd, watch), contentType, sendAll, tools);
    const report = await sendAll(files.map(file => resolve(context.cwd, file)));
    return { document: report, text: look => inWords(report, look) };
  });
}

function inWords({ uploads, warnings, rows }: UploadReport, look: Look): string {
  const table = rowTable(
    uploads,
    [
      ["file", upload => upload.file],
      ["", upload => upload.outcome],
      ["document", upload => upload.doc_id ?? upload.found.map(id => `${id}?`).join(" ")],
    ],
    look,
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
  folder: string,
  contentType: string | undefined,
  send: (files: readonly string[]) => Promise<UploadReport>,
  tools: RunTools,
): Promise<Outcome> {
  const { watchFolder } = await import("../../operations/upload/watch.ts");
  const counts = { done: 0, failed: 0 };
  const watched = {
    ...{ folder, contentType },
    send: async (files: readonly string[]) => (await send(files)).uploads,
    moved: (to: string, fault: Message | undefined) => {
      counts[fault === undefined ? "done" : "failed"]++;
      if (fault === undefined) tools.log.info(commandMessages.upload_moved(), { to });
      else tools.log.warn(fault, { to });
    },
  };
  await watchFolder(watched, tools);
  const exit_code: ExitCode = counts.failed === 0 ? 0 : 1;
  return { document: { exit_code, ...counts }, text: () => `${counts.done} files sent, ${counts.failed} not.` };
}
