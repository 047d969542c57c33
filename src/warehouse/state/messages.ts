import { counted } from "../../counted.ts";
import { catalog, type Message, template, textsOf } from "../../message.ts";

export const identityMessages = catalog("identity", {
  several: template({ faults: [] as readonly Message[] }, ({ faults }) => textsOf(faults).join(" ")),
  newer_tables: template(
    { altered: true, release: "1.4.0", own_release: "1.3.2" },
    ({ altered, release, own_release }) =>
      `The warehouse's tables were ${altered ? "altered" : "made"} by tributary ${release}, and this is ${own_release}, which doesn't know all of their columns: install ${release} or a newer one, or use another destination.`,
  ),
  other_schema: template(
    { kept: "dw", configured: "purchasing" },
    ({ kept, configured }) =>
      `This warehouse keeps its tables in schema ${kept}, but destination.schema is ${configured}. Set destination.schema back to ${kept}, or give the new schema a state of its own (destination.state_schema, or another database or file).`,
  ),
  other_state: template(
    { schema: "dw", kept: "_tributary", configured: "_second" },
    ({ schema, kept, configured }) =>
      `The tables in schema ${schema} belong to the state in schema ${kept}, but destination.state_schema is ${configured}. Set destination.state_schema back to ${kept}, or give the new state tables of its own (destination.schema, or another database or file). To hand the tables over, drop schema ${kept} first.`,
  ),
  other_address: template(
    { company: "acme", kept: "https://api.example.com", configured: "https://api.example.org" },
    ({ company, kept, configured }) =>
      `This warehouse keeps company ${company} from ${kept}, but the configuration reads it from ${configured}. Set base_url back, give the other service's rows a company name of their own, or use another destination. If the same service has moved, \`tributary sync --accept-address\` compares it with what is kept, and records the new address.`,
  ),
  other_company_id: template(
    { company: "acme", kept_id: "c-1", key_id: "c-2" },
    ({ company, kept_id, key_id }) =>
      `This warehouse keeps company ${company} with the service's id ${kept_id}, but the key belongs to ${key_id}. Use the key of the first, give the second a company name of its own, or use another destination.`,
  ),
  other_company_name: template(
    { company: "acme_new", key_id: "c-1", kept: "acme" },
    ({ company, key_id, kept }) =>
      `The key of company ${company} belongs to ${key_id}, which this warehouse keeps as ${kept} already. Call it ${kept} again (company:), or use another destination.`,
  ),
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
  newer_version: template(
    { version: 9, known_version: 8 },
    ({ version, known_version }) =>
      `The warehouse was written by a newer tributary (data version ${version}; this one knows ${known_version}). Nothing was changed; install the newer version again, or use another destination.`,
  ),
  schema_taken: template(
    { state_schema: "_tributary" },
    ({ state_schema }) =>
      `Expected destination.state_schema to be the lake's alone, but in the catalog's database ${state_schema} is the state of a PostgreSQL warehouse. Set another state_schema for the lake, or take another database for its catalog.`,
  ),
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
