import { counted, formatCount } from "../../counted.ts";
import { catalog, template } from "../../message.ts";
import {
  MORE_FIELDS,
  newField,
  newFieldType,
  otherFieldType,
  otherType,
  type SchemaChange,
  SEE_CHANGES,
  VANISHED,
} from "../../warehouse/state/schema_changes.ts";

/** The first changes, and how many there are. */
type Drift = { readonly changes: readonly SchemaChange[]; readonly count: number };

const exampleOf = (change: string, example: string | null): Drift => ({
  changes: [{ table: "items", column: "color", change, example, count: 120 }],
  count: 1,
});

const unknown = exampleOf(newField("string"), "red");

export const schemaMessages = catalog("schema", {
  unknown_fields: template(
    { ...unknown, as_columns: true, nameless: ["items.#"] as readonly string[] },
    ({ as_columns, nameless, ...drift }) =>
      `the service sends fields that its documents don't name: ${listed(drift)}. ${as_columns ? columnsWithout(nameless) : "They are kept in _extra."}`,
  ),
  unknown_fields_refused: template(
    { stream: "items", ...unknown },
    ({ stream, ...drift }) =>
      `${stream}: the service sends fields that its documents don't name: ${listed(drift)}. With unknown_fields: fail nothing of it was published; keep or column would load it.`,
  ),
  other_types: template(
    exampleOf(otherType("number"), "7"),
    drift => `values came as another type of JSON than the documents say: ${listed(drift)}.`,
  ),
  vanished: template(
    exampleOf(VANISHED, null),
    drift => `fields that stood in every row are in none any more: ${listed(drift)}.`,
  ),
  returned: template(
    { stream: "items", ...exampleOf(VANISHED, null) },
    ({ stream, ...drift }) => `${stream}: fields that had vanished are back: ${listed(drift)}.`,
  ),
});

/** Changes by name, with what they came as. */
function listed({ changes, count }: Drift): string {
  const rest = count - changes.length;
  return `${changes.map(wordsFor).join(", ")}${rest > 0 ? ` and ${rest} more` : ""} ${SEE_CHANGES}`;
}

function wordsFor({ table, column, change, example, count }: SchemaChange): string {
  if (change === MORE_FIELDS) return `${count} more of ${table}`;
  const type = newFieldType(change) ?? otherFieldType(change);
  const shown = [type, example ?? undefined].filter(part => part !== undefined).join(" ");
  return `${table}.${column}${shown === "" ? "" : ` (${shown})`}`;
}

function columnsWithout(nameless: readonly string[]): string {
  const columns = "From the next run on they have columns of their own, once a value was seen; at most 100 a table";
  if (nameless.length === 0) return `${columns}.`;
  return `${columns}. Those that no column can be called after stay in _extra: ${nameless.join(", ")}.`;
}

const published = "Everything else was published and nothing was marked deleted.";

export const deletesMessages = catalog("deletes", {
  empty_list: template(
    { stream: "items", live: 1200 },
    ({ stream, live }) =>
      `${stream}: the list came back empty, though ${live} rows are live. ${published} If it is right, run \`tributary sync ${stream} --confirm-deletes\`.`,
  ),
  blocked: template(
    { stream: "items", missing: 700, live: 1200, max_share: 0.1, min_rows: 50 },
    ({ stream, missing, live, max_share, min_rows }) =>
      `${stream}: ${missing} of ${live} live rows are no longer listed, more than deletes.max_share (${max_share}) and deletes.min_rows (${min_rows}) allow. ${published} If it is right, run \`tributary sync ${stream} --confirm-deletes\`.`,
  ),
  half: template(
    { stream: "items", missing: 25, live: 40 },
    ({ stream, missing, live }) =>
      `${missing} of ${live} live rows are no longer listed, more than half. ${published} The next run decides; if it is right, \`tributary sync ${stream} --confirm-deletes\` does.`,
  ),
  details_blocked:
    "{stream=item_details}: {leaving=700} of {live=1200} live rows are in no answer any more or belong to values that no row carries, more than deletes.max_share ({max_share=0.1}) and deletes.min_rows ({min_rows=50}) allow. None of these was marked deleted, and of the answers that lack them nothing was published; everything else was. If it is right, run `tributary sync {stream=item_details} --confirm-deletes`.",
  lines_blocked:
    "{stream=order_details}: {leaving=700} of {live=1200} live rows of {table=order_lines} would be deleted because their arrays came empty or shorter, more than deletes.max_share ({max_share=0.1}) and deletes.min_rows ({min_rows=50}) allow. tributary did not publish the rows with these arrays. It published everything else. If the service is right, run `tributary sync {stream=order_details} --confirm-deletes`.",
  addresses_unusable: template(
    { stream: "items", address: "/items/{id}", forbidden: false },
    ({ stream, address, forbidden }) =>
      `${stream}: ${address} was not asked which missing rows are gone: ${forbidden ? "this key may not read it" : "it knows no row of the list either"}.`,
  ),
  addresses_asked: template(
    { stream: "items", address: "/items/{id}", asked: 12, gone: 9 },
    ({ stream, address, asked, gone }) =>
      `${stream}: ${asked} missing rows were asked for by ${address}, ${gone} are gone.`,
  ),
  status_dropped:
    "{stream=items}: its rows also came by a status that the config names no more ({statuses[]=closed}), so those that are missing stay. `tributary sync {stream=items} --confirm-deletes` takes them for deleted.",
});

