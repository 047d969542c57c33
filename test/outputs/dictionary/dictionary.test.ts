import { beforeAll, describe, expect, test } from "vitest";
import { domainDiagram, lineageDiagram } from "../../../src/outputs/dictionary/diagram.ts";
import type { Dictionary } from "../../../src/outputs/dictionary/dictionary.ts";
import { dictionaryDocument } from "../../../src/outputs/dictionary/dictionary_page.ts";
import { dictionaryMarkdown, type MarkdownFile } from "../../../src/outputs/dictionary/markdown.ts";
import { sortOf } from "../../../src/outputs/dictionary/wording.ts";
import { streams } from "../../../streams/index.ts";
import { wholeDictionary } from "./dictionaries.ts";

let dictionary: Dictionary;
let page: string;
let files: readonly MarkdownFile[];
beforeAll(async () => {
  dictionary = await wholeDictionary();
  page = dictionaryDocument(dictionary);
  files = dictionaryMarkdown(dictionary);
});

const tables = streams.flatMap(({ tables: { main, children } }) => [main, ...children]);
const textOf = (html: string) =>
  html
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** By `table.column`. */
const rowsOf = (page: string) =>
  new Map([...page.matchAll(/<tr id="c\.([^"]+)".*?<\/tr>/gs)].map(([row, name]) => [name!, textOf(row)]));

describe("the page", () => {
  test("has every table and every column, with what is said of it", () => {
    const text = textOf(page);
    const rows = rowsOf(page);
    const leads = new Map(
      [...page.matchAll(/ id="t\.([^"]+)".*?class="lead">(.*?)<\/p>/gs)].map(([, name, lead]) => [
        name!,
        textOf(lead!),
      ]),
    );
    const missing = tables.flatMap(table => [
      ...(leads.get(table.name) === table.description ? [] : [table.name]),
      ...table.columns
        .map(column => ({ at: `${table.name}.${column.name}`, column }))
        .filter(({ at, column }) => !rows.get(at)?.includes(`>${column.description}`))
        .map(({ at }) => at),
    ]);
    expect(missing).toEqual([]);
    for (const { name, columns } of [...dictionary.models, ...dictionary.state])
      for (const column of columns) expect(text).toContain(`data-entry="${name}.${column.name}"`);
    for (const { name } of dictionary.engine) expect(rows.has(name)).toBe(true);
  });

  test("leads nowhere but to its own places, each of which is there once", () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    expect(ids.filter((id, at) => ids.indexOf(id) < at)).toEqual([]);
    const known = new Set(ids);
    const hrefs = [...page.matchAll(/ (?:href|src)="([^"]+)"/g)]
      .map(([, href]) => href!)
      .filter(href => href !== "data:,");
    expect(hrefs.length).toBeGreaterThan(1_000);
    expect(hrefs.filter(href => !(href.startsWith("#") && known.has(href.slice(1))))).toEqual([]);
    expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });

  test("is the same each time", async () => {
    expect(dictionaryDocument(await wholeDictionary())).toBe(page);
    expect(dictionaryMarkdown(await wholeDictionary())).toEqual(files);
  });

  test("says what stands in a warehouse's way of a view, and which tables nobody fills", async () => {
    const some = await wholeDictionary(["invoices", "invoice_matches"]);
    const missing = (name: string) => some.models.find(model => model.name === name)!.missing;
    expect(missing("three_way_match")).toMatch(/^It is not made as long as the streams? .*invoice/);
    expect(missing("calendar_today")).toBeUndefined();
    expect(dictionary.models.map(model => model.missing).filter(text => text !== undefined)).toEqual([]);
    expect(dictionaryDocument(some)).toMatch(/<a href="#t.invoices">invoices<\/a> <span class="pill">off<\/span>/);
  });

  test("says what is alike in no two rows of a view, what its columns point at and what points at it", () => {
    const section = (name: string) => page.split(` id="t.${name}"`)[1]!.split("</section>")[0]!;
    expect(section("dim_vendors")).toContain("<dt>Key</dt><dd><code>_company, vendor_id</code></dd>");
    expect(section("dim_vendors")).toContain(
      '<a href="#t.three_way_match">three_way_match</a> by <code>vendor_id</code>',
    );
    expect(section("three_way_match")).toContain('<code>line_index</code> <span class="pill">key</span>');
    expect(section("three_way_match")).toContain('<a href="#t.invoices">invoices</a> by <code>doc_id</code>');
    const views = files.find(({ name }) => name === "views.md")!.text;
    expect(views).toContain("- Key: `_company, doc_id, line_index`");
    expect(views).toContain("- Points at [invoices](core.md#invoices): `three_way_match` by `doc_id`.");
  });

  test("says of a view's column its types, what it is made from down to the API, and where a table's column goes", () => {
    const rows = rowsOf(page);
    const row = (id: string) => rows.get(id)!;
    for (const { name, columns } of dictionary.models)
      for (const column of columns) expect(row(`${name}.${column.name}`)).toContain(`<code>${column.postgres}</code>`);
    expect(row("three_way_match.line_total")).toMatch(/<code>DECIMAL\(38,9\)<\/code>.*<code>numeric<\/code>/);
    const vendor = row("three_way_match.vendor_name");
    expect(vendor).toContain(
      'From <a href="#c.dim_vendors.vendor_name">dim_vendors.vendor_name</a>, <a href="#c.invoices.vendor_name">',
    );
    expect(vendor).toMatch(/API: \d\d fields.*<code>GET \/api\/v1\/reconciliation<\/code>: .*">vendor_name<\/a>/);
    expect(row("invoices.document_number")).toContain('<a href="#c.three_way_match.document_number">');
    expect(row("calendar_today.today")).toContain("Counted or said by the view itself.");
    expect(row("data_freshness.stream")).toContain('<a href="#s.');
    expect(page).toMatch(/<details class="sql"><summary>SQL<\/summary>.*select 1<\/code>/);
    const views = files.find(({ name }) => name === "views.md")!.text;
    expect(views).toMatch(
      /\| `line_total` \| DECIMAL\(38,9\)<br>numeric \|.*`invoice_line_differences\.line_total` \| `GET /,
    );
    expect(views).toContain("```sql\nselect 1\n```");
  });

  test("draws where a view comes from, down to endpoints; one that brings many together is a box with their number", () => {
    const models = new Set(dictionary.models.map(({ name }) => name));
    const drawn = (name: string) => lineageDiagram(dictionary.models.find(model => model.name === name)!, models).nodes;
    expect(drawn("three_way_match").get("dim_vendors")?.more).toMatch(/^view of \d\d others$/);
    expect(drawn("three_way_match").get("/api/v1/reconciliation")).toMatchObject({ told: "invoices", elsewhere: true });
    expect(drawn("three_way_match").has("contracts")).toBe(false);
    expect(drawn("dim_vendors").has("contracts")).toBe(true);
    for (const { name, columns } of dictionary.models)
      for (const { from } of columns)
        expect([...drawn(name).keys()]).toEqual(expect.arrayContaining(from.map(f => f.table)));
  });

  test("says where every version of a row is kept, which columns are no join, and what is only assumed", () => {
    const section = (name: string) => page.split(` id="t.${name}"`)[1]!.split("</section>")[0]!;
    expect(section("items")).toContain("procurement.items_versions");
    expect(section("invoices")).not.toContain("_versions");
    expect(section("invoices")).toMatch(/buyer_po_number.*Not to be joined with purchase_orders\.po_number: /s);
    expect(section("invoices")).toMatch(
      /#t\.purchase_orders">purchase_orders<\/a> by <code>matched_po_number = po_number<\/code> <span class="pill">assumed/,
    );
  });

  test("shows a name that could be markup as text", () => {
    const [domain, ...others] = dictionary.domains;
    const [table, ...rest] = domain!.tables;
    const odd = {
      ...dictionary,
      domains: [{ ...domain!, tables: [{ ...table!, description: "<b>x</b> & 'y'" }, ...rest] }, ...others],
    };
    expect(dictionaryDocument(odd)).toContain("&lt;b&gt;x&lt;/b&gt; &amp; &#39;y&#39;");
  });
});

describe("the Markdown", () => {
  const headings = (text: string) =>
    new Set(
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title!
          .toLowerCase()
          .replace(/[^\w ]/g, "")
          .replaceAll(" ", "-"),
      ),
    );

  test("has every table under its own heading, and every column", () => {
    const texts = new Map(files.map(({ name, text }) => [name, text]));
    for (const { slug, tables } of dictionary.domains) {
      const text = texts.get(`${slug}.md`)!;
      for (const table of tables) {
        const part = text.split(`\n## ${table.name}\n`)[1]?.split("\n## ")[0] ?? "";
        expect(
          table.own
            .filter(({ name }) => !part.includes(`\n| \`${name}\` |`))
            .map(({ name }) => `${table.name}.${name}`),
        ).toEqual([]);
      }
    }
  });

  test("its links and pictures lead to files and headings that are there", () => {
    const texts = new Map(files.map(({ name, text }) => [name, text]));
    const broken = files.flatMap(({ name, text }) => {
      const links = name.endsWith(".svg") ? text.matchAll(/href="([^"]+)"/g) : text.matchAll(/\]\(([^)]+)\)/g);
      return [...links]
        .map(([, target]) => target!)
        .filter(target => {
          const [file = "", heading] = target.split("#");
          const there = texts.get(file);
          return there === undefined || (heading !== undefined && !headings(there).has(heading));
        })
        .map(target => `${name}: ${target}`);
    });
    expect(broken).toEqual([]);
    expect(files.length).toBeGreaterThan(40);
  });

  test("has tables of as many cells as their heading", () => {
    const odd = files.flatMap(({ name, text }) =>
      text
        .split("\n\n")
        .filter(block => block.startsWith("| "))
        .flatMap(block => {
          const cells = block
            .trim()
            .split("\n")
            .map(line => line.replaceAll("\\|", "").split("|").length);
          return cells.every(count => count === cells[0]) ? [] : [`${name}: ${block.slice(0, 80)}`];
        }),
    );
    expect(odd).toEqual([]);
  });
});

test("a drawing has each of a subject's tables, and what its details were asked for", () => {
  for (const domain of dictionary.domains) {
    const { layout } = domainDiagram(domain);
    const drawn = new Set(layout.boxes.map(({ id }) => id));
    expect(domain.tables.filter(({ name }) => !drawn.has(name))).toEqual([]);
    for (const { stream } of domain.tables) if (stream.parent !== null) expect(drawn).toContain(stream.parent);
  }
});

test("units are those that names tell", () => {
  expect(sortOf({ name: "due_in_days", kind: "count" })).toBe("days");
  expect(sortOf({ name: "duration_ms", kind: "quantity" })).toBe("milliseconds");
  expect(sortOf({ name: "line_count", kind: "count" })).toBe("whole number");
  expect(sortOf({ name: "price_cents", kind: "money" })).toBe("money, in cents");
  expect(sortOf({ name: "days_open", kind: "text" })).toBe("text");
});
