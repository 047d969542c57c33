import type { Config } from "../../config/config.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import type { CliContext } from "./context.ts";
import { cliMessages } from "./messages.ts";

/** For DuckDB: over 240,000 invoices and 320,000 of their lines it took 33 s; the 128 MB of other readers ran out at 400. */
const RESOURCES = { memoryLimitMb: 1_024, threads: 2 } as const;

/** The report of some companies: its contents, and they as one page. @throws ConfigError without views, DestinationError */
export async function makeReport(
  config: Config,
  { company, months }: { readonly company?: string | undefined; readonly months: number },
  { redact, clock }: Pick<CliContext, "redact" | "clock">,
) {
  if (!config.views) throw new ConfigError(cliMessages.report_without_views());
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { procurementReport } = await import("../../../reports/procurement.ts");
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { readContents } = await import("../../outputs/report/contents.ts");
  const { reportDocument } = await import("../../outputs/report/report_page.ts");
  const { configuredStreams, readModels } = await import("../../library/connector.ts");
  const { readMeanings } = await import("../../catalog/meaning.ts");
  const companies = companiesOf(config, company).map(({ name }) => name);
  const models = await readModels();
  const { catalogue } = await configuredStreams(config);
  const meanings = readMeanings(models.meanings, catalogue, config.meanings);
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to report on");
  const currency = config.currency?.report;
  const order = { ...models, meanings, currency, companies, months, redact };
  const contents = await readContents(reading, procurementReport, order);
  const page = reportDocument(contents, {
    madeAt: clock.now(),
    publishedAt: reading.publishedAt?.toISOString(),
    lateAfterMs: config.freshness.lateAfterMs,
    streamsOf: tables =>
      catalogue
        .filter(({ tables: { main, children } }) => [main, ...children].some(({ name }) => tables.includes(name)))
        .map(({ name }) => name),
  });
  return { contents, page };
}

/** The same for people who get it: with its first screen in words. */
export async function reportFor(
  report: Config["reports"][number],
  config: Config,
  context: Pick<CliContext, "redact" | "clock">,
) {
  const { titleOf, wordsOf } = await import("../../outputs/report/report_page.ts");
  const { contents, page } = await makeReport(config, report, context);
  return { title: titleOf(contents), page, words: wordsOf(contents) };
}
