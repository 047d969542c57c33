import type { StreamDescription } from "../../outputs/dictionary/stream_description.ts";
import type { Look } from "./look.ts";
import { fitTable, formatTable, leftOut, rowTable } from "./table.ts";

export function streamListing(streams: readonly StreamDescription[], look: Look): string {
  const groups = Map.groupBy(streams, stream => stream.group);
  const {
    lines: [heading = "", ...lines],
    left,
  } = fitTable(
    streams,
    [
      ["", one => (one.on ? "on" : "·")],
      ["stream", one => one.name],
      ["mode", modeOf],
      ["preset", one => one.preset],
      ["endpoint", one => one.endpoint],
    ],
    look.width && look.width - 2,
    { first: ["mode", "endpoint"], pinned: 2 },
  );
  const blocks = [...groups].map(([title, members]) => {
    const own = members.map(member => lines[streams.indexOf(member)]);
    return [title, ...own.map(line => `  ${line}`)].join("\n");
  });
  const on = streams.filter(stream => stream.on).length;
  const tables = streams.reduce((sum, stream) => sum + stream.tables.length, 0);
  const end = [
    `${streams.length} streams, ${tables} tables; ${on} streams are on (streams.preset, include and exclude in the configuration).`,
    ...leftOut(left, look),
    "`tributary streams <name>` shows one in full, with its tables and columns.",
  ];
  return [`  ${heading}`, ...blocks, end.join("\n")].join("\n\n");
}

const modeOf = ({ mode, parent }: StreamDescription): string => (parent === null ? mode : `${mode} of ${parent}`);

export function streamSheet(stream: StreamDescription, look: Look): string {
  const query = Object.entries(stream.query).map(([name, value]) => `${name}=${value}`);
  const parameters = Object.entries(stream.parameters).map(([name, values]) => `${name}: ${values.join(", ")}`);
  const facts = [
    ["group", stream.group],
    ["endpoint", `GET ${stream.endpoint}${query.length === 0 ? "" : `?${query.join("&")}`}`],
    ["mode", modeInWords(stream)],
    ["key", `_company, ${stream.key.join(", ")}`],
    ...(parameters.length === 0
      ? []
      : [["parameters", `${parameters.join("; ")} (others: streams.settings.${stream.name}.parameters)`]]),
    ...(stream.asks_for.length === 0 ? [] : [["asks for", askedInWords(stream)]]),
    ["preset", stream.preset],
    ["state", stream.on ? "on" : "off"],
    ["history", stream.history ? "kept" : `not kept (streams.settings.${stream.name}.history)`],
  ];
  const heading = `${stream.name}\n${formatTable([{ title: "" }, { title: "" }], facts)}`;
  const tables = stream.tables.map(table => {
    const columns = rowTable(
      table.columns,
      [
        ["column", column => column.name],
        ["DuckDB", column => column.duckdb],
        ["PostgreSQL", column => column.postgres],
        ["what it is", column => column.comment],
      ],
      look,
      { first: ["what it is"] },
    );
    return `${table.name}: ${table.comment}\n\n${columns}`;
  });
  return [heading, ...tables].join("\n\n");
}

function modeInWords({ mode, parent, values_of }: StreamDescription): string {
  switch (mode) {
    case "feed":
      return "feed: cursor pages, read whole or since the high-water mark";
    case "scan":
      return "scan: all cursor pages, every run";
    case "list":
      return "list: one request, the complete list";
    case "lookup":
      return "lookup: one request for each set of values that the configuration names";
    case "snapshot":
      return "snapshot: one row a day";
    case "detail":
      return values_of.length === 0
        ? `detail of ${parent}: one request for each of its rows, when it is new or changed`
        : `detail of ${parent}: one request for each value of ${values_of.join(" and ")}`;
  }
}

const askedInWords = ({ name, asks_for }: StreamDescription): string =>
  `${asks_for.join(", ")} (streams.settings.${name}.values)`;
