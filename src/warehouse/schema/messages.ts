import { counted } from "../../counted.ts";
import { catalog, type Message, template, textsOf } from "../../message.ts";
import { makers } from "../../messages.ts";

const startOver = (rename: "rename" | "Rename", stream: string): string =>
  `${rename} the table to keep what it holds, or run \`tributary reset ${stream} --drop\` and load it again.`;

const contents = (rows: number, fingerprint: string) => ({ rows, fingerprint });
const names = (...texts: string[]): readonly string[] => texts;

export const tablesMessages = catalog("tables", {
  unusable: template(
    { faults: [] as readonly Message[] },
    ({ faults }) =>
      `The warehouse's tables cannot be used as they are; nothing was changed. ${textsOf(faults).join(" ")}`,
  ),
  not_a_table: "{table=dw.items} is a view or another relation, not a table of tributary's.",
  name_taken: template(
    { name: "dw.items", kind: "domain" },
    ({ name, kind }) =>
      `The ${kind} ${name} has the name of a table that is to be made. Rename it (ALTER ${kind.toUpperCase()} ${name} RENAME TO …;), or set destination.schema to one of its own.`,
  ),
  not_ours: template(
    { table: "dw.items", lacking: names("_company", "_loaded_at") },
    ({ table, lacking }) =>
      `${table} isn't tributary's: it has no ${lacking.join(", ")}. Rename it, move it to another schema, or set destination.schema to one of its own.`,
  ),
  key_incomplete: template(
    { table: "dw.items", lacking: names("id"), stream: "items" },
    ({ table, lacking, stream }) => `${table} lacks ${lacking.join(", ")} of its key; ${startOver("rename", stream)}`,
  ),
  other_type: template(
    { column: "dw.items.price", type: "integer", wanted: "numeric(38,9)", stream: "items" },
    ({ column, type, wanted, stream }) =>
      `${column} is ${type}, but ${wanted} is wanted, which could not hold all of it. ${startOver("Rename", stream)}`,
  ),
  column_needed: template(
    { column: "dw.items.price", needed_by: names("policy cheap on table dw.items") },
    ({ column, needed_by }) =>
      `The type of ${column} was changed. The next run would restore it, but these objects need the column: ${needed_by.join(", ")}. Drop them; after the next run they can be created again.`,
  ),
  required_column:
    "{column=dw.items.shelf} isn't tributary's and is NOT NULL without a default: no row could be added.",
  other_key: template(
    { table: "dw.items", key: names("id"), wanted: names("_company", "id"), stream: "items" },
    ({ table, key, wanted, stream }) =>
      `${table} has the primary key (${key.join(", ")}), but (${wanted.join(", ")}) is wanted; ${startOver("rename", stream)}`,
  ),
  foreign_key: template(
    { name: "remarks_item", table: "public.remarks", refers_to: "dw.items", cascades: false },
    ({ name, table, refers_to, cascades }) => {
      const harm = cascades ? `change or delete rows of ${table} with it` : "refuse every change of a row";
      return `The foreign key ${name} of ${table} refers to ${refers_to}, whose rows are deleted and inserted again when they change: it would ${harm}. Remove it (ALTER TABLE ${table} DROP CONSTRAINT ${name};), or make it one that is checked at the end of a transaction (DEFERRABLE INITIALLY DEFERRED, without ON DELETE).`;
    },
  ),
  foreign_rule:
    "The rule {name=keep_out} replaces what is written to {table=dw.items} by something else, or by nothing. Remove it (DROP RULE {name=keep_out} ON {table=dw.items};).",
  foreign_trigger:
    "The trigger {name=rounded} may change or leave out rows before they are stored in {table=dw.items}. Remove it (DROP TRIGGER {name=rounded} ON {table=dw.items};), or make it one that runs AFTER.",
  views_read_table: template(
    { views: names("reports.prices"), table: "items" },
    ({ views, table }) =>
      `${views.join(", ")} read ${table} or its child tables, which would be dropped. Nothing was changed; drop those views first, or run reset without --drop.`,
  ),
  needed:
    "Something of yours needs {name=dw.items}, which would be dropped: {reason=materialized view reports.prices depends on table dw.items}. Nothing was changed; drop it first, or run reset without --drop.",
  rows_differ: template(
    { table: "items", company: "acme", rows: 40, known: 45 },
    ({ table, company, rows, known }) =>
      `${table} has ${counted(rows, "live row")} of ${company}, but tributary had stored ${known}. Somebody changed the table, or restored a part of the warehouse. This run reads the stream whole.`,
  ),
  past_rows_differ: template(
    { table: "item_prices", company: "acme", rows: 40, known: 45 },
    ({ table, company, rows, known }) =>
      `${table} has ${counted(rows, "row")} of ${company}, deleted ones included, but tributary had stored ${known}. Somebody changed the table, or restored a part of the warehouse. ${rows < known ? "The service does not send these rows again: restore them from a backup." : "No row is missing; tributary has recorded the rows of the table."}`,
  ),
  lines_differ: template(
    { table: "item_parts", company: "acme", rows: 40, known: 87 },
    ({ table, company, rows, known }) =>
      `${table} has ${counted(rows, "row")} of ${company}, deleted ones included, but tributary had stored ${known}. Somebody changed the table, or restored a part of the warehouse. This run reads the stream whole.`,
  ),
  versions_differ: template(
    { table: "items_versions", company: "acme", versions: 40, rows: 45 },
    ({ table, company, versions, rows }) =>
      `${table} has ${counted(versions, "present version")} for ${counted(rows, "live row")} of ${company}. Somebody changed the table, or restored a part of the warehouse. This run begins the versions that are missing; versions that ended cannot be made again.`,
  ),
  state_older: template(
    { stream: "items", table: "items", company: "acme", rows: 3 },
    ({ stream, table, company, rows }) =>
      `${table} had ${counted(rows, "row")} of ${company} that tributary had not recorded. Its record is older than the table, as after a partial restore. This run replaced the rows. Run \`tributary sync ${stream} --full\` to compare all others.`,
  ),
  copy_differs: template(
    { table: "dw.items", sent: contents(1_200, "81f2c0"), arrived: contents(1_199, "77ab03") },
    ({ table, sent, arrived }) =>
      `Expected ${table} to be equal row by row after it was copied, but ${sent.rows} rows (${sent.fingerprint}) became ${arrived.rows} (${arrived.fingerprint}). Nothing of it was stored; please report this ${makers.bugs}.`,
  ),
});
