import { procurementReport } from "../../../reports/procurement.ts";
import { readMeanings } from "../../../src/catalog/meaning.ts";
import { type Contents, readContents } from "../../../src/outputs/report/contents.ts";
import { reportDocument } from "../../../src/outputs/report/report_page.ts";
import type { WarehouseReading } from "../../../src/warehouse/connect/reading.ts";
import { streams } from "../../../streams/index.ts";
import { usualMeanings } from "../../models/warehouse.ts";
import { models } from "../../support/models.ts";

const meanings = readMeanings(models.meanings, streams, usualMeanings);

/** Noon of the day that test warehouses live on. */
export const madeAt = Date.parse("2026-03-15T12:00:00Z");

/** What the report reads of some companies. */
export const contentsOf = (
  reading: WarehouseReading,
  companies: readonly string[],
  months = 12,
  redact = (word: string): string => word,
): Promise<Contents> =>
  readContents(reading, procurementReport, { ...models, meanings, currency: undefined, companies, months, redact });

/** The page that is made of it. */
export const pageOf = (contents: Contents): string =>
  reportDocument(contents, {
    madeAt,
    publishedAt: undefined,
    lateAfterMs: 36 * 3_600_000,
    streamsOf: tables => tables,
  });

/** A table of a page: its columns' names, and its cells; of a number that is every digit, of another cell its text. */
export interface PageTable {
  readonly company: number;
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Numbers as they are shown, by row and column; what is no number as in `rows`. */
  readonly shown: readonly (readonly string[])[];
}

/** All tables of a page, in their order. */
export function tablesOf(page: string): readonly PageTable[] {
  return page
    .split("<article ")
    .slice(1)
    .flatMap((article, company) =>
      [...article.matchAll(/<table><caption class="unseen">(.*?)<\/caption>(.*?)<\/table>/gs)].map(
        ([, title, body]) => ({
          company,
          title: text(title!),
          head: [...body!.matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/gs)].map(([, cell]) => text(cell!)),
          rows: cellsOf(body!).map(row => row.map(cell => /<data value="([^"]*)"/.exec(cell)?.[1] ?? text(cell))),
          shown: cellsOf(body!).map(row => row.map(text)),
        }),
      ),
    );
}

const cellsOf = (body: string): string[][] =>
  [...body.split("<tbody>")[1]!.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell!),
  );

/** What a browser would show of markup. */
export const text = (markup: string): string =>
  markup
    .replace(/<span aria-hidden="true">.*?<\/span>/g, "")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
