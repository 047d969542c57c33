import { html } from "hono/html";
import { formatCount } from "../../counted.ts";
import { treatments } from "../../warehouse/ddl/comments.ts";
import { type Diagram, drawing, lineageDiagram } from "./diagram.ts";
import type { Dictionary, ModelEntry, StateEntry, TableEntry } from "./dictionary.ts";
import type { ModelColumnEntry } from "./lineage.ts";
import { joinOf, type Link } from "./links.ts";
import type { ColumnDescription } from "./stream_description.ts";
import { nullOf, readingOf, sortOf, sourceOf } from "./wording.ts";

export function figure(diagram: Diagram) {
  const { layout, relations, leftOut, title } = diagram;
  if (layout.boxes.length < 2) return "";
  const words = [...relations.values()].flatMap(relation => relation.words.split("; "));
  return html`<figure><div class="scroll" tabindex="0" role="region" aria-label="Drawing of ${title}">${drawing(diagram, table => `#${table.includes(".") ? `s.${table.split(".")[1]}` : `t.${table}`}`)}</div>
<figcaption>${leftOut.length === 0 ? "" : html`<p class="quiet">${leftOut.join(" ")}</p>`}${words.length === 0 ? "" : html`<details><summary>In words (${formatCount(words.length)})</summary><ul>${words.map(text => html`<li>${text}</li>`)}</ul></details>`}</figcaption></figure>`;
}

export function tableSection(table: TableEntry, dictionary: Dictionary) {
  const { schemas, sample } = dictionary;
  const { name, description, stream, main, own, engineNames } = table;
  return html`<section class="entry" id="t.${name}" data-entry="${name}">
<h3><a href="#t.${name}">${name}</a>${stream.on ? "" : html` <span class="pill">off</span>`}</h3>
<p class="lead">${description}</p>
<dl>
${fact("Name in SQL", html`<code>${schemas.data}.${name}</code>${schemas.views === undefined ? "" : html`, live rows alone <code>${schemas.views}.${name}</code>`}`)}
${fact("Key", html`<code>${table.key.join(", ")}</code>`)}
${fact("Comes from", html`<code>${sourceOf(table)}</code>`)}
${main === undefined ? fact("Read", `${readingOf(stream)} Preset ${stream.preset}.`) : fact("Child of", html`<a href="#t.${main}">${main}</a>, read with it`)}
${fact("Deleted rows", table.deletion)}
${rowsOf(table)}
${table.versioned ? fact("Every version", html`<code>${schemas.data}.${name}_versions</code>; as of a moment <code>${schemas.data}.${name}_as_of('2026-01-31')</code>`) : ""}
${related("Points at", table.out, true)}
${related("Pointed at by", table.in, false)}
</dl>
<table><caption class="unseen">Columns of ${name}</caption>
<thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What it is</th>${sample === undefined ? "" : html`<th scope="col">Examples</th>`}</tr></thead>
<tbody>${own.map(column => columnRow(column, table, dictionary))}</tbody></table>
<p class="quiet">And <a href="#engine">the columns of every table</a>: ${engineNames.join(", ")}.</p>
</section>`;
}

const fact = (title: string, text: unknown) => html`<div><dt>${title}</dt><dd>${text}</dd></div>`;

function rowsOf({ sample }: TableEntry) {
  if (sample?.counted === undefined) return "";
  const { rows, live, completeTo } = sample.counted;
  const gone = rows === live ? "" : `, ${formatCount(rows - live)} no longer listed`;
  const complete = completeTo === undefined ? "" : `, complete to ${completeTo.slice(0, 16).replace("T", " ")} UTC`;
  return fact("Rows", `${formatCount(live)} live${gone}${complete}`);
}

function related(title: string, links: readonly Link[], outwards: boolean) {
  if (links.length === 0) return "";
  const items = links.map(link => {
    const other = outwards ? link.to : link.from;
    const sure = link.certain ? "" : html` <span class="pill">assumed</span>`;
    return html`<li><a href="#t.${other}">${other}</a> by <code>${joinOf(link)}</code>${sure}${link.certain ? "" : html` <span class="quiet">${link.note}</span>`}</li>`;
  });
  const list = html`<ul>${items}</ul>`;
  return fact(
    title,
    links.length < 9 ? list : html`<details><summary>${links.length} tables</summary>${list}</details>`,
  );
}

function columnRow(column: ColumnDescription, table: TableEntry, { sample, uses }: Dictionary) {
  const { name, description, currency, api_path, volatile, personal, treatment } = column;
  const path = api_path === null ? undefined : html`API: <code>${api_path === "" ? "the whole row" : api_path}</code>`;
  const more = [
    nullOf(column),
    currency ?? undefined,
    treatment === null ? undefined : treatments[treatment],
    table.warnings.get(name),
    path,
    listed("Read by", "view columns", uses.get(`${table.name}.${name}`) ?? []),
  ].filter(part => part !== undefined);
  const examples = table.sample?.examples.get(name) ?? [];
  const key = table.key.includes(name) ? html` <span class="pill">key</span>` : "";
  const moves = volatile ? html` <span class="pill">volatile</span>` : "";
  const care = treatment === null ? (personal ? "personal" : "") : { hash: "hashed", mask: "masked" }[treatment];
  const person = care === "" ? "" : html` <span class="pill">${care}</span>`;
  return html`<tr id="c.${table.name}.${name}" data-entry="${table.name}.${name}"><th scope="row"><code>${name}</code>${key}${moves}${person}</th><td class="types">${types(column)}<span class="quiet">${sortOf(column)}</span></td><td>${description}${more.length === 0 ? "" : html` <span class="quiet">${more.map((part, index) => html`${index === 0 ? "" : " "}${part}`)}</span>`}</td>${sample !== undefined ? html`<td class="examples">${examples.map(text => html`<code>${text}</code> `)}</td>` : ""}</tr>`;
}

export const types = ({ duckdb, postgres }: { readonly duckdb: string; readonly postgres: string }) =>
  html`<code>${duckdb}</code><span class="unseen"> in DuckDB</span> / <code>${postgres}</code><span class="unseen"> in PostgreSQL, </span> `;

function listed(title: string, many: string, columns: ModelColumnEntry["from"]) {
  if (columns.length === 0) return undefined;
  const links = columns.map(
    ({ id, table, column }, index) => html`${index === 0 ? "" : ", "}<a href="#${id}">${table}.${column}</a>`,
  );
  return columns.length < 5
    ? html`${title} ${links}.`
    : html`<details><summary>${title} ${columns.length} ${many}</summary>${links}</details>`;
}

function modelRow({ name: model, key }: ModelEntry, column: ModelColumnEntry) {
  const { name, description, from, fields, steps } = column;
  const made = listed("From", "columns", from) ?? "Counted or said by the view itself.";
  const ends = [...Map.groupBy(fields, ({ source }) => source)].map(([source, of]) => {
    const paths = of.map(({ id, path }, index) => html`${index === 0 ? "" : ", "}<a href="#${id}">${path}</a>`);
    return html`<code>${source}</code>: ${paths}`;
  });
  const api =
    ends.length < 2
      ? ends.map(end => html` API: ${end}.`)
      : html`<details><summary>API: ${formatCount(fields.length)} fields</summary><ul>${ends.map(end => html`<li>${end}</li>`)}</ul></details>`;
  const way = [...new Set(steps.flatMap(({ by, of }) => [by, of]))].join(" ");
  return html`<tr id="c.${model}.${name}" data-entry="${model}.${name}" data-way="${way}"><th scope="row"><code>${name}</code>${key.includes(name) ? html` <span class="pill">key</span>` : ""}</th><td class="types">${types(column)}</td><td>${description} <div class="quiet">${made}${api}</div></td></tr>`;
}

export function modelSection(model: ModelEntry, { schemas, models }: Dictionary) {
  const { name, description, needs, optional, key, columns, missing, out, in: into, sql } = model;
  const linked = (names: readonly string[]) => {
    const links = names.map((other, index) => html`${index === 0 ? "" : ", "}<a href="#t.${other}">${other}</a>`);
    return names.length < 9 ? links : html`<details><summary>${names.length} tables</summary>${links}</details>`;
  };
  const drawn = figure(lineageDiagram(model, new Set(models.map(each => each.name))));
  return html`<section class="entry" id="t.${name}" data-entry="${name}">
<h3><a href="#t.${name}">${name}</a> <span class="pill">view</span></h3>
<p class="lead">${description}</p>
<dl>
${schemas.views === undefined ? "" : fact("Name in SQL", html`<code>${schemas.views}.${name}</code>`)}
${fact("Key", html`<code>${key.join(", ")}</code>`)}
${needs.length === 0 ? "" : fact("Made of", linked(needs))}
${optional.length === 0 ? "" : fact("And where they are there", linked(optional))}
${missing === undefined ? "" : fact("Not there", missing)}
${related("Points at", out, true)}
${related("Pointed at by", into, false)}
</dl>
${drawn === "" ? "" : html`<details class="lineage"><summary>Where it comes from, drawn</summary><p class="pick" hidden><label>Way of <select></select></label></p>${drawn}</details>`}
${sql === undefined ? "" : html`<details class="sql"><summary>SQL</summary><pre class="scroll" tabindex="0" role="region" aria-label="SQL of ${name}"><code>${sql}</code></pre></details>`}
<table><caption class="unseen">Columns of ${name}</caption><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${columns.map(column => modelRow(model, column))}</tbody></table>
</section>`;
}

export function stateSection({ name, description, columns }: StateEntry) {
  return html`<section class="entry" id="s.${name}" data-entry="${name}">
<h3><a href="#s.${name}">${name}</a></h3>
<p class="lead">${description}</p>
<table><caption class="unseen">Columns of ${name}</caption><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${columns.map(column => html`<tr id="sc.${name}.${column.name}" data-entry="${name}.${column.name}"><th scope="row"><code>${column.name}</code></th><td class="types">${types(column)}</td><td>${column.comment}</td></tr>`)}</tbody></table>
</section>`;
}
