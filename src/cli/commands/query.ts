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
import { flag, type Given, option } from "../../options/options.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { type CliContext, writePiece } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, defined, localPath } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";

/** Default row limit of a table. */
const SHOWN = 100;
/** Lines of the prompt's history. */
const REMEMBERED = 500;
/** Lines that list tables and views at the prompt: ours, psql's and DuckDB's. */
const LISTINGS = ["\\tables", "\\d", "\\dt", ".tables"];

const own = {
  command: option(z.string(), "the query, as psql and duckdb take it", "<sql>", {
    short: "c",
    conflicts: ["file", "tables"],
  }),
  file: option(z.string(), "a file with the query", "<file>", { conflicts: ["tables"] }),
  tables: flag("list tables and views, each with its number of rows"),
  format: option(
    z.enum(["table", "csv", "json", "parquet"]),
    "table on a terminal, else csv; json: an object a line",
    "<format>",
    { conflicts: ["json"] },
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
  options: [own, "config", "json"],
  examples: [
    "tributary query 'select vendor_name, sum(spend_amount) from spend_by_vendor_month group by 1 order by 2 desc'",
    "tributary query 'select * from invoices' > invoices.csv",
    "tributary query 'select * from findings where _deleted_at is null' --format json | jq .title",
    "tributary query 'select * from invoices' --format parquet --out invoices.parquet",
    "tributary query --file question.sql --json",
    "tributary query --tables",
  ],
  run: query,
});

async function query(sql: string | undefined, options: QueryOptions, context: CliContext): Promise<void> {
  const { stdin, stdout } = context;
  const { config } = await context.openConfig(options, { local: true });
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { useSchemas } = await import("../../operations/query.ts");
  const { command, file, tables = false, out } = options;
  if (sql !== undefined && (command !== undefined || file !== undefined || tables))
    throw new ConfigError(commandMessages.query_given_twice());
  const named = sql ?? command ?? (file === undefined ? undefined : await textIn(resolve(context.cwd, file)));
  const asked = named ?? (stdin.isTTY || tables ? undefined : await textOf(stdin));
  if (asked?.trim() === "") throw new ConfigError(commandMessages.query_empty());
  if ((options.format === "parquet") !== (out !== undefined))
    throw new ConfigError(commandMessages.query_parquet_or_out());
  if (out !== undefined && asked === undefined && !tables)
    throw new ConfigError(commandMessages.query_out_without_query());
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to ask");
  const format = options.json ? "document" : (options.format ?? (stdout.isTTY ? "table" : "csv"));
  await useSchemas(reading);
  const answer: Answer = (text, signal) => {
    const limit = options.limit ?? (format === "table" && text !== undefined ? SHOWN : 0);
    return answerTo(reading, { text, format, limit, out }, signal, context);
  };
  if (asked !== undefined || tables) await once(asked, answer, context);
  else await prompting(answer, context);
}

async function textIn(file: string): Promise<string> {
  return readFile(file, "utf8").catch(error => {
    throw new ConfigError(commandMessages.query_file_unreadable({ file, reason: codeOf(error) }), error);
  });
}

/** Without a text: the tables and views. */
type Answer = (text: string | undefined, signal: AbortSignal) => Promise<void>;

async function once(text: string | undefined, answer: Answer, context: CliContext): Promise<void> {
  using stop = interruption(context, ({ message }) => void context.stderr.write(`${message}\n`), {
    stopping: commandMessages.query_stopping(),
    stopped: commandMessages.query_stopped,
  });
  await answer(text, stop.signal);
}

interface Asked extends Pick<QueryOptions, "out"> {
  readonly text: string | undefined;
  readonly format: NonNullable<QueryOptions["format"]> | "document";
  /** 0: all rows. */
  readonly limit: number;
}

async function answerTo(
  reading: WarehouseReading,
  { text: given, format, limit, out }: Asked,
  signal: AbortSignal,
  context: CliContext,
): Promise<void> {
  const { tablesQuery, takeAnswer, writeAnswer } = await import("../../operations/query.ts");
  const text = given ?? (await tablesQuery(reading, signal));
  const isTable = format === "table";
  // One more than is shown says whether there are more.
  const most = limit === 0 ? undefined : limit + (isTable ? 1 : 0);
  if (out !== undefined) {
    const file = resolve(context.cwd, out);
    const rows = await writeAnswer(reading, { text, most }, file, signal);
    return context.print(`${counted(rows, "row")} in ${file}`);
  }
  const write = (piece: Buffer) => writePiece(context, piece);
  const question = { text, most, format: isTable || format === "csv" ? "csv" : "json" } as const;
  try {
    if (isTable) {
      const pieces: Buffer[] = [];
      await takeAnswer(reading, question, signal, async piece => void pieces.push(Buffer.from(piece)));
      const { answerTable } = await import("../terminal/answer_table.ts");
      context.printWhole(answerTable(Buffer.concat(pieces), limit, context.look().width));
    } else if (format === "document") {
      const document = documentOf(write);
      await takeAnswer(reading, question, signal, document.take);
      await document.end();
    } else await takeAnswer(reading, question, signal, write);
  } catch (error) {
    // A reader such as `head` has what it wanted.
    if (codeOf(error) !== "EPIPE") throw error;
  }
}

/** Takes the lines of JSON that the database writes, and makes one document of them. */
function documentOf(write: (piece: Buffer) => Promise<void>) {
  let before = '{"rows":[';
  return {
    async take(piece: Buffer): Promise<void> {
      // As bytes: a piece may end within a letter, and within a value there is no line break.
      const lines = piece.toString("latin1").replaceAll("\n", ",\n");
      const isWhole = lines.endsWith(",\n");
      await write(Buffer.from(before + (isWhole ? lines.slice(0, -2) : lines), "latin1"));
      before = isWhole ? ",\n" : "";
    },
    end: () => write(Buffer.from(`${before.replace(",", "")}]}\n`)),
  };
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
    context.print(commandMessages.query_prompt().message);
    ask();
    for await (const line of lines) {
      if (text === "" && ["\\q", "exit", "quit"].includes(line.trim())) break;
      const isListing = text === "" && LISTINGS.includes(line.trim());
      text = `${text}${text === "" ? "" : "\n"}${line}`;
      if (isListing || /;\s*$/.test(text)) {
        running = new AbortController();
        await answer(isListing ? undefined : text, running.signal).catch(error => {
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
