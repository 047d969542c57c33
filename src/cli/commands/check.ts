import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { ConfigError } from "../../errors.ts";
import type { CheckLine } from "../../operations/check/check.ts";
import type { CliContext } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";
import { packageVersion } from "../invocation/package_root.ts";

interface CheckOptions extends CommonOptions {
  readonly offline?: true;
}

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("check")
    .description(
      "Look at configuration, key, service, destination, schedules and what they need, and say of each whether it is well or what to do. Writes nothing.",
    )
    .option("--offline", "ask neither the service nor a database server");
  attachOptions(
    command,
    ["company", "config", "json", "logLevel"],
    "tributary check",
    "tributary check --offline",
    "tributary check --json | jq '.lines[] | select(.ok | not)'",
  ).action((options: CheckOptions) => check(options, context));
}

async function check(options: CheckOptions, context: CliContext): Promise<void> {
  const log = await context.openLog(options.logLevel);
  const { signal, release } = interruption(context, text => log.info({}, text));
  const lines: CheckLine[] = [];
  try {
    for await (const line of allLines(options, context, signal, log)) {
      lines.push(line);
      if (!options.json) context.print(printed(line));
    }
  } finally {
    release();
  }
  const { exitCodeOfAll } = await import("../../sync/run/report.ts");
  const exitCode = exitCodeOfAll(lines.map(line => line.exitCode));
  context.exit(exitCode);
  if (!options.json) return context.print(summary(lines));
  const told = lines.map(({ name, level, message, advice }) => ({
    name,
    ok: level !== "fail",
    level,
    message,
    advice,
  }));
  context.printJson({ ok: exitCode === 0, exit_code: exitCode, lines: told });
}

async function* allLines(
  options: CheckOptions,
  context: CliContext,
  signal: AbortSignal,
  log: Awaited<ReturnType<CliContext["openLog"]>>,
): AsyncGenerator<CheckLine> {
  const { failure, ok, warning } = await import("../../operations/check/line.ts");
  const { checkExposure } = await import("../../operations/check/surroundings.ts");
  try {
    const loaded = await context.openConfig(options);
    yield ok("config", `${loaded.file} is understood, and all its variables are set`);
    for (const text of loaded.warnings) yield warning("config", text, null);
    yield* checkExposure(loaded);
    yield* checked(options, loaded, context, signal, log);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield failure("config", error);
  }
}

async function* checked(
  options: CheckOptions,
  loaded: LoadedConfig,
  { env, cwd }: CliContext,
  signal: AbortSignal,
  log: Awaited<ReturnType<CliContext["openLog"]>>,
): AsyncGenerator<CheckLine> {
  const { runCheck } = await import("../../operations/check/check.ts");
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { streams } = await import("../../../streams/index.ts");
  const { identityEndpoint } = await import("../../../streams/identity.ts");
  const companies = companiesOf(loaded.config, options.company);
  const offline = options.offline ?? false;
  // Somebody is waiting for the answer: a fault gets its retries, but at short intervals.
  const random = () => 0.1;
  yield* runCheck(
    {
      loaded,
      companies,
      catalogue: streams,
      identity: identityEndpoint,
      offline,
      programs: { path: env["PATH"] ?? "", cwd },
    },
    { clock: systemClock, random, log, signal, version: packageVersion(), maxRequests: undefined },
  );
}

const labels = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;

function printed({ name, level, message, advice }: CheckLine): string {
  const line = `${labels[level]}  ${name.padEnd(22)}  ${message}`;
  return advice === null ? line : `${line}\n      ${advice.replaceAll("\n", "\n      ")}`;
}

function summary(lines: readonly CheckLine[]): string {
  const failed = lines.filter(line => line.level === "fail").length;
  return failed === 0 ? "\nAll is well: `tributary sync` can run." : `\n${failed} of ${lines.length} lines need you.`;
}
