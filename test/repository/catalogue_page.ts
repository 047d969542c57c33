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

const tablesOf = ({ tables }: Stream): readonly string[] => [tables.main, ...tables.children].map(({ name }) => name);
