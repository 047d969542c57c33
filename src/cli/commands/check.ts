import { systemClock } from "../../clock.ts";
import { ConfigError } from "../../errors.ts";
import type { CheckLine } from "../../operations/check/check.ts";
import { flag, type Given } from "../../options/options.ts";
import { packageVersion } from "../../package_root.ts";
import type { CliContext } from "../invocation/context.ts";
import { interruption } from "../invocation/interruption.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { type Look, outcome } from "../terminal/look.ts";
import { commandMessages } from "./messages.ts";

const own = { offline: flag("ask neither the service nor a database server") };

type CheckOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Look at configuration, key, service, destination, schedules and what they need, and say of each whether it is well or what to do. Writes nothing.",
  options: [own, "company", "config", "json", "log"],
  examples: [
    "tributary check",
    "tributary check --offline",
    "tributary check --json | jq '.lines[] | select(.ok | not)'",
  ],
  run: check,
});

async function check(options: CheckOptions, context: CliContext): Promise<void> {
  const lines: CheckLine[] = [];
  for await (const line of checkLines(options, context)) {
    lines.push(line);
    if (!options.json) context.print(printed(line, context.look()));
  }
  const { exitCodeOfAll } = await import("../../sync/run/report.ts");
  const exitCode = exitCodeOfAll(lines.map(line => line.exitCode));
  context.exit(exitCode);
  if (!options.json) return context.print(summary(lines));
  const told = lines.map(({ exitCode: _, name, ...line }) => ({ name, ok: line.level !== "fail", ...line }));
  context.printJson({ ok: exitCode === 0, exit_code: exitCode, lines: told });
}

/** What `check` says. */
export async function* checkLines(
  { offline = false, ...options }: CheckOptions,
  context: CliContext,
): AsyncGenerator<CheckLine> {
  const log = await context.openLog(options.logLevel);
  using stop = interruption(context, log.info);
  const { failure, ok, warning } = await import("../../operations/check/line.ts");
  const { checkExposure } = await import("../../operations/check/surroundings.ts");
  const { runCheck } = await import("../../operations/check/check.ts");
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { streams: catalogue } = await import("../../../streams/index.ts");
  const { identityEndpoint: identity } = await import("../../../streams/identity.ts");
  try {
    const loaded = await context.openConfig(options);
    yield ok("config", commandMessages.check_config_understood({ file: loaded.file }));
    for (const each of loaded.warnings) yield warning("config", each);
    yield* checkExposure(loaded);
    const companies = companiesOf(loaded.config, options.company);
    const programs = { path: context.env["PATH"] ?? "", cwd: context.cwd };
    // Somebody is waiting for the answer: a fault gets its retries, but at short intervals.
    const random = () => 0.1;
    const tools = {
      clock: systemClock,
      random,
      log,
      signal: stop.signal,
      version: packageVersion(),
      maxRequests: undefined,
    };
    yield* runCheck({ loaded, companies, catalogue, identity, offline, programs }, tools);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield failure("config", error);
  }
}

const labels = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;

function printed({ name, level, message, advice }: CheckLine, look: Look): string {
  const line = `${outcome(labels[level], look)}  ${name.padEnd(22)}  ${message}`;
  return advice === null ? line : `${line}\n      ${advice.replaceAll("\n", "\n      ")}`;
}

function summary(lines: readonly CheckLine[]): string {
  const [failed, warned] = ["fail", "warn"].map(level => lines.filter(line => line.level === level).length);
  if (failed !== 0) return `\n${failed} of ${lines.length} lines need you.`;
  if (warned === 0) return "\nAll is well: `tributary sync` can run.";
  return `\n\`tributary sync\` can run; ${warned} of ${lines.length} lines ${warned === 1 ? "is a warning" : "are warnings"}.`;
}
