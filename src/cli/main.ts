#!/usr/bin/env -S node --max-semi-space-size=2 --heap-growing-percent=70 --v8-pool-size=1
// Measured for a night of two long lists: with its own settings Node takes 100 MB more, and with its four helper threads more CPU.
import { Command } from "commander";
import type { ExitCode } from "../errors.ts";
import { type CliContext, createContext } from "./invocation/context.ts";
import { reportFailure } from "./invocation/failure.ts";
import { examples } from "./invocation/options.ts";
import { expectNode, packageVersion } from "./invocation/package_root.ts";

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
    name: "verify",
    summary: "compare the warehouse with the service, field by field",
    load: async () => (await import("./commands/verify.ts")).registerVerify,
  },
  {
    name: "reset",
    summary: "forget marks and cursors of streams, or their rows too",
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

function onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void {
  process.on("SIGINT", listener).on("SIGTERM", listener);
  return () => void process.off("SIGINT", listener).off("SIGTERM", listener);
}

function onHangup(listener: () => void): () => void {
  process.on("SIGHUP", listener);
  return () => void process.off("SIGHUP", listener);
}

async function main(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = 0;
  const { env, stdin, stdout, stderr } = process;
  const exit = (wanted: ExitCode): void => {
    code = wanted;
  };
  const surroundings = { env, stdin, stdout, stderr, cwd: process.cwd(), now: Date.now };
  let stray = (error: unknown): void => process.exit(reportFailure(error, argv, context));
  const onStray: CliContext["onStray"] = listener => {
    const before = stray;
    stray = listener;
    return () => {
      stray = before;
    };
  };
  const signals = { onSignal, onHangup, onStray };
  const context = createContext({ ...surroundings, ...signals, exit, leave: process.exit });
  // Whoever reads our output may stop reading, as `head` does: no failure, and no reason to leave work undone.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.exit(70);
  });
  // A log whose reader went away or whose disk is full is lost: the work is not, and there is nowhere to say it.
  stderr.on("error", () => undefined);
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, error => stray(error));
  }
  try {
    expectNode();
    const program = await programOf(argv, context);
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return reportFailure(error, argv, context);
  }
}

async function programOf(argv: readonly string[], context: CliContext): Promise<Command> {
  const program = new Command("tributary")
    .description("Keeps a SQL warehouse (DuckDB or PostgreSQL) in step with the Procurement Intelligence Service.")
    .version(packageVersion())
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
    .addHelpText("after", examples("tributary init && tributary check && tributary sync", "tributary sync --help"));
  const words = argv.filter(word => !word.startsWith("-"));
  const called = words[0] === "help" ? words[1] : words[0];
  for (const { name, summary, load } of commands) {
    if (name === called) (await load())(program, context);
    else program.command(name);
    program.commands.at(-1)?.summary(summary);
  }
  return program;
}

// What packages inside deprecate, such as pg a password file, is for whoever maintains this program.
process.noDeprecation = true;
const code = await main(process.argv.slice(2));
await new Promise<void>(resolve => process.stdout.write("", () => resolve()));
process.exit(code);
