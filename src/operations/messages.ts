import { timespan } from "../duration.ts";
import { catalog, template } from "../message.ts";

const places = {
  from: "DuckDB /srv/warehouse.duckdb (schemas sales and _tributary)",
  to: "PostgreSQL in database warehouse at db.example.com (schemas sales and _tributary)",
};

export const moveMessages = catalog("move", {
  same_destination: template(
    { from: places.from },
    ({ from }) =>
      `Expected --to to name a configuration with another destination, but both lead to ${from}. Change destination in that file.`,
  ),
  waiting: template(
    { wait_ms: 60_000, holder: "tributary sync (process 4711 on etl-1)" },
    ({ wait_ms, holder }) => `Waiting up to ${timespan(wait_ms)} for ${holder}.`,
  ),
  source_lacks_columns: template(
    { from: places.from, columns: ["items.site"] as readonly string[] },
    ({ from, columns }) =>
      `Expected the tables that this version of tributary makes, but ${from} lacks ${columns.join(", ")}. Nothing was copied. Run \`tributary sync\` there once with this version, then \`tributary move\` again.`,
  ),
  target_not_empty: template(
    { to: places.to, companies: ["acme"] as readonly string[] },
    ({ to, companies }) =>
      `Expected an empty warehouse in ${to}, but it has rows of ${companies.join(", ")}. Nothing was copied or changed. In the configuration that --to names, set another file or database, or another schema and state_schema.`,
  ),
});

export const queryMessages = catalog("query", {
  file_not_writable:
    "{file=answer.parquet} could not be written ({reason?=EACCES}): check the path, its rights and space.",
  reads_only:
    "`tributary query` only reads: expected one query, such as a select, got a statement that begins with {statement=insert}.",
  refused:
    'Expected one query that the database can answer, but it says: {reason=Catalog Error: Table with name "itms" does not exist!}',
});

export const refreshMessages = catalog("refresh", {
  unfit_key: template(
    { key: "" },
    ({ key }) =>
      `refresh: expected keys of one or more characters, none of them a control character, got ${JSON.stringify(key)}.`,
  ),
  no_details:
    "refresh: expected a list whose rows have details, got {stream=items}: `tributary sync {stream=items}` brings its rows. Those with details are {lists[]=orders, contracts}.",
  details_off:
    "refresh: expected a list with details that are on, got {list=contracts}, of which none is. Put one of {details[]=contract_details} into streams.include.",
  several_lists: template(
    { names: "o*" },
    ({ names }) => `refresh: expected the name of one list, got ${JSON.stringify(names)}. Name one at a time.`,
  ),
  not_a_list: template(
    { stream: "order_details", of: "orders", by: undefined as string | undefined },
    ({ stream, of, by }) =>
      by === undefined
        ? `refresh: expected a list, got ${stream}, the details of ${of}. Name ${of} with the keys of its rows: all of their details are fetched.`
        : `refresh: expected a list, got ${stream}, which is asked for by the values of ${of}.${by} and not row by row: \`tributary sync ${stream}\` fetches what is due of it.`,
  ),
  unknown_keys: template(
    { list: "orders", keys: ["A-1", "A-2"] as readonly string[], more: 0 },
    ({ list, keys, more }) =>
      `refresh: expected keys of live rows of ${list} in the warehouse, got ${keys.join(", ")}${more > 0 ? ` and ${more} more` : ""}. If the service has such rows, run \`tributary sync ${list}\` first.`,
  ),
});
