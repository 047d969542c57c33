import { resolve } from "node:path";
import { formatCount } from "../../counted.ts";
import { type Given, reportOptions, required } from "../../options/options.ts";
import type { Contents } from "../../outputs/report/contents.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, localPath } from "../invocation/options.ts";

const own = {
  out: required(localPath(), "the page, such as report.html; one that it wrote before is replaced", "<file>"),
  ...reportOptions,
};

type ReportOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Write one page of charts and tables for whoever would rather look than query: spend, invoice exceptions, savings found, late deliveries, price trends. It needs no network and no script, follows light and dark, and prints on A4. Made from the views for analysts, as of one moment; takes no lock and changes nothing.",
  options: [own, "company", "config", "json", "log"],
  examples: [
    "tributary report --out report.html",
    "tributary report --out report-acme.html --company acme --months 6",
    "tributary sync && tributary report --out /srv/reports/procurement.html   # after each night",
  ],
  notes:
    "\nThe page names the streams that a section lacks because they are off. It never adds up amounts of different currencies.",
  run: report,
});

async function report(options: ReportOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const { requireOwnFile, writePage } = await import("../../outputs/report/file.ts");
  const { makeReport } = await import("../invocation/reports.ts");
  const file = await requireOwnFile(resolve(context.cwd, options.out));
  const { contents, page } = await makeReport(config, options, context);
  await writePage(file, page);
  const bytes = Buffer.byteLength(page);
  if (options.json) return context.printJson(told(file, bytes, contents));
  const lacks = [...contents.lacks.keys()];
  const missing = lacks.length === 0 ? "" : `\nNot in it, and the page says how to get it: ${lacks.join(", ")}.`;
  const whole = contents.companies.length === 1 ? "" : ` ${formatCount(contents.companies.length)} companies,`;
  context.print(
    `A report of${whole} ${contents.period.months[0]} to ${contents.period.months.at(-1)} is in ${file} (${formatCount(Math.ceil(bytes / 1_000))} kB): open it in a browser.${missing}`,
  );
}

function told(out: string, bytes: number, { period, companies, lacks }: Contents) {
  const { today, from, until } = period;
  return {
    out,
    bytes,
    period: { from, until, today },
    companies: companies.map(({ company, opening, messages, sections }) => ({
      company,
      messages: [opening, ...messages].map(({ message: { title, section }, rows }) => ({ title, section, rows })),
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
