import { formatCount } from "../../counted.ts";
import { treatments } from "../../warehouse/ddl/comments.ts";
import { domainDiagram, drawingFile, overviewDiagram } from "./diagram.ts";
import type { Dictionary, Domain, TableEntry } from "./dictionary.ts";
import { joinOf, type Link } from "./links.ts";
import { nullOf, readingOf, sortOf, sourceOf } from "./wording.ts";

export interface MarkdownFile {
  readonly name: string;
  readonly text: string;
}

/** The dictionary as Markdown: a page a subject, its drawing beside it, and README.md that leads to them. */
export function dictionaryMarkdown(dictionary: Dictionary): readonly MarkdownFile[] {
  const pageOf = pagesOf(dictionary);
  const address = (table: string) => `${pageOf.get(table)}#${table}`;
  const drawings = dictionary.domains.flatMap(domain => {
    const shown = domainDiagram(domain);
    return shown.layout.boxes.length < 2 ? [] : [{ name: `${domain.slug}.svg`, text: drawingFile(shown, address) }];
  });
  const drawn = new Set(drawings.map(({ name }) => name));
  return [
    { name: "README.md", text: contents(dictionary, address) },
    { name: "overview.svg", text: drawingFile(overviewDiagram(dictionary), address) },
    ...drawings,
    ...dictionary.domains.map(domain => ({
      name: `${domain.slug}.md`,
      text: domainPage(domain, dictionary, address, drawn.has(`${domain.slug}.svg`)),
    })),
    ...(dictionary.models.length === 0 ? [] : [{ name: VIEWS, text: modelPage(dictionary, address) }]),
    { name: STATE, text: statePage(dictionary) },
  ];
}

const VIEWS = "views.md";
const STATE = "state.md";

type Address = (table: string) => string;

function pagesOf({ domains, models }: Dictionary): ReadonlyMap<string, string> {
  return new Map([
    ...domains.flatMap(({ slug, tables }) => tables.map(({ name }) => [name, `${slug}.md`] as const)),
    ...models.map(({ name }) => [name, VIEWS] as const),
  ]);
}

function contents({ domains, models, schemas, engine, links }: Dictionary, address: Address): string {
  const tables = domains.flatMap(domain => domain.tables);
  const view =
    schemas.views === undefined ? "" : ` Schema \`${schemas.views}\` has each of them once more with live rows only.`;
  const assumed = links.filter(({ certain }) => !certain);
  return page([
    "# Data dictionary",
    `${formatCount(tables.length)} tables in schema \`${schemas.data}\`.${view} \`_deleted_at is null\` is what the service lists at present. Every join goes by \`_company\` and the columns named here.`,
    "![How the main tables hang together](overview.svg)",
    ...(models.length === 0
      ? []
      : [
          `## Views that answer questions`,
          list(models.map(({ name, description }) => `[${name}](${address(name)}): ${description}`)),
        ]),
    "## Tables by subject",
    ...domains.flatMap(({ title, slug, tables }) => [
      `### [${title}](${slug}.md)`,
      list(tables.map(({ name, description }) => `[${name}](${address(name)}): ${description}`)),
    ]),
    "## Columns of every table",
    grid(
      ["column", "DuckDB", "PostgreSQL", "what it is"],
      engine.map(({ name, duckdb, postgres, comment }) => [code(name), duckdb, postgres, comment]),
    ),
    ...(assumed.length === 0
      ? []
      : [
          "## Relations that are assumed",
          "Each run measures how many rows find their partner.",
          list(assumed.map(link => `${relation(link, address)}`)),
        ]),
    `## More`,
    list([`[What the program keeps about its work](${STATE}), in schema \`${schemas.state}\``]),
  ]);
}

function domainPage(domain: Domain, dictionary: Dictionary, address: Address, drawn: boolean): string {
  return page([
    `# ${domain.title}`,
    "[All tables](README.md)",
    ...(drawn ? [`![How these tables hang together](${domain.slug}.svg)`] : []),
    ...domain.tables.flatMap(table => tablePart(table, dictionary, address)),
  ]);
}

