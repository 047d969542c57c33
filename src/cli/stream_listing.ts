import type { StreamDescription } from "../catalogue.ts";
import { formatTable } from "./table.ts";

/** The catalogue, a line a stream, grouped by the smallest preset that has them. */
export function streamListing(streams: readonly StreamDescription[]): string {
  const groups = Map.groupBy(streams, stream => stream.preset);
  const rows = streams.map(one => [one.name, one.mode, one.endpoint, one.key.join(", "), one.on ? "on" : "off"]);
  const columns = [{ title: "stream" }, { title: "mode" }, { title: "endpoint" }, { title: "key" }, { title: "" }];
  const [heading = "", ...lines] = formatTable(columns, rows).split("\n");
  const blocks = [...groups].map(([preset, members]) => {
    const own = members.map(member => lines[streams.indexOf(member)]);
    return [`preset ${preset}`, ...own.map(line => `  ${line}`)].join("\n");
  });
  return [`  ${heading}`, ...blocks, "`tributary streams <name>` shows one in full, with its tables and columns."].join(
    "\n\n",
  );
}

/** One stream in full: where it comes from, its tables, their columns with the types of both databases. */
export function streamSheet(stream: StreamDescription): string {
  const query = Object.entries(stream.query).map(([name, value]) => `${name}=${value}`);
  const facts = [
    ["endpoint", `GET ${stream.endpoint}${query.length === 0 ? "" : `?${query.join("&")}`}`],
    [
      "mode",
      stream.parent === null ? stream.mode : `${stream.mode} of ${stream.parent}: one request for each of its rows`,
    ],
    ["key", `_company, ${stream.key.join(", ")}`],
    ["preset", stream.preset],
    ["state", stream.on ? "on" : "off"],
  ];
  const heading = `${stream.name}\n${formatTable([{ title: "" }, { title: "" }], facts)}`;
  const tables = stream.tables.map(table => {
    const columns = [{ title: "column" }, { title: "DuckDB" }, { title: "PostgreSQL" }, { title: "what it is" }];
    const rows = table.columns.map(column => [column.name, column.duckdb, column.postgres, column.comment]);
    return `${table.name}: ${table.comment}\n\n${formatTable(columns, rows)}`;
  });
  return [heading, ...tables].join("\n\n");
}