export const rejectsMessages = catalog("rejects", {
  too_many:
    "{stream=items}: {rejected=30} of {rows=100} rows could not be stored, more than max_reject_share ({max_share=0.05}) allows. Nothing of it was published; `tributary rejects {stream=items}` shows them.",
  not_stored: template(
    { stream: "items", rows: 2 },
    ({ stream, rows }) => `${counted(rows, "row")} could not be stored; \`tributary rejects ${stream}\` shows them.`,
  ),
});

const unreadColumn = { table: "items", column: "price", unread: 60, rows: 100, reason: "not a number" };

export const problemsMessages = catalog("problems", {
  too_many: template(
    { stream: "items", max_share: 0.5, columns: [unreadColumn], refused: true },
    ({ stream, max_share, columns, refused }) => {
      const named = columns
        .map(({ table, column, unread, rows, reason }) => `${table}.${column} (${unread} of ${rows}: ${reason})`)
        .join(", ");
      const text = `values that could not be read exceed problems.max_share (${max_share}): ${named}. \`tributary rejects ${stream} --problems\` shows them.`;
      return refused ? `${stream}: ${text} Nothing of it was published.` : text;
    },
  ),
  not_read: template(
    { stream: "items", values: 2 },
    ({ stream, values }) =>
      `${counted(values, "value")} could not be read; \`tributary rejects ${stream} --problems\` shows them.`,
  ),
});

const columns: readonly { readonly name: string; readonly rows: number }[] = [{ name: "viewed_at", rows: 900 }];

export const rowsMessages = catalog("rows", {
  mass_change: template(
    { stream: "items", changed: 900, live: 1200, columns, count: 1, estimated: false, requests: 900 },
    ({ stream, changed, live, columns, count, estimated, requests }) => {
      const named = columns.map(({ name, rows }) => `${name} (${estimated ? "about " : ""}${formatCount(rows)})`);
      const more = count > columns.length ? ` and ${count - columns.length} more` : "";
      const by = named.length === 0 ? "" : `, by ${named.join(", ")}${more}`;
      return (
        `${formatCount(changed)} of ${formatCount(live)} known rows (${Math.round((100 * changed) / live)} %) changed since the last run${by}: ` +
        `their details are fetched again, about ${formatCount(requests)} requests. ` +
        `If such a field changes by itself, name it under streams.settings.${stream}.volatile: from then on nothing is fetched for it. ` +
        `--max-requests, --max-time or max_details bound a run.`
      );
    },
  ),
  unseen:
    "the list says it has {total=1200} rows, its pages showed {shown=1188}. Nothing is taken for deleted on that account.",
  conflicting: template(
    {
      ...{ stream: "items", columns: ["item_id"] as readonly string[], keys: 3, example: "ITM-1" },
      ...{ at_once: true, widens: true },
    },
    ({ stream, columns, keys, example, at_once, widens }) => {
      const key = columns.join(", ");
      const rows = `different rows under ${counted(keys, "key")} (${key}), for example ${example}. tributary keeps the last row of each key`;
      if (!at_once) return `${stream}: a reading brought ${rows}.`;
      const line = `streams.settings.${stream}.key: [${key}, …]`;
      const advice = widens ? ` If more columns tell the rows apart, add them to the key: \`${line}\`.` : "";
      return `one answer has ${rows}; \`tributary rejects ${stream}\` lists the others.${advice}`;
    },
  ),
  before_start: template(
    { stream: "items", rows: 40 },
    ({ stream, rows }) => `${stream}: ${counted(rows, "row")} from before streams.start came, and were not stored.`,
  ),
});
