import { Command } from "commander";
import type { CliContext } from "./invocation/context.ts";
import { examples } from "./invocation/options.ts";
import { packageVersion } from "./invocation/package_root.ts";
import { unknownCommand, usageError } from "./invocation/usage.ts";

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Only the command that is called gets loaded. */
  readonly load: () => Promise<(program: Command, context: CliContext) => void>;
}

const commands: readonly CommandEntry[] = [
  {
    name: "init",
    summary: "write config.yaml, asking for the few values that matter",
    load: async () => (await import("./commands/init.ts")).registerInit,
  },
  {
    name: "check",
    summary: "look whether a run would go well, and say what to do",
    load: async () => (await import("./commands/check.ts")).registerCheck,
  },
  {
    name: "config",
    summary: "print the effective configuration, secrets masked",
    load: async () => (await import("./commands/config.ts")).registerConfig,
  },
  {
    name: "streams",
    summary: "list what can be read, and the tables it becomes",
    load: async () => (await import("./commands/streams.ts")).registerStreams,
  },
  {
    name: "sync",
    summary: "bring the tables up to date",
    load: async () => (await import("./commands/sync.ts")).registerSync,
  },
  {
    name: "schedule",
    summary: "stay up and run syncs by the clock",
    load: async () => (await import("./commands/schedule.ts")).registerSchedule,
  },
  {
    name: "backfill",
    summary: "load history, by windows of dates",
    load: async () => (await import("./commands/backfill.ts")).registerBackfill,
  },
  {
    name: "replay",
    summary: "load again from the archive, without a request",
    load: async () => (await import("./commands/replay.ts")).registerReplay,
  },
  {
    name: "status",
    summary: "show runs, freshness, rows and problems",
    load: async () => (await import("./commands/status.ts")).registerStatus,
  },
  {
    name: "rejects",
    summary: "show what could not be loaded, and why",
    load: async () => (await import("./commands/rejects.ts")).registerRejects,
  },
  {
    name: "meanings",
    summary: "show what the models take rows for, and by which values",
    load: async () => (await import("./commands/meanings.ts")).registerMeanings,
  },
  {
    name: "verify",
    summary: "compare the warehouse with the service, field by field",
    load: async () => (await import("./commands/verify.ts")).registerVerify,
  },
  {
    name: "reset",
    summary: "forget high-water marks and cursors of streams, or their rows too",
    load: async () => (await import("./commands/reset.ts")).registerReset,
  },
  {
    name: "move",
    summary: "have the warehouse know a service by its new address",
    load: async () => (await import("./commands/move.ts")).registerMove,
  },
  {
    name: "ddl",
    summary: "print the SQL of the warehouse",
    load: async () => (await import("./commands/ddl.ts")).registerDdl,
  },
  {
    name: "dbt",
    summary: "write a dbt package for the warehouse",
    load: async () => (await import("./commands/dbt.ts")).registerDbt,
  },
  {
    name: "docs",
    summary: "write the data dictionary, as a page and as Markdown",
    load: async () => (await import("./commands/docs.ts")).registerDocs,
  },
  {
    name: "report",
    summary: "write a page of charts and tables to look at",
    load: async () => (await import("./commands/report.ts")).registerReport,
  },
  {
    name: "export",
    summary: "write the tables as Parquet files, for Spark, Trino, BigQuery",
    load: async () => (await import("./commands/export.ts")).registerExport,
  },
  {
    name: "simulate",
    summary: "run a simulated service to try everything with",
    load: async () => (await import("./commands/simulate.ts")).registerSimulate,
  },
];

/** Runs the command that the words name. @throws TributaryError for words that are no use of it */
export async function runCommand(argv: readonly string[], context: CliContext): Promise<void> {
  const program = new Command("tributary")
    .description("Keeps a SQL warehouse (DuckDB or PostgreSQL) in step with the Procurement Intelligence Service.")
    .version(packageVersion())
    .configureOutput({
      writeOut: text => context.stdout.write(text),
      writeErr: text => context.stderr.write(text),
      outputError: () => undefined,
    })
    .addHelpText("after", examples("tributary init && tributary check && tributary sync", "tributary sync --help"));
  const words = argv.filter(word => !word.startsWith("-"));
  const called = words[0] === "help" ? words[1] : words[0];
  for (const { name, summary, load } of commands) {
    if (name === called) (await load())(program, context);
    else program.command(name);
    program.commands.at(-1)?.summary(summary);
  }
  for (const command of [program, ...program.commands])
    command.exitOverride(error => {
      throw usageError(error, command, argv);
    });
  const names = commands.map(({ name }) => name);
  // Commander answers this with the help of everything.
  if (words[0] === "help" && called !== undefined && !names.includes(called)) throw unknownCommand(called, names);
  await program.parseAsync(argv, { from: "user" });
}
