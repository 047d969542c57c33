import type { Command } from "commander";
import { formatCount } from "../../counted.ts";
import { ConfigError } from "../../errors.ts";
import type { Comparison, MoveOrder } from "../../operations/move.ts";
import { packageVersion } from "../../package_root.ts";
import { askConsent } from "../invocation/asking.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";
import { inShell } from "../terminal/look.ts";
import { commandMessages } from "./messages.ts";

interface MoveOptions extends CommonOptions {
  readonly baseUrl?: string;
  readonly to?: string;
}

export function register(command: Command, context: CliContext): void {
  command
    .description(
      "With --to: fill an empty warehouse, of whatever database, from this one: tables, versions of rows, state. No request is sent, every table is compared row by row, and this warehouse keeps its rows; stopped, the same command goes on. Without: have the warehouse know a company's service by its new address. Compares the company's id and up to 50 rows at the new address with what is kept, shows both, and asks. Loads nothing.",
    )
    .option("--to <file>", "a configuration, the destination of which is to be filled")
    .option("--base-url <url>", "the service's new address (default: the configuration's)");
  attachOptions(
    command,
    ["company", "config", "json", "dryRun", "wait", "log", "noProgress", "yes"],
    "tributary move --to lake.yaml",
    "tributary move --base-url https://procurement.example.com",
    "tributary move --dry-run",
  ).action((options: MoveOptions) =>
    options.to === undefined ? moveService(options, context) : moveToDestination(options.to, options, context),
  );
}

async function moveToDestination(file: string, options: MoveOptions, context: CliContext): Promise<void> {
  const others = { "--company": options.company, "--base-url": options.baseUrl, "--dry-run": options.dryRun };
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) throw new ConfigError(commandMessages.move_to_with_option({ option: name }));
  const { config } = await context.openConfig(options, { local: true });
  const { config: to } = await context.openConfig({ config: file }, { local: true });
  const { moveWarehouse } = await import("../../operations/move_warehouse.ts");
  const { newRunId } = await import("../../sync/run/run.ts");
  const { runDefaults } = await import("../../library/connector.ts");
  const { lineProgress } = await import("../invocation/line_progress.ts");
  const { systemClock: clock } = await import("../../clock.ts");
  using progress = await lineProgress(context, options, {
    stopping: commandMessages.move_stopping(),
    stopped: commandMessages.move_stopped,
  });
  const { log, signal, show } = progress;
  const runId = newRunId(new Date(clock.now()).toISOString(), Math.random);
  const report = await moveWarehouse(
    { ...(await runDefaults()), config, to },
    {
      ...{ clock, log, signal, runId, waitMs: options.wait },
      watch: ({ table, rows, of }) => show(`copying ${table}: ${formatCount(rows)} of ${formatCount(of)} rows`),
    },
  );
  progress.finish();
  if (options.json) return context.printJson(report);
  const { tables, rows, found, left } = report;
  const before = found === 0 ? "" : ` (${formatCount(found)} of them were there already)`;
  context.print(
    [
      `${report.from} is in ${report.to} now: ${formatCount(tables)} tables${before}, ${formatCount(rows)} rows, each compared.`,
      ...(left.length === 0 ? [] : [`Of no stream, and left where they are: ${left.join(", ")}.`]),
      `Run \`tributary sync --config ${inShell(file)}\` from now on. The former warehouse keeps its rows.`,
    ].join("\n"),
  );
}

async function moveService(options: MoveOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options);
  const { companiesOf, newRunId } = await import("../../sync/run/run.ts");
  const { compareAddresses, move } = await import("../../operations/move.ts");
  const { inWords } = await import("../../operations/messages.ts");
  const { systemClock: clock } = await import("../../clock.ts");
  const { streams: catalogue } = await import("../../../streams/index.ts");
  const { identityEndpoint: identity } = await import("../../../streams/identity.ts");
  const [company, ...others] = companiesOf(config, options.company);
  if (company === undefined || others.length > 0)
    throw new ConfigError(commandMessages.move_companies({ companies: others.length + 1 }));
  const baseUrl = options.baseUrl === undefined ? company.baseUrl : await addressOf(options.baseUrl);
  const order: MoveOrder = { config, catalogue, identity, company: { ...company, baseUrl } };
  const log = await context.openLog(options.logLevel);
  const signal = new AbortController().signal;
  const tools = { clock, random: Math.random, log, signal, version: packageVersion(), maxRequests: undefined };
  const compared = await compareAddresses(order, tools);
  if (compared === undefined)
    return told(options, context, undefined, "Nothing has been loaded yet: nothing is to be moved.");
  if (!options.json) context.print(`${capital(inWords(compared))}`);
  if (compared.from === compared.to)
    return told(options, context, compared, `The warehouse knows ${company.name} by that address.`);
  if (options.dryRun) return told(options, context, compared, "Nothing was changed: --dry-run.");
  if (compared.same && !options.yes)
    await askConsent(context, `Keep ${company.name} from ${compared.to} from now on?`, {
      offTerminal: commandMessages.move_off_terminal(),
      refused: commandMessages.move_refused(),
    });
  const runId = newRunId(new Date(clock.now()).toISOString(), Math.random);
  await move(order, compared, { clock, runId, waitMs: options.wait });
  const next = options.baseUrl === undefined ? "" : ` Set base_url to it in the configuration.`;
  told(options, context, compared, `The warehouse keeps ${company.name} from ${compared.to} now.${next}`);
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

function told(options: MoveOptions, context: CliContext, compared: Comparison | undefined, sentence: string): void {
  if (options.json) return context.printJson({ compared: compared ?? null, done: sentence });
  context.print(sentence);
}

/** Checked like `base_url` of the configuration. @throws ConfigError */
async function addressOf(text: string): Promise<string> {
  const { serviceAddress } = await import("../../config/companies.ts");
  const { baseUrl } = await import("../../config/fields.ts");
  const read = baseUrl().safeParse(text);
  if (read.success) return serviceAddress(read.data);
  throw new ConfigError(commandMessages.move_base_url({ reason: read.error.issues[0]!.message, base_url: text }));
}
