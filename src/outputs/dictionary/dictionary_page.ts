import { html } from "hono/html";
import { formatCount } from "../../counted.ts";
import { standalone } from "../html/document.ts";
import { breakable } from "../html/wording.ts";
import { domainDiagram, overviewDiagram } from "./diagram.ts";
import type { Dictionary, Domain } from "./dictionary.ts";
import { figure, modelSection, stateSection, tableSection, types } from "./entries.ts";

export function dictionaryDocument(dictionary: Dictionary): string {
  const { domains, models, state } = dictionary;
  const tables = domains.flatMap(domain => domain.tables);
  const columns = tables.reduce((sum, table) => sum + table.own.length, 0);
  return standalone("dictionary", {
    title: "Data dictionary · tributary",
    head: "",
    body: html`<header>
<h1><span class="brand">tributary</span> Data dictionary</h1>
<search hidden><label class="unseen" for="search">Find a table or column</label><input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="Find a table or column: press /"><div class="hits"><p id="hits" role="status"></p><ul id="found"></ul></div></search>
<button type="button" id="print" hidden>Print</button>
</header>
<nav aria-label="Contents">${contents(dictionary)}</nav>
<main id="content">
<p class="quiet">${formatCount(tables.length)} tables with ${formatCount(columns)} columns, ${formatCount(models.length)} views beside them${asOf(dictionary)}.</p>
${introduction(dictionary)}
<section id="overview"><h2>How the main tables hang together</h2>
<p>A line ends with a dot at the table that is pointed at. Whole lines hold by the way the service is asked; broken ones are assumed, and each run measures how many rows find their partner. Every name leads to its table.</p>
${figure(overviewDiagram(dictionary))}</section>
${models.length === 0 ? "" : html`<section id="views"><h2>Views that answer questions</h2><p>In schema <code>${dictionary.schemas.views ?? ""}</code>. Amounts are never added up over currencies: <code>currency_code</code> and <code>currency_source</code> tell each amount's, and what has none stands in a group of its own. What a column is made from is read out of the view's SQL, as it is before the configuration says what rows are taken for; columns that only join or filter are not among it.</p>${models.map(model => modelSection(model, dictionary))}</section>`}
${domains.map(domain => domainSection(domain, dictionary))}
${engineSection(dictionary)}
<section id="state"><h2>What the program keeps about its work</h2><p>In schema <code>${dictionary.schemas.state}</code>. Dashboards may read <code>streams</code>, <code>runs</code>, <code>stream_runs</code>, <code>problems</code> and <code>details</code>; the others are the program's own memory.</p>${state.map(stateSection)}</section>
</main>`,
  });
}

function asOf({ sample }: Dictionary) {
  if (sample?.publishedAt === undefined) return "";
  return html`; examples and counts as published ${sample.publishedAt.slice(0, 16).replace("T", " ")} UTC`;
}

function contents({ domains, models }: Dictionary) {
  const views =
    models.length === 0
      ? ""
      : html`<li><a href="#views">Views that answer questions</a><ul>${models.map(({ name }) => html`<li><a href="#t.${name}">${breakable(name)}</a></li>`)}</ul></li>`;
  return html`<ul>
<li><a href="#start">How to read this</a></li>
<li><a href="#overview">The main tables</a></li>
${views}
${domains.map(({ title, slug, tables }) => html`<li><a href="#d.${slug}">${title}</a><ul>${tables.map(({ name }) => html`<li><a href="#t.${name}">${breakable(name)}</a></li>`)}</ul></li>`)}
<li><a href="#engine">Columns of every table</a></li>
<li><a href="#state">The program's own tables</a></li>
</ul>`;
}

function introduction({ schemas, sample }: Dictionary) {
  const { data, views, state } = schemas;
  return html`<section id="start"><h2>How to read this</h2>
<ul class="points">
<li>Schema <code>${data}</code> has everything, rows that the service no longer lists too: <code>_deleted_at is null</code> is what it lists at present.</li>
${
  views === undefined
    ? ""
    : html`<li>Schema <code>${views}</code> has each table once more under the same name, with the rows that are listed at present and without the columns that only matter for checking; of tables measured once a day the latest day, and as <code>…_daily</code> all of them.</li>`
}
<li>Schema <code>${state}</code> tells how fresh and complete the tables are.</li>
<li>Every join goes by <code>_company</code> and the columns named here. What is not named as a relation is no join, however alike two names are; names of people and firms are labels.</li>
<li>Money stands in the unit of its currency, and each amount says where its currency is. Amounts are decimals with nine places; no digit is lost.</li>
<li>A value that could not be read is NULL and stands in <code>_problems</code>: there the key alone is never NULL.</li>
<li><em>personal</em>: it says something about a person; <code>privacy</code> in the configuration keeps such columns out, or stores them hashed or masked.</li>
<li><em>volatile</em>: it changes by itself every day; alone it does not move <code>_changed_at</code>.</li>
${sample === undefined ? "" : html`<li>Examples come from a few live rows of the warehouse. Of texts only single words are shown, and nothing of columns that may name a person or hold what somebody wrote.</li>`}
</ul></section>`;
}

function domainSection(domain: Domain, dictionary: Dictionary) {
  return html`<section id="d.${domain.slug}" class="domain"><h2>${domain.title}</h2>
${figure(domainDiagram(domain))}
${domain.tables.map(table => tableSection(table, dictionary))}</section>`;
}

function engineSection({ engine }: Dictionary) {
  return html`<section id="engine"><h2>Columns that tributary adds to every table</h2>
<p><code>_company</code> is part of every key. Child tables have no <code>_first_seen_at</code>: it is their main row's.</p>
<table><caption class="unseen">Columns that tributary adds</caption><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${engine.map(({ name, duckdb, postgres, comment }) => html`<tr id="c.${name}" data-entry="${name}"><th scope="row"><code>${name}</code></th><td class="types">${types({ duckdb, postgres })}</td><td>${comment}</td></tr>`)}</tbody></table></section>`;
}
