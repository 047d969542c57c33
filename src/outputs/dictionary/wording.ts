import type { ColumnDescription, StreamDescription, TableDescription } from "./stream_description.ts";

/** How a stream is read, in a sentence, and what that means for how fresh its rows are. */
export function readingOf({ mode, parent, values_of, parameters, name }: StreamDescription): string {
  switch (mode) {
    case "feed":
      return "Page by page since the newest row of before, and whole from time to time: then older rows that changed are seen too.";
    case "scan":
      return "Page by page, whole, by every run: the table is what the service listed when the run looked.";
    case "list":
      return "In one answer, whole, by every run: the table is what the service listed when the run looked.";
    case "snapshot": {
      const names = Object.keys(parameters);
      const each = names.length === 0 ? "" : ` for each ${names.join(" and ")} that the configuration names`;
      return `Measured by every run, one row a day${each}: a later run of the day replaces it.`;
    }
    case "lookup":
      return `For the values that the configuration names (streams.settings.${name}.values), by every run.`;
    case "detail":
      return values_of.length === 0
        ? `One request for each row of ${parent}, when that row is new or has changed, or its turn in the audit has come: _tributary.details tells the age of each.`
        : `One request for each value of ${values_of.join(" and ")}, again when it has grown old.`;
  }
}

const sorts: Readonly<Record<NonNullable<ColumnDescription["kind"]>, string>> = {
  id: "identifier",
  text: "text",
  money: "money",
  quantity: "quantity",
  count: "whole number",
  percent: "share or rate",
  score: "score",
  flag: "yes or no",
  date: "calendar date",
  moment: "moment",
  json: "JSON",
};

const units: readonly (readonly [RegExp, string])[] = [
  [/(^|_)days?(_|$)/, "days"],
  [/(^|_)hours?(_|$)/, "hours"],
  [/(^|_)months$/, "months"],
  [/(^|_)minutes?(_|$)/, "minutes"],
  [/_ms$/, "milliseconds"],
  [/(^|_)bytes$/, "bytes"],
  [/_km$/, "kilometres"],
  [/_lbs$/, "pounds"],
];

/** What a column's values are, with their unit where its name tells one. */
export function sortOf({ name, kind }: Pick<ColumnDescription, "name" | "kind">): string {
  if (kind === null) return "";
  if (kind === "money" && name.endsWith("_cents")) return "money, in cents";
  const unit = kind === "quantity" || kind === "count" ? units.find(([names]) => names.test(name))?.[1] : undefined;
  return unit === undefined ? sorts[kind] : unit;
}

/** When a column of the service's is NULL; undefined where its description says so, or it cannot be. */
export function nullOf({ description, nullable, api_path }: ColumnDescription): string | undefined {
  return nullable && api_path !== null && !/\bnull\b/i.test(description)
    ? "NULL where the service gives none."
    : undefined;
}

/** The path below the service's address, with the array in its answer. */
export function sourceOf({
  stream,
  api_path,
}: Pick<TableDescription, "api_path"> & { readonly stream: StreamDescription }): string {
  const query = Object.entries(stream.query).map(([name, value]) => `${name}=${value}`);
  const address = `GET ${stream.endpoint}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  return api_path === "" ? address : `${address}, ${api_path}`;
}
