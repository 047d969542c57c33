import { counted } from "../../counted.ts";
import { catalog, type Message, template, textsOf } from "../../message.ts";

export const identityMessages = catalog("identity", {
  several: template({ faults: [] as readonly Message[] }, ({ faults }) => textsOf(faults).join(" ")),
  newer_tables: template(
    { altered: true, release: "1.4.0", own_release: "1.3.2" },
    ({ altered, release, own_release }) =>
      `The warehouse's tables were ${altered ? "altered" : "made"} by tributary ${release}, and this is ${own_release}, which doesn't know all of their columns: install ${release} or a newer one, or use another destination.`,
  ),
  other_schema:
    "This warehouse keeps its tables in schema {kept=dw}, but destination.schema is {configured=purchasing}. Set destination.schema back to {kept=dw}, or give the new schema a state of its own (destination.state_schema, or another database or file).",
  other_state:
    "The tables in schema {schema=dw} belong to the state in schema {kept=_tributary}, but destination.state_schema is {configured=_second}. Set destination.state_schema back to {kept=_tributary}, or give the new state tables of its own (destination.schema, or another database or file). To hand the tables over, drop schema {kept=_tributary} first.",
  other_address:
    "This warehouse keeps company {company=acme} from {kept=https://api.example.com}, but the configuration reads it from {configured=https://api.example.org}. Set base_url back, give the other service's rows a company name of their own, or use another destination. If the same service has moved, `tributary sync --accept-address` compares it with what is kept, and records the new address.",
  other_company_id:
    "This warehouse keeps company {company=acme} with the service's id {kept_id=c-1}, but the key belongs to {key_id=c-2}. Use the key of the first, give the second a company name of its own, or use another destination.",
  other_company_name:
    "The key of company {company=acme_new} belongs to {key_id=c-1}, which this warehouse keeps as {kept=acme} already. Call it {kept=acme} again (company:), or use another destination.",
});

/** A column of a state table that is not as it is made; null: there is none. */
interface OtherColumn {
  readonly column: string;
  readonly type: string | null;
  readonly wanted: string | null;
}

/** So many of them are named. */
const SHOWN = 5;

function otherColumn({ column, type, wanted }: OtherColumn): string {
  if (type === null) return `${column} (${wanted}) is missing`;
  return wanted === null ? `${column} (${type}) is none of theirs` : `${column} is ${type} instead of ${wanted}`;
}

export const stateMessages = catalog("state", {
  uploads_unread: template(
    { path: "/data/dw.versions/uploads.ndjson", lines: 2 },
    ({ path, lines }) =>
      `${path}: expected a line of JSON for each step of an upload, got ${counted(lines, "line")} that cannot be read. The warehouse's own table is used for them. Check the disk.`,
  ),
  newer_version:
    "The warehouse was written by a newer tributary (data version {version=9}; this one knows {known_version=8}). Nothing was changed; install the newer version again, or use another destination.",
  schema_taken:
    "Expected destination.state_schema to be the lake's alone, but in the catalog's database {state_schema=_tributary} is the state of a PostgreSQL warehouse. Set another state_schema for the lake, or take another database for its catalog.",
  other_shape: template(
    {
      state_schema: "_tributary",
      columns: [{ column: "stream_runs.recent", type: null, wanted: "boolean" }] as readonly OtherColumn[],
    },
    ({ state_schema, columns }) =>
      `Expected the tables of schema ${state_schema} to be as this version of tributary makes them, but ${columns
        .slice(0, SHOWN)
        .map(otherColumn)
        .join(", ")}${
        columns.length > SHOWN ? ` and ${columns.length - SHOWN} more` : ""
      }. Nothing was changed. Use the version of tributary that made them; or begin anew: drop schema ${state_schema} and that of the tables (of DuckDB the file), and the next run loads everything again, as after \`tributary reset '*' --drop\`.`,
  ),
});