function tablePart(table: TableEntry, { schemas, sample }: Dictionary, address: Address): readonly string[] {
  const { name, description, main, stream, out, own, engineNames } = table;
  const facts = [
    `Name in SQL: \`${schemas.data}.${name}\``,
    `Key: \`${table.key.join(", ")}\``,
    `Comes from: \`${sourceOf(table)}\`${stream.on ? "" : " (the stream is off)"}`,
    main === undefined ? `Read: ${readingOf(stream)}` : `Child of [${main}](${address(main)}), read with it.`,
    `Deleted rows: ${table.deletion}`,
    ...(table.sample?.counted === undefined ? [] : [`Rows: ${formatCount(table.sample.counted.live)} live`]),
    ...(table.versioned
      ? [
          `Every version: \`${schemas.data}.${name}_versions\`; as of a moment \`${schemas.data}.${name}_as_of('2026-01-31')\``,
        ]
      : []),
    ...out.map(link => `Points at ${relation(link, address)}`),
  ];
  const rows = own.map(column => [
    code(column.name),
    `${column.duckdb}<br>${column.postgres}`,
    sortOf(column),
    [
      column.description,
      nullOf(column),
      table.warnings.get(column.name),
      column.currency,
      column.personal ? "Personal." : undefined,
      column.treatment === null ? undefined : treatments[column.treatment],
      column.volatile ? "Volatile." : undefined,
      column.api_path ? `API: ${code(column.api_path)}` : undefined,
    ]
      .filter(part => part != null)
      .join(" "),
    ...(sample === undefined ? [] : [(table.sample?.examples.get(column.name) ?? []).map(code).join(", ")]),
  ]);
  const titles = ["column", "type", "holds", "what it is", ...(sample === undefined ? [] : ["examples"])];
  return [
    `## ${name}`,
    description,
    list(facts),
    grid(titles, rows),
    `And [the columns of every table](README.md#columns-of-every-table): ${engineNames.map(code).join(", ")}.`,
  ];
}

function modelPage({ models, schemas }: Dictionary, address: Address): string {
  return page([
    "# Views that answer questions",
    "[All tables](README.md)",
    ...models.flatMap(({ name, description, needs, optional, key, columns, missing, out, sql }) => [
      `## ${name}`,
      description,
      list([
        `Name in SQL: \`${schemas.views}.${name}\``,
        `Key: \`${key.join(", ")}\``,
        ...(needs.length === 0 ? [] : [`Made of ${needs.map(other => linked(other, address)).join(", ")}`]),
        ...(optional.length === 0
          ? []
          : [`And where they are there ${optional.map(other => linked(other, address)).join(", ")}`]),
        ...(missing === undefined ? [] : [missing]),
        ...out.map(link => `Points at ${relation(link, address)}`),
      ]),
      grid(
        ["column", "type", "what it is", "made from", "API"],
        columns.map(({ name, duckdb, postgres, description, from, fields }) => [
          ...[code(name), `${duckdb}<br>${postgres}`, description],
          from.map(({ table, column }) => code(`${table}.${column}`)).join(", "),
          fields.map(({ source, path }) => code(`${source}: ${path}`)).join(", "),
        ]),
      ),
      ...(sql === undefined ? [] : [`<details><summary>SQL</summary>\n\n\`\`\`sql\n${sql}\n\`\`\`\n\n</details>`]),
    ]),
  ]);
}

function statePage({ state, schemas }: Dictionary): string {
  return page([
    "# What the program keeps about its work",
    `In schema \`${schemas.state}\`. [All tables](README.md)`,
    ...state.flatMap(({ name, description, columns }) => [
      `## ${name.replace("<", "\\<")}`,
      description,
      grid(
        ["column", "DuckDB", "PostgreSQL", "what it is"],
        columns.map(column => [code(column.name), column.duckdb, column.postgres, column.comment]),
      ),
    ]),
  ]);
}

const linked = (table: string, address: Address): string => `[${table}](${address(table)})`;

function relation(link: Link, address: Address): string {
  const note = link.certain ? "" : ` ${link.note}`;
  return `${linked(link.to, address)}: ${code(`${link.from}`)} by ${code(joinOf(link))}${link.certain ? "" : " (assumed)"}.${note}`;
}

const page = (parts: readonly string[]): string => `${parts.filter(part => part !== "").join("\n\n")}\n`;
const list = (items: readonly string[]): string => items.map(item => `- ${item}`).join("\n");
const code = (text: string): string => `\`${text}\``;

function grid(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return [titles, titles.map(() => "---"), ...rows].map(cells => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}
