import { resolve } from "node:path";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import type { Contents } from "../../outputs/report/contents.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions, localPath, whole } from "../invocation/options.ts";
import { formatCount } from "../terminal/table.ts";

interface ReportOptions extends CommonOptions {
  readonly out: string;
  readonly months: number;
  readonly force?: true;
}

/** For DuckDB: over 240,000 invoices and 320,000 of their lines it took 33 s; the 128 MB of other readers ran out at 400. */
const RESOURCES = { memoryLimitMb: 1_024, threads: 2 } as const;

export function register(program: Command, context: CliContext): void {
  const command = program
    .command("report")
    .description(
      "Write one page of charts and tables for whoever would rather look than query: spend, invoice exceptions, savings found, late deliveries, price trends. It needs no network and no script, follows light and dark, and prints on A4. Made from the views for analysts, as of one moment; takes no lock and changes nothing.",
    )
    .requiredOption("--out <file>", "the page, such as report.html; one that it wrote before is replaced", localPath)
    .option("--months <n>", "how many whole months before the present one, 1 to 36", whole(1, 36), 12)
    .option("--force", "overwrite a file that is no report");
  attachOptions(
    command,
    ["company", "config", "json", "log"],
    "tributary report --out report.html",
    "tributary report --out report-acme.html --company acme --months 6",
    "tributary sync && tributary report --out /srv/reports/procurement.html   # after each night",
  )
    .addHelpText(
      "after",
      "\nWhat a section lacks because its streams are off is said on the page. Amounts of different currencies are never added up.",
    )
    .action((options: ReportOptions) => report(options, context));
}

async function report(options: ReportOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { requireOwnFile, writeWhole } = await import("../../outputs/report/file.ts");
  const { reportDocument } = await import("../../outputs/report/report_page.ts");
  const companies = companiesOf(config, options.company).map(({ name }) => name);
  if (!config.views)
    throw new ConfigError(
      "The report is made from the views for analysts, and the configuration has `views: false`. Set `views: true`, run `tributary sync`, and call the report again.",
    );
  const file = await requireOwnFile(resolve(context.cwd, options.out), options.force ?? false);
  const { contents, publishedAt } = await read(config, companies, options, context);
  const text = reportDocument(contents, {
    madeAt: context.clock.now(),
    publishedAt,
    lateAfterMs: config.freshness.lateAfterMs,
    streamsOf: await streamNames(),
  });
  await writeWhole(file, text);
  const bytes = Buffer.byteLength(text);
  if (options.json) return context.printJson(told(file, bytes, contents));
  const lacks = [...contents.lacks.keys()];
  const missing = lacks.length === 0 ? "" : `\nNot in it, and the page says how to get it: ${lacks.join(", ")}.`;
  const whole = contents.companies.length === 1 ? "" : ` ${formatCount(contents.companies.length)} companies,`;
  context.print(
    `A report of${whole} ${contents.period.months[0]} to ${contents.period.months.at(-1)} is in ${file} (${formatCount(Math.ceil(bytes / 1_000))} kB): open it in a browser.${missing}`,
  );
}

async function read(config: Config, companies: readonly string[], options: ReportOptions, context: CliContext) {
  const { procurementReport } = await import("../../../reports/procurement.ts");
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { readContents } = await import("../../outputs/report/contents.ts");
  const { readModels } = await import("../../library/connector.ts");
  const { readMeanings } = await import("../../catalog/meaning.ts");
  const { configured } = await import("../../privacy/configured_catalog.ts");
  const { streams } = await import("../../../streams/index.ts");
  const models = await readModels();
  const meanings = readMeanings(models.meanings, configured(streams, config), config.meanings);
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to report on");
  const { months } = options;
  const currency = config.currency?.report;
  const order = { ...models, meanings, currency, companies, months, redact: context.redact };
  const contents = await readContents(reading, procurementReport, order);
  return { contents, publishedAt: reading.publishedAt?.toISOString() };
}

/** The streams that tables belong to. */
async function streamNames(): Promise<(tables: readonly string[]) => readonly string[]> {
  const { streams } = await import("../../../streams/index.ts");
  return tables =>
    streams
      .filter(({ tables: { main, children } }) => [main, ...children].some(({ name }) => tables.includes(name)))
      .map(({ name }) => name);
}

function told(out: string, bytes: number, { period, companies, lacks }: Contents) {
  const { today, from, until } = period;
  return {
    out,
    bytes,
    period: { from, until, today },
    companies: companies.map(({ company, sections }) => ({
      company,
      sections: sections.map(({ section, blocks }) => ({
        name: section.slug,
        title: section.title,
        blocks: blocks.map(({ block, answer: { rows, lack } }) => ({
          title: block.title,
          rows: rows.length,
          missing: lack?.model ?? null,
        })),
      })),
    })),
    missing: [...lacks.values()].map(({ model, why, tables }) => ({ model, why, tables })),
  };
}
