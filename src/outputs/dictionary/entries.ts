import { html } from "hono/html";
import { treatments } from "../../warehouse/ddl/comments.ts";
import { count } from "../html/wording.ts";
import { type Diagram, drawing } from "./diagram.ts";
import type { Dictionary, ModelEntry, StateEntry, TableEntry } from "./dictionary.ts";
import { joinOf, type Link } from "./links.ts";
import type { ColumnDescription } from "./stream_description.ts";
import { keyOf, nullOf, readingOf, sortOf, sourceOf } from "./wording.ts";

/** A drawing with what it shows in words. */
export function figure(diagram: Diagram) {
  const { layout, relations, leftOut, title } = diagram;
  if (layout.boxes.length < 2) return "";
  const words = [...relations.values()].flatMap(relation => relation.words.split("; "));
  return html`<figure><div class="scroll" tabindex="0" role="region" aria-label="Drawing of ${title}">${drawing(diagram, table => `#t.${table}`)}</div>
<figcaption>${leftOut.length === 0 ? "" : html`<p class="quiet">${leftOut.join(" ")}</p>`}${words.length === 0 ? "" : html`<details><summary>In words (${count(words.length)})</summary><ul>${words.map(text => html`<li>${text}</li>`)}</ul></details>`}</figcaption></figure>`;
}

export function tableSection(table: TableEntry, { schemas, sample }: Dictionary) {
  const { name, description, stream, main, own, engineNames } = table;
  return html`<section class="entry" id="t.${name}" data-entry="${name}">
<h3><a href="#t.${name}">${name}</a>${stream.on ? "" : html` <span class="pill">off</span>`}</h3>
<p class="lead">${description}</p>
<dl>
${fact("Name in SQL", html`<code>${schemas.data}.${name}</code>${schemas.views === undefined ? "" : html`, live rows alone <code>${schemas.views}.${name}</code>`}`)}
${fact("Key", html`<code>${keyOf(table)}</code>`)}
${fact("Comes from", html`<code>${sourceOf(table)}</code>`)}
${main === undefined ? fact("Read", readingOf(stream)) : fact("Child of", html`<a href="#t.${main}">${main}</a>, read with it`)}
${fact("Deleted rows", table.deletion)}
${rowsOf(table)}
${table.versioned ? fact("Every version", html`<code>${schemas.data}.${name}_versions</code>; as of a moment <code>${schemas.data}.${name}_as_of('2026-01-31')</code>`) : ""}
${related("Points at", table.out, true)}
${related("Pointed at by", table.in, false)}
</dl>
<table><caption class="unseen">Columns of ${name}</caption>
<thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">What it is</th>${sample === undefined ? "" : html`<th scope="col">Examples</th>`}</tr></thead>
<tbody>${own.map(column => columnRow(column, table, sample !== undefined))}</tbody></table>
<p class="quiet">And <a href="#engine">the columns of every table</a>: ${engineNames.join(", ")}.</p>
</section>`;
}

const fact = (title: string, text: unknown) => html`<div><dt>${title}</dt><dd>${text}</dd></div>`;

function rowsOf({ sample }: TableEntry) {
  if (sample?.counted === undefined) return "";
  const { rows, live, completeTo } = sample.counted;
  const gone = rows === live ? "" : `, ${count(rows - live)} no longer listed`;
  const complete = completeTo === undefined ? "" : `, complete to ${completeTo.slice(0, 16).replace("T", " ")} UTC`;
  return fact("Rows", `${count(live)} live${gone}${complete}`);
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

function columnRow(column: ColumnDescription, table: TableEntry, withExamples: boolean) {
  const { name, description, currency, api_path, volatile, personal, treatment } = column;
  const path = api_path === null ? undefined : html`API: <code>${api_path === "" ? "the whole row" : api_path}</code>`;
  const more = [
    nullOf(column),
    currency ?? undefined,
    treatment === null ? undefined : treatments[treatment],
    table.warnings.get(name),
    path,
  ].filter(part => part !== undefined);
  const examples = table.sample?.examples.get(name) ?? [];
  const key = table.key.includes(name) ? html` <span class="pill">key</span>` : "";
  const moves = volatile ? html` <span class="pill">volatile</span>` : "";
  const care = treatment === null ? (personal ? "personal" : "") : { hash: "hashed", mask: "masked" }[treatment];
  const person = care === "" ? "" : html` <span class="pill">${care}</span>`;
  return html`<tr id="c.${table.name}.${name}" data-entry="${table.name}.${name}"><th scope="row"><code>${name}</code>${key}${moves}${person}</th><td class="types">${types(column)}<span class="quiet">${sortOf(column)}</span></td><td>${description}${more.length === 0 ? "" : html` <span class="quiet">${more.map((part, index) => html`${index === 0 ? "" : " "}${part}`)}</span>`}</td>${withExamples ? html`<td class="examples">${examples.map(text => html`<code>${text}</code> `)}</td>` : ""}</tr>`;
}

export const types = ({ duckdb, postgres }: { readonly duckdb: string; readonly postgres: string }) =>
  html`<code>${duckdb}</code><span class="unseen"> in DuckDB</span> / <code>${postgres}</code><span class="unseen"> in PostgreSQL, </span> `;

export function modelSection(
  { name, description, needs, optional, key, columns, missing, out, in: into }: ModelEntry,
  { schemas }: Dictionary,
) {
  const linked = (names: readonly string[]) => {
    const links = names.map((other, index) => html`${index === 0 ? "" : ", "}<a href="#t.${other}">${other}</a>`);
    return names.length < 9 ? links : html`<details><summary>${names.length} tables</summary>${links}</details>`;
  };
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
<table><caption class="unseen">Columns of ${name}</caption><thead><tr><th scope="col">Column</th><th scope="col">What it is</th></tr></thead>
<tbody>${columns.map(column => html`<tr id="c.${name}.${column.name}" data-entry="${name}.${column.name}"><th scope="row"><code>${column.name}</code>${key.includes(column.name) ? html` <span class="pill">key</span>` : ""}</th><td>${column.description}</td></tr>`)}</tbody></table>
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
