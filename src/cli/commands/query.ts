import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { Argument } from "commander";
import { z } from "zod";
import { counted } from "../../counted.ts";
import { ConfigError, nothingLoaded, StoppedError, TributaryError } from "../../errors.ts";
import { codeOf, makeFolder } from "../../files.ts";
import { whole } from "../../options/fields.ts";
import { type Given, option } from "../../options/options.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, defined, localPath } from "../invocation/options.ts";
import { cutText, formatTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

/** Default row limit of a table. */
const SHOWN = 100;
/** Terminal cells of a value in a table. */
const CELL = 60;
/** Lines of the prompt's history. */
const REMEMBERED = 500;
const own = {
  format: option(
    z.enum(["table", "csv", "json", "parquet"]),
    "table on a terminal, else csv; json: an object a line",
    "<format>",
  ),
  out: option(localPath(), "where parquet is written", "<file>"),
  limit: option(whole(0), `so many rows at most (default: of a table ${SHOWN}, else all; 0: all)`, "<n>"),
};

type QueryOptions = CommonOptions & Given<typeof own>;

const RESOURCES = { memoryLimitMb: 1_024, threads: 2 } as const;

export const register = defined({
  arguments: [new Argument("[sql]", "one query; without it a prompt on a terminal, else what comes on stdin")],
  description:
    "Ask the warehouse in SQL. Names without a schema are tables, else models and views, else state tables. It reads the published file or a read-only session, takes no lock and changes nothing.",
  options: [own, "config"],
  examples: [
    "tributary query 'select vendor_name, sum(spend_amount) from spend_by_vendor_month group by 1 order by 2 desc'",
    "tributary query 'select * from invoices' > invoices.csv",
    "tributary query 'select * from findings where _deleted_at is null' --format json | jq .title",
    "tributary query 'select * from invoices' --format parquet --out invoices.parquet",
    "tributary query < question.sql",
  ],
  run: query,
});

async function query(sql: string | undefined, options: QueryOptions, context: CliContext): Promise<void> {
  const { stdin, stdout } = context;
  const { config } = await context.openConfig(options, { local: true });
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { useSchemas } = await import("../../operations/query.ts");
  const asked = sql ?? (stdin.isTTY ? undefined : await textOf(stdin));
  if (asked?.trim() === "") throw new ConfigError(commandMessages.query_empty());
  if ((options.format === "parquet") !== (options.out !== undefined))
    throw new ConfigError(commandMessages.query_parquet_or_out());
  if (options.out !== undefined && asked === undefined)
    throw new ConfigError(commandMessages.query_out_without_query());
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to ask");
  const { format = stdout.isTTY ? "table" : "csv", out } = options;
  const limit = options.limit ?? (format === "table" ? SHOWN : 0);
  await useSchemas(reading);
  const answer: Answer = (text, signal) => answerTo(reading, { text, format, limit, out }, signal, context);
  if (asked !== undefined) await once(asked, answer, context);
  else await prompting(answer, context);
}

type Answer = (text: string, signal: AbortSignal) => Promise<void>;

async function once(text: string, answer: Answer, context: CliContext): Promise<void> {
  using stop = interruption(context, ({ message }) => void context.stderr.write(`${message}\n`), {
    stopping: commandMessages.query_stopping(),
    stopped: commandMessages.query_stopped,
  });
  await answer(text, stop.signal);
}

interface Asked extends Pick<QueryOptions, "out"> {
  readonly text: string;
  readonly format: NonNullable<QueryOptions["format"]>;
  /** 0: all rows. */
  readonly limit: number;
}

async function answerTo(
  reading: WarehouseReading,
  { text, format, limit, out }: Asked,
  signal: AbortSignal,
  context: CliContext,
): Promise<void> {
  const { takeAnswer, writeAnswer } = await import("../../operations/query.ts");
  const pieces: Buffer[] = [];
  const keep = async (piece: Buffer) => void pieces.push(Buffer.from(piece));
  const isTable = format === "table";
  // One more than is shown says whether there are more.
  const most = limit === 0 ? undefined : limit + (isTable ? 1 : 0);
  if (out !== undefined) {
    const file = resolve(context.cwd, out);
    const rows = await writeAnswer(reading, { text, most }, file, signal);
    return context.print(`${counted(rows, "row")} in ${file}`);
  }
  const question = { text, most, format: format === "json" ? "json" : "csv" } as const;
  try {
    await takeAnswer(reading, question, signal, isTable ? keep : piece => writePiece(context, piece));
    if (isTable) context.printWhole(await tableOf(Buffer.concat(pieces), limit));
  } catch (error) {
    // A reader such as `head` has what it wanted.
    if (codeOf(error) !== "EPIPE") throw error;
  }
}

async function tableOf(csv: Buffer, limit: number): Promise<string> {
  const { readCsv } = await import("../../rows/csv_reading.ts");
  const [titles = [], ...all] = [...readCsv(csv)];
  const rows = limit === 0 ? all : all.slice(0, limit);
  const isNumber = (at: number) => rows.every(row => row[at] === null || /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(row[at]!));
  const columns = titles.map((title, at) => ({
    title: title ?? "",
    align: isNumber(at) ? ("right" as const) : ("left" as const),
  }));
  const cells = rows.map(row => row.map(value => cutText(value ?? "", CELL)));
  const count =
    all.length > rows.length ? `the first ${rows.length} rows; --limit 0 shows all` : counted(rows.length, "row");
  return `${formatTable(columns, cells)}\n(${count})`;
}

/** Asks for one query after the other, each up to its semicolon, until the end of the input or `\q`. */
async function prompting(answer: Answer, context: CliContext): Promise<void> {
  const { createInterface } = await import("node:readline/promises");
  const { stdin: input, stdout: output, stderr, env } = context;
  const file = join(env["XDG_STATE_HOME"] ?? join(homedir(), ".local/state"), "tributary", "query_history");
  const history = (await readFile(file, "utf8").catch(() => "")).split("\n").filter(line => line !== "");
  const lines = createInterface({ input, output, history, historySize: REMEMBERED, removeHistoryDuplicates: true });
  let kept: readonly string[] = history;
  lines.on("history", all => {
    kept = all;
  });
  let text = "";
  let running: AbortController | undefined;
  // On a terminal readline hears Ctrl-C, and the process no signal.
  lines.on("SIGINT", () => {
    if (running !== undefined) return running.abort(new StoppedError(commandMessages.query_cancelled(), 130));
    text = "";
    output.write("\n");
    ask();
  });
  const ask = () => {
    lines.setPrompt(text === "" ? "tributary> " : "       ...> ");
    lines.prompt();
  };
  try {
    ask();
    for await (const line of lines) {
      if (text === "" && ["\\q", "exit", "quit"].includes(line.trim())) break;
      text = `${text}${text === "" ? "" : "\n"}${line}`;
      if (/;\s*$/.test(text)) {
        running = new AbortController();
        await answer(text, running.signal).catch(error => {
          if (!(error instanceof TributaryError)) throw error;
          stderr.write(`${context.redact(error.message)}\n`);
        });
        running = undefined;
        text = "";
      } else if (text.trim() === "") text = "";
      ask();
    }
  } finally {
    lines.close();
    // What cannot be remembered is no failure of a query.
    await makeFolder(dirname(file), 0o700)
      .then(() => writeFile(file, `${kept.join("\n")}\n`, { mode: 0o600 }))
      .catch(() => undefined);
  }
}
