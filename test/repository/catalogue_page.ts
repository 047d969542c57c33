import { INDEX_COLUMN, type Table } from "../../src/catalog/columns.ts";
import type { Stream, StreamGroup } from "../../src/catalog/stream.ts";

/** The text of docs/streams.md, what can be read and the tables it becomes, worked out from the catalogue. */
export function cataloguePage(groups: readonly StreamGroup[]): string {
  const streams = groups.flatMap(group => group.streams);
  const tables = streams.flatMap(tablesOf);
  const presets = (["core", "standard", "all", "lookup"] as const).map(
    preset => `${streams.filter(stream => stream.preset === preset).length} ${preset}`,
  );
  const head = [
    "# Streams and tables",
    `${streams.length} streams in ${groups.length} groups fill ${tables.length} tables (${presets.join(", ")}). A preset includes those before it;`,
    "lookups run once the configuration gives them values. `tributary streams <name>` shows a stream with its columns.",
    "This page is made from the catalogue by `npm run generate`.",
  ];
  return `${[
    head
      .join("\n\n")
      .replace(/;\n\n/, ";\n")
      .replace(/columns\.\n\n/, "columns.\n"),
    ...groups.map(section),
    linesSection(streams),
  ].join("\n\n")}\n`;
}

function section({ title, streams }: StreamGroup): string {
  const rows = streams.map(stream => [
    `\`${stream.name}\``,
    `\`/api/v1${stream.path}\``,
    stream.preset,
    tablesOf(stream)
      .map(name => `\`${name}\``)
      .join(", "),
  ]);
  const lines = [["stream", "endpoint", "preset", "tables"], ["---", "---", "---", "---"], ...rows];
  return [`## ${title}`, lines.map(cells => `| ${cells.join(" | ")} |`).join("\n")].join("\n\n");
}

/** What `_line_id` is made of, table by table. */
function linesSection(streams: readonly Stream[]): string {
  const numberOf = ({ columns }: Table) => columns.find(({ identifies }) => identifies)?.name;
  const lines = Map.groupBy(
    streams.flatMap(({ tables }) => tables.children),
    child => numberOf(child) ?? "",
  );
  const placed = streams.map(({ tables }) => tables.main).filter(({ key }) => key.includes(INDEX_COLUMN));
  const list = (tables: readonly Table[]) => tables.map(({ name }) => `\`${name}\``).join(", ");
  const numbered = [...lines.entries()].filter(([column]) => column !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    "## What tells lines apart",
    "`_line_id` of a child table ([tables.md](tables.md#lines)) is the column named here, or a hash of the line's values\nwhere that is null or stands in another line of the row too:",
    ["| column | tables |", "| --- | --- |", ...numbered.map(([name, own]) => `| \`${name}\` | ${list(own)} |`)].join(
      "\n",
    ),
    "In these tables the service numbers no line: `_line_id` is a hash of the line's values, and a line of which a value changes is another line.",
    list(lines.get("") ?? []),
    "Rows of these tables have no `_line_id`: `_index` is their place among those whose key is otherwise the same, and nothing says that the row in that place is the same one tomorrow.",
    list(placed),
  ].join("\n\n");
}

const tablesOf = ({ tables }: Stream): readonly string[] => [tables.main, ...tables.children].map(({ name }) => name);
