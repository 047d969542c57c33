import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { standalone } from "../html/document.ts";
import { tableOf } from "./cells.ts";
import type { Answer, AnsweredSection, CompanyContents, Contents } from "./contents.ts";
import type { Block } from "./definition.ts";
import { drawingOf, legendOf } from "./drawing.ts";
import { freshnessOf, moment, sourcesOf } from "./freshness.ts";
import { headlineOf } from "./headline.ts";
import type { Lack } from "./missing_models.ts";
import type { Period } from "./period.ts";
import { messagesOf, toldOf } from "./summary.ts";

/** Marks a file as a report, which may be overwritten. */
export const GENERATOR = "tributary report";

export interface Edition {
  /** ms. */
  readonly madeAt: number;
  /** When what was read was published, ISO 8601; undefined where readers see every transaction. */
  readonly publishedAt: string | undefined;
  readonly lateAfterMs: number;
  readonly streamsOf: (tables: readonly string[]) => readonly string[];
}

/** The whole report as one page that loads nothing from anywhere and needs no script to be read. */
export function reportDocument(contents: Contents, edition: Edition): string {
  const { title, companies, period } = contents;
  const span = spanOf(period);
  return standalone("report", {
    title: titleOf(contents),
    head: html`<meta name="generator" content="${GENERATOR}">
<meta name="robots" content="noindex">`,
    body: html`<header><div class="cover">
<div><p class="brand">tributary</p>
<h1>${title}</h1></div>
<dl class="facts">
<div><dt>Period</dt><dd>${span}, ${counted(period.months.length, "whole month")}</dd></div>
<div><dt>Data as of</dt><dd>${moment(edition.publishedAt ?? new Date(edition.madeAt).toISOString())}</dd></div>
<div><dt>Ages counted to</dt><dd>${period.today}</dd></div>
</dl><button type="button" id="print" hidden>Print or save as PDF</button></div></header>
<nav aria-label="Contents">${navigation(companies)}</nav>
<details id="filtering" hidden><summary>Filter</summary><form id="filters" aria-label="Filters" data-party-label="${partyLabel(companies)}"></form></details>
<main id="content">
${companies.map((company, index) => companyArticle(company, `c${index + 1}`, contents, edition))}
</main>
<footer><p>Every figure is that of a view in the warehouse, as of one moment. Amounts of different currencies are never added up. Labels of the service are shown as they are and not interpreted.</p></footer>`,
  });
}

export const titleOf = ({ title, period }: Contents): string => `${title}, ${spanOf(period)}`;

/** The first screen in plain words, for a mail. */
export function wordsOf(contents: Contents): string {
  const companies = contents.companies.map(own => [own.company, ...toldOf(own, contents.period)].join("\n"));
  return `${[titleOf(contents), ...companies, "All of it is in the file report.html: open it in a browser."].join("\n\n")}\n`;
}

const partyLabel = (companies: readonly CompanyContents[]): string =>
  companies
    .flatMap(({ sections }) => sections.flatMap(({ blocks }) => blocks.flatMap(({ block }) => block.fields)))
    .find(({ isParty }) => isParty)?.label ?? "";

const spanOf = ({ months }: Period): string => (months.length === 1 ? months[0]! : `${months[0]} to ${months.at(-1)}`);

function navigation(companies: readonly CompanyContents[]) {
  const sections = ({ sections: all }: CompanyContents, id: string) =>
    html`<ul class="sections">${all.map(({ section }) => html`<li><a href="#${id}-${section.slug}">${section.title}</a></li>`)}</ul>`;
  const [only] = companies;
  if (companies.length === 1) return sections(only!, "c1");
  return html`<ul class="companies">${companies.map((company, index) => html`<li><a href="#c${index + 1}"><bdi>${company.company}</bdi></a>${sections(company, `c${index + 1}`)}</li>`)}</ul>`;
}

function companyArticle(own: CompanyContents, id: string, { period }: Contents, edition: Edition) {
  return html`<article id="${id}" data-company="${own.company}">
<div class="opening"><h2><bdi>${own.company}</bdi></h2>
${freshnessOf(own.sources, edition.lateAfterMs, edition.madeAt)}
${messagesOf(own, id, period)}</div>
<div class="figures">${headlineOf(own, period)}
${sourcesOf(own.sources, edition.lateAfterMs, edition.madeAt)}</div>
${own.sections.map(answered => sectionOf(answered, id, period, edition))}
</article>`;
}

function sectionOf({ section, blocks }: AnsweredSection, company: string, period: Period, edition: Edition) {
  const id = `${company}-${section.slug}`;
  const titles = blocks.map(({ block }) => block.title).join(" \u00b7 ");
  return html`<section><details class="chapter"><summary><h3>${section.title}</h3><span class="quiet">${titles}</span></summary><div id="${id}"><p class="lead">${section.lead}</p>
${blocks.map(({ block, answer }, index) => html`<div class="block">${blockOf(`${id}-${index + 1}`, block, answer, period, edition)}</div>`)}</div></details></section>`;
}

function blockOf(id: string, block: Block, answer: Answer, period: Period, edition: Edition) {
  const note = block.note === undefined ? "" : html`<p class="note">${block.note}</p>`;
  const head = html`<h4>${block.title}</h4>${note}`;
  if (answer.lack !== undefined) return html`${head}<p class="absent">${absence(answer.lack, edition)}</p>`;
  if (answer.rows.length === 0) return html`${head}<p class="absent">${block.empty}</p>`;
  const table = tableOf(block.title, block.fields, answer);
  if (block.drawing === undefined) return html`${head}${table}`;
  // On paper the heading stays with its drawing.
  return html`<div class="drawn">${head}${legend(block)}${drawingOf(id, block, answer.rows, period)}</div>
<details><summary>The numbers as a table (${counted(answer.rows.length, "row")})</summary>${table}</details>`;
}

function legend(block: Block) {
  const labels = legendOf(block);
  if (labels.length === 0) return "";
  return html`<ul class="legend">${labels.map((label, index) => html`<li><span class="${index === 0 ? "swatch solid" : "swatch outline"}"></span>${label}</li>`)}</ul>`;
}

function absence({ model, why, tables }: Lack, { streamsOf }: Edition) {
  if (why === "outdated")
    return html`The view <code>${model}</code> was made by another version of tributary: run <code>tributary sync</code>, which makes it anew.`;
  if (why === "beyond")
    return html`Amounts in the view <code>${model}</code> are too large for the database to add up: look for figures that were misread.`;
  const streams = streamsOf(tables);
  if (streams.length === 0)
    return html`There is no view <code>${model}</code>: <code>tributary sync</code> makes it, or says what keeps it from that.`;
  const names = streams.map((name, index) => html`${index === 0 ? "" : ", "}<code>${name}</code>`);
  return html`This needs ${streams.length === 1 ? "the stream" : `${formatCount(streams.length)} streams`} ${names}: add ${streams.length === 1 ? "it" : "them"} to <code>streams.include</code> of the configuration and run <code>tributary sync</code>.`;
}
