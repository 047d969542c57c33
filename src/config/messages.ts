import { catalog, type Message, template } from "../message.ts";

/** Something wrong in the file; `where` is `file:line:column key`. */
export interface Fault extends Message {
  readonly where: string;
}

type Faults = readonly (Fault | Message)[];

const lines = (first: string, faults: Faults): string =>
  [first, ...faults.map(fault => ("where" in fault ? `${fault.where}: ${fault.message}` : fault.message))].join("\n");

const faulty = (where: string, code: string, message: string): Faults => [{ where, code, message, fields: {} }];

const didYouMean = (near: string | undefined): string => (near === undefined ? "" : ` Did you mean ${near}?`);

const lookup = { stream: "entities", required: ["type", "id"] as readonly string[], takes_others: false };

/** How a lookup's values are configured: those it requires, and whether it passes others on. */
function valuesAdvice({ stream, required, takes_others }: typeof lookup): string {
  const names = takes_others ? [...required, "<parameter>"] : required;
  const values = `{ values: [{ ${names.map(each => `${each}: …`).join(", ")} }] }`;
  const lists = `parameters: { ${names.at(-1)}: [ … ] }`;
  const columns = takes_others ? "" : `, or from: { ${names[0]}: <table>.<column> } for the values of a loaded column`;
  return `${stream} is a lookup: it asks for what the config names. Set streams.settings.${stream}: ${values}; lists to combine go under ${lists}${columns}.`;
}

/** Of the file and its keys. Messages of one key don't name it: the fault's place does. */
const file = {
  no_file:
    "There is no configuration at {file=config.yaml}: `tributary init` writes one; --config or TRIBUTARY_CONFIG names another.",
  unreadable_file:
    "The configuration {file=config.yaml} could not be read ({reason=EACCES}): check what it is and its rights.",
  unreadable_env_file:
    "{path=/srv/tributary/.env} could not be read ({reason=EACCES}): check its rights, or remove it.",
  invalid_yaml: template(
    { faults: [{ where: "config.yaml:2:1", reason: "Map keys must be unique" }] },
    ({ faults }) =>
      `The configuration isn't valid YAML.\n${faults.map(({ where, reason }) => `${where} ${reason}`).join("\n")}`,
  ),
  circular_alias: "{file=config.yaml}: {key=streams.settings} is an alias of something it is part of.",
  no_keys: template(
    { where: "config.yaml:1:1", got: ["items"] as unknown },
    ({ where, got }) => `${where} Expected keys such as "api:" and "destination:", got ${JSON.stringify(got)}.`,
  ),
  unusable: template(
    { faults: faulty("config.yaml:1:1 compnay", "config.unknown_key", "unknown key, did you mean company?") },
    ({ faults }) => lines("The configuration can't be used.", faults),
  ),
  unknown_key: template(
    { near: "company" as string | undefined, under: [] as readonly string[], known: [] as readonly string[] },
    ({ near, under, known }) => {
      if (near !== undefined) return `unknown key, did you mean ${near}?`;
      return `unknown key; ${under.length > 0 ? `it belongs under ${under.join(" or ")}` : `known here: ${known.join(", ")}`}`;
    },
  ),
  missing: template({ reason: "expected a folder's path" }, ({ reason }) => reason),
  wrong_type: '{reason=expected a list such as [a, b]}, got {got="items"}',
  invalid_value: template(
    { reason: "expected a whole number from 1 to 256", got: "0" },
    ({ reason, got }) => `${reason}, got ${got}`,
  ),
  open_variable: `a \${ without its }: close it, or write $\${ for a literal \${`,
  invalid_variable: `expected \${NAME}, \${NAME:-default} or \${file:/path}; $\${ stands for a literal \${`,
  variable_not_set:
    "the environment variable {name=PROCUREMENT_API_KEY} is not set: set it, or give its value another way",
  variable_empty: "the environment variable {name=PROCUREMENT_API_KEY} is set but empty: give it a value",
  unreadable_secret:
    "the file {path=/run/secrets/api_key} could not be read ({reason=ENOENT}): check the path, the mount and its rights",
  key_without_effect: template(
    { key: "url", type: "duckdb", types: ["postgres"] as readonly string[] },
    ({ key, type, types }) =>
      `destination.${key} has no effect with type ${type}: it belongs to type ${types.join(" and ")}.`,
  ),
  unencrypted_key:
    "The API key goes to {host=procurement.example.com} unencrypted: use https:// where the service offers it.",
} as const;

