import { duckdbDialect } from "../../src/warehouse/duckdb/session/dialect.ts";
import { ddlScript } from "../../src/warehouse/schema/ddl_script.ts";

/** The statements that make the state tables in DuckDB, one a line. */
export function stateTablesFile(): string {
  const place = { schema: "procurement", stateSchema: "_tributary", grantSelectTo: [], versioned: new Set<string>() };
  const script = ddlScript(duckdbDialect, { ...place, streams: [], comment: () => "" });
  return `${script
    .split("\n")
    .filter(line => /^create (schema|table) "_tributary"/.test(line))
    .join("\n")}\n`;
}
