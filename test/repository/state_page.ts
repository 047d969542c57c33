import { describeState } from "../../src/outputs/dictionary/dictionary.ts";
import { readableState } from "../../src/warehouse/ddl/grants.ts";
import { duckdbDialect } from "../../src/warehouse/duckdb/session/dialect.ts";
import { ddlScript } from "../../src/warehouse/schema/ddl_script.ts";

/** The text of docs/state-tables.md: every table of the state schema with its columns, from the comments in the code. */
export function statePage(): string {
  const entries = describeState();
  const head = `# State tables

The schema \`_tributary\` stands beside the data and is written in the same transactions. Roles in \`grant_select_to\` may read
${readableState.map(name => `\`${name}\``).join(", ")}; the others are the program's own memory and may change with any version.
This page is made from the code by \`npm run generate\`.`;
  const sections = entries.map(({ name, description, columns }) => {
    const rows = columns.map(column => [
      `\`${column.name}\``,
      `${column.duckdb} / ${column.postgres}`,
      column.comment.replaceAll("|", "\\|"),
    ]);
    const lines = [["column", "type (DuckDB / PostgreSQL)", "what it holds"], ["---", "---", "---"], ...rows];
    return `## ${name}\n\n${description}\n\n${lines.map(cells => `| ${cells.join(" | ")} |`).join("\n")}`;
  });
  return `${[head, ...sections].join("\n\n")}\n`;
}

/** The statements that make the state tables in DuckDB, one a line. */
export function stateTablesFile(): string {
  const place = { schema: "procurement", stateSchema: "_tributary", grantSelectTo: [], versioned: new Set<string>() };
  const script = ddlScript(duckdbDialect, { ...place, streams: [], comment: () => "" });
  return `${script
    .split("\n")
    .filter(line => /^create (schema|table) "_tributary"/.test(line))
    .join("\n")}\n`;
}