/** Rules between keys. */
const rules = {
  company_and_companies: "company and companies exclude each other: keep company for one, companies for several",
  no_base_url: "expected the service's address, without /api/v1, got none: there is no default",
  postgres_without_url: "type postgres needs url: postgres://user@host:5432/database",
  lake_without_catalog: "type ducklake needs catalog: postgres://user@host:5432/database",
  lake_without_data_path: "type ducklake needs data_path: a folder, or s3://bucket/folder",
  access_key_without_secret: "an access key needs its secret beside key_id",
  state_schema_taken: "must be another schema than destination.schema",
  state_schema_of_views: "must be another schema than that of the views, {schema=warehouse_analytics}",
  views_schema_too_long: template(
    { schema: `${"warehouse_".repeat(6)}analytics` },
    ({ schema }) =>
      `the views' schema would be ${schema}, which is longer than 63 bytes: expected at most 53, or views: false`,
  ),
  hashing_without_key: `hashing needs a key: a secret of 16 or more characters that never changes, such as \${TRIBUTARY_HASH_KEY}`,
  url_or_command: "expected either url or command",
  report_without_target: "expected out, mail or post: where it goes",
  every_without_changed:
    "expected when: changed with every: {every=week}, got when: always, which mails after each run",
  unknown_schedule: "expected names of schedules ({known[]=nightly}), got {name=weekly}",
  unknown_company: "there is no company {company=acme}",
  repeated_name: "this name stands in the list twice",
  open_status_page:
    "server.listen: {address=0.0.0.0:8787} can be reached from other machines, and nothing says who may see the status page. Set server.token, or server.login with user and password; or listen on 127.0.0.1:{port=8787}, for this machine only.",
  unusable_schedules: template(
    {
      faults: faulty(
        "config.yaml:9:13 schedules[0].name (hook)",
        "config.reserved_name",
        "expected another name, because runs of POST /hooks/… are called hook.",
      ),
    },
    ({ faults }) => lines("The schedules can't be used.", faults),
  ),
  invalid_cron: template(
    { reason: "expected a time that comes, but the calendar has no such day", cron: "0 0 30 2 *" },
    ({ reason, cron }) => `${reason}. Got ${JSON.stringify(cron)}.`,
  ),
  reserved_name: "expected another name, because runs of POST /hooks/… are called {name=hook}.",
} as const;

/** Of streams, by name or in `streams.settings`. */
const streams = {
  unknown_stream: template(
    { where: "streams.include", name: "ordres", near: "orders" as string | undefined },
    ({ where, name, near }) =>
      `${where}: there is no stream ${JSON.stringify(name)}.${didYouMean(near)} \`tributary streams\` lists them all.`,
  ),
  unknown_preset: template(
    { where: "streams.include", name: "preset:cor" },
    ({ where, name }) =>
      `${where}: expected preset:core, preset:standard or preset:all, got ${JSON.stringify(name)}. \`tributary streams\` lists them all.`,
  ),
  not_one_stream: template(
    { name: "order*" },
    ({ name }) => `streams.settings: expected the name of one stream, got ${JSON.stringify(name)}.`,
  ),
  no_stream_on:
    "streams: expected at least one stream that is on, got none, so that a run would load nothing. Take some out of streams.exclude, which wins over streams.include and the preset.",
  excluded_parent:
    "streams: {stream=order_details} is on, but its parent {parent=orders} is excluded. Take {parent=orders} out of streams.exclude, or exclude {stream=order_details} too.",
  lookup_without_values: template(
    { where: "streams.include", ...lookup },
    ({ where, ...own }) => `${where}: ${valuesAdvice(own)}`,
  ),
  parameter_without_values: template(
    { ...lookup, missing: ["id"] as readonly string[] },
    ({ missing, ...own }) =>
      `streams.settings.${own.stream}: ${missing.join(" and ")} has no values. ${valuesAdvice(own)}`,
  ),
  no_lookup: "streams.settings.{stream=items}: {stream=items} is no lookup; only lookups have values, from and rename.",
  values_twice: template(
    { stream: "entities", parameter: "id", keys: ["values", "parameters"] as readonly string[] },
    ({ stream, parameter, keys }) =>
      `streams.settings.${stream}: ${parameter} stands under ${keys.join(" and under ")}; keep one of them.`,
  ),
  renamed_in_path:
    "streams.settings.{stream=entities}.rename: {parameter=id} stands in the path; only parameters of the query have other names.",
  circular_values:
    "streams.settings: each takes its values from the next: {streams[]=entities, identities, entities}. Name values for one of them.",
  no_details: "streams.settings.{stream=items}.details: {stream=items} has no details; name a stream that is one.",
  unrelated_cause: template(
    { stream: "order_details", name: "items", possible: ["receipts"] as readonly string[] },
    ({ stream, name, possible }) =>
      `streams.settings.${stream}.details: expected a stream whose relations lead to the parent rows of ${stream}, got ${name}. Name one of: ${possible.join(", ") || "none"}.`,
  ),
  fixed_key:
    "streams.settings.{stream=items}.key: {stream=items} has details, an address for each row, a row a day, or rows without an identity; its key cannot change. Remove the line.",
  no_wider_key:
    "streams.settings.{stream=items}.key: expected [{key[]=item_id}] and at least one more column behind it, each once, got [{got[]=site_id}].",
  unknown_name: template(
    {
      where: "streams.settings.items.volatile",
      name: "descripton",
      expected: "column of items that may be volatile",
      near: "description" as string | undefined,
      known: undefined as readonly string[] | undefined,
    },
    ({ where, name, expected, near, known }) => {
      const few = known === undefined ? "" : known.length === 0 ? " It has none." : ` Known: ${known.join(", ")}.`;
      return `${where}: ${name} is no ${expected}.${didYouMean(near) || few}`;
    },
  ),
} as const;

export const configMessages = catalog("config", { ...file, ...rules, ...streams });
