import { systemClock } from "../clock.ts";
import type { ExitCode } from "../errors.ts";
import { codeOf } from "../files.ts";
import { type CliContext, createContext, unwritten } from "./invocation/context.ts";
import { reportFailure } from "./invocation/failure.ts";
import { runCommand } from "./program.ts";

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
  const begunAt = performance.timeOrigin;
  const surroundings = { env, stdin, stdout, stderr, cwd: process.cwd(), clock: systemClock, begunAt };
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
  // A reader such as `head` may close the pipe: that is no failure. The work goes on also where a disk is full.
  let lost: Error | undefined;
  stdout.on("error", error => {
    if (codeOf(error) !== "EPIPE") lost ??= error;
  });
  // A log that cannot be written (its reader is gone, its disk full) must not end the work.
  stderr.on("error", () => undefined);
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, error => stray(error));
  }
  try {
    await runCommand(argv, context);
  } catch (error) {
    code = reportFailure(error, argv, context);
  }
  await new Promise<void>(resolve => stdout.write("", () => resolve()));
  if (lost === undefined || code !== 0) return code;
  stderr.write(`${unwritten(lost).message}\n`);
  return 1;
}

// Deprecation warnings of dependencies (pg has one about password files) are of no use to users.
process.noDeprecation = true;
process.exit(await main(process.argv.slice(2)));
