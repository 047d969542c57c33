import { detailTables } from "./detail_tables.ts";
import {
  company,
  count,
  counter,
  countOrNull,
  date,
  flag,
  flagOrNull,
  json,
  moment,
  momentOrNull,
  type RowOf,
  score,
  table,
  text,
  textOrNull,
} from "./state_columns.ts";

const stream = text("Name of the stream, as `tributary streams` lists it.");
const run = text("Which run it was: joins to runs.run_id.");

export const stateTables = {
  warehouse: table(
    "What this warehouse is and whose: a row for each fact that a run checks before it writes.",
    {
      key: text(
        "Which fact: version (of the state schema), program (the release that shaped the tables last), maker (the newest that made one), schema (of the data), tables (those ever made), columns (those they were given), unfilled:… (a column that the next run fills from _extra), currency (which rates stand in currency_factors), seen (the hash of the catalog after the last preparation that changed nothing), company:<name>.",
      ),
      value: json(
        "The fact as JSON; of a company its base_url and, where the key may read it, the service's own company_id.",
      ),
    },
    { key: ["key"] },
  ),
  runs: table(
    "Every command that wrote to the warehouse, one row a run, the latest by started_at.",
    {
      run_id: text("Identifier of the run, in its log lines too."),
      command: text(
        "What was called: `tributary sync`, backfill or replay, or `tributary schedule` with the schedule's name.",
      ),
      status: text(
        "running, succeeded, warning (done, with something to look at), failed, or stopped by a limit or signal.",
      ),
      exit_code: countOrNull("Code the command ended with, 0 for success; NULL while it runs and where it was killed."),
      started_at: moment("When the run began; its clock is that of the machine it ran on."),
      finished_at: momentOrNull(
        "When the run ended; NULL while it runs. A killed run gets the time at which the next one noticed.",
      ),
      version: text("Version of tributary that ran."),
      process: json(
        "JSON of the process and its machine (pid, host), by which a killed run is told from a running one.",
      ),
      warnings: json("JSON list of the run's warnings, each with code, message and fields; empty for none."),
      error: textOrNull("Why the run as a whole failed, in words; NULL where it did not."),
      snapshot: countOrNull(
        "Of a lake, the snapshot with the last that the run stored: AT (VERSION => snapshot). NULL in other databases, and where the run was killed.",
      ),
    },
    { key: ["run_id"], indexes: [{ by: ["started_at"] }] },
  ),
  stream_runs: table(
    "What each run did with each stream: requests, rows and how it ended.",
    {
      run_id: run,
      company,
      stream,
      status: text("running, succeeded, warning, incomplete, failed, stopped (a limit or signal) or skipped."),
      started_at: moment("When the run turned to the stream."),
      finished_at: momentOrNull("When the run was through with the stream; NULL while it works on it."),
      requests: counter("Requests sent for the stream, repeated tries included.", "reading"),
      retries: counter("Requests that were a further try of one that had failed.", "reading"),
      pages: counter("Answers with rows that were read; a detail's answer counts as one.", "reading"),
      rows_read: counter("Rows the service sent, main rows only.", "reading"),
      inserted: counter("Rows that were new to the table, or came back after a deletion.", "publishing"),
      updated: counter("Rows whose values had changed.", "publishing"),
      unchanged: counter("Rows that were as the table had them already: nothing was written for them.", "publishing"),
      repeated: counter("Rows the service sent more than once in the scan; the last one counts.", "publishing"),
      carried: counter("Rows that an earlier run had read of the same scan, which this one continued."),
      missing: counter("Rows that a complete scan did not see and that are still kept as listed, for want of proof."),
      deleted: counter("Rows that got their _deleted_at: the service no longer lists them.", "publishing"),
      child_deleted: counter("Rows of child tables that got their _deleted_at while their row stays.", "publishing"),
      rejected: counter("Rows that could not be stored at all; they stand in rejects.", "publishing"),
      problems: counter("Values that did not fit their column and became NULL; they stand in problems.", "publishing"),
      rounded: counter(
        "Values that were stored, but not as they came: decimals with more than nine places (rounded half away from zero), empty texts in columns of numbers, dates and times (NULL), days in a column of times and midnights in one of dates.",
        "publishing",
      ),
      bytes: counter("Bytes of the answers' bodies, decompressed.", "reading"),
      error: textOrNull("Why the stream failed, in words; NULL where it did not."),
      service_rows: countOrNull(
        "Rows the service has: its list's own total, else the rows its pages showed; of details, the rows to ask for. NULL where the run could not tell.",
      ),
      table_rows: countOrNull("Live rows of the stream's main table when the run was through with it."),
      difference: countOrNull(
        "table_rows less service_rows: above 0 the table has more, below 0 the service; NULL where not known.",
      ),
      difference_reason: textOrNull("Why the two differ, equal where they don't, or why they were not compared."),
      before_start: counter(
        "Rows the service sent though they are from before streams.start: they were left out.",
        "publishing",
      ),
      recent: flagOrNull("Whether it is among the last 30 runs that worked on the stream; NULL where it is not."),
    },
    {
      key: ["run_id", "company", "stream"],
      indexes: [{ by: ["started_at"] }, { by: ["company", "stream", "started_at"], where: "recent" }],
    },
  ),
  stream_state: table(
    "The program's own memory of each stream between runs. Not meant to be read or changed by hand.",
    {
      company,
      stream,
      state: json("JSON of the high-water mark, full scans and refusals; its form may change with any version."),
      updated_at: moment("When a publish last wrote it."),
    },
    { key: ["company", "stream"] },
  ),
  ...detailTables,
  streams: table(
    "For dashboards: how fresh and how full each stream's table is, one row a stream and company.",
    {
      company,
      stream,
      table_name: text("The stream's main table; its child tables are as fresh."),
      on: flag(
        "Whether the configuration of the last run had the stream on; off means the table is no longer updated.",
      ),
      off_since: momentOrNull("Since when the stream is off; NULL while it is on."),
      last_success_at: momentOrNull("When a run last finished the stream without failing; NULL before the first time."),
      complete_to: momentOrNull(
        "Up to when the table holds everything the service had; NULL before the first complete scan. Of details it stays while a run leaves some unfetched.",
      ),
      rows: count("Rows in the table, deleted ones included."),
      live_rows: count("Rows that the service still lists: those without _deleted_at."),
      details_pending: countOrNull(
        "Parent rows whose detail is new, changed or to be tried again and not fetched yet; NULL for streams without a parent.",
      ),
      details_wanted: countOrNull(
        "Parent rows, or values, that details are asked for, as of the last publish; NULL for streams without a parent.",
      ),
      details_never: countOrNull(
        "Of details_wanted those never asked for yet: their detail's rows are not there; NULL for streams without a parent.",
      ),
      note: textOrNull("What else is to be known of the table, in words; NULL where there is nothing."),
    },
    { key: ["company", "table_name"] },
  ),
  rejects: table(
    "Rows of the service that could not be stored, one line a row and reason; `tributary replay --rejects` tries them again.",
    {
      run_id: text("The last run that met the row; runs.run_id."),
      company,
      stream,
      raw: json("The row as it came, JSON without configured secrets; of a row that is no JSON an array of its text."),
      reason: text("Why it could not be stored: what was expected and what came."),
      seen_at: moment("When the row was met last."),
      key: textOrNull("What is known of the row's key, as text; NULL where nothing is."),
      field: textOrNull("API path of the field that made it a reject; NULL where it is the row as a whole."),
      context: json("JSON of what was known beside the row, which a second try needs."),
      digest: text(
        "Tells the row from others: of its reason with its key or, where that is not known whole, with all it said but for volatile fields. further:… stands for many rows, of which raw is an example.",
      ),
      first_seen_at: moment("When the row was met first."),
      times: count("In how many runs the row was met."),
      rows: count(
        "Rows that the line stands for, as the last scan counted them: 1, but of rows that are alike and of those beyond the 1,000 that a run keeps one by one.",
      ),
      scan: text("The scan that met the row last."),
      parent_key: textOrNull("Of details, the key of the parent row whose answer it came in; NULL otherwise."),
      resolved_at: momentOrNull(
        "Since when it is over: it was loaded, or where it would have been met it was not; NULL while it is open.",
      ),
    },
    { key: ["company", "stream", "digest"] },
  ),
  problems: table(
    "Values that did not fit their column, by column and reason; the rows are stored, their _problems has each value.",
    {
      company,
      stream,
      table_name: text("Main or child table that the values were meant for."),
      column_name: text("Column that is NULL in these rows though the service sent something."),
      reason: text("Why the values could not be read: what was expected and what came."),
      rows: count("How many live rows of the table have it now."),
      share: score("Those rows as a share of all live rows of the table, from 0 to 1."),
      example: textOrNull("One of the values as it came, shortened; NULL where it may not be shown."),
      first_seen_at: moment("When the problem was met first."),
      last_seen_at: moment("When the problem was met last: an old time means it is over."),
    },
    { digest: ["company", "stream", "table_name", "column_name", "reason"] },
  ),
  schema_changes: table(
    "How the service's rows differ from its documents: fields that are new, of another type, vanished or back.",
    {
      company,
      stream,
      table_name: text("Table that the field belongs to."),
      column_name: text("The field as a column's name; * where it stands for several."),
      change: text("What is different: a new field and its type, another type than documented, vanished, returned."),
      example: textOrNull(
        "One of the field's values as it came, shortened; NULL where there is none or it may not be shown.",
      ),
      count: count("How many rows showed the difference when it was last seen."),
      first_seen_at: moment("When the difference was noticed first."),
      last_seen_at: moment("When the difference was noticed last."),
    },
    { digest: ["company", "stream", "table_name", "column_name", "change"] },
  ),
  added_columns: table(
    "Columns that were added because the service sends fields its documents don't name (unknown_fields: column).",
    {
      stream,
      table_name: text("Table that got the column."),
      column_name: text("Name of the added column."),
      path: text("API path of the field below its row or array element."),
      kind: text("What its values are taken for: text, count, flag or another kind that decides the column's type."),
      added_at: moment("When a run made the column; rows of before got their values out of _extra."),
    },
    { key: ["table_name", "column_name"] },
  ),
  table_changes: table(
    "How the tables came to have the columns that they have: a row for each change a run made to one of them.",
    {
      stream,
      table_name: text("Table that was made or given another shape."),
      change: text("What was done, in words: created table, added column."),
      version: text("Version of tributary that did it."),
      changed_at: moment("When the run that did it began."),
    },
    { key: ["table_name", "changed_at", "change"] },
  ),
  relations: table(
    "How often assumed relations between tables are true: measured by each run that changed a row of either side, over live rows that may have a counterpart in what is loaded.",
    {
      company,
      from_table: text("Table whose rows refer to others."),
      from_columns: text("Its columns that say which row is meant, separated by commas; _company goes with them."),
      to_table: text("Table or view of the rows that are meant."),
      to_columns: text("The columns there, in the same order."),
      only_where: textOrNull("Condition on from_table for rows to take part, in words of SQL; NULL where all do."),
      matched: count("Rows that have at least one counterpart."),
      unmatched: count("Rows that name a counterpart which is not there: a join would lose them."),
      nulls: count("Rows that name none: one of from_columns is NULL."),
      run_id: run,
      measured_at: moment("When that was counted."),
    },
    { key: ["company", "from_table", "from_columns", "to_table"] },
  ),
  history: table(
    "The spans of time in which every version of a stream's rows was kept in its tables of versions.",
    {
      company,
      stream: text("The stream whose main and child tables have their versions kept."),
      kept_from: moment(
        "From when on: the versions that were current then began with it, or were compared with the rows.",
      ),
      kept_to: momentOrNull(
        "Until when: from then on rows changed without their versions; NULL while every publish writes them.",
      ),
    },
    { key: ["company", "stream", "kept_from"] },
  ),
  verifications: table(
    "What `tributary verify` found: a row for each stream that was compared with the service.",
    {
      run_id: text(
        "Identifier of the verification; it is no run and stands in no other table but verification_differences.",
      ),
      company,
      stream,
      status: text(
        "equal, different (the warehouse is wrong), incomplete (not everything could be read; error says why), incomparable (the service has changed every row), or skipped.",
      ),
      checked_at: moment("When the stream had been compared."),
      seed: text("Text that decided which details were asked for: the same seed asks for the same ones again."),
      sample: countOrNull("Details that were asked for at most; NULL where all were. Lists are always read whole."),
      rows_checked: count("Rows of the service that were compared with the tables, main rows only."),
      rows_equal: count("Those of them that were as the tables have them, child rows included."),
      differences: count("Values and rows of the warehouse that are wrong; they stand in verification_differences."),
      changed_since: count(
        "Rows that the service has changed since they were loaded, or that came or went since: no error.",
      ),
      requests: count("Requests that were sent for the stream."),
      error: textOrNull("Why not everything could be compared; NULL where it was."),
      changed_unseen: count(
        "Details that the service has changed since while their list's rows stayed the same: no error.",
      ),
    },
    { key: ["run_id", "company", "stream"], indexes: [{ by: ["checked_at"] }] },
  ),
  verification_differences: table(
    "The differences that `tributary verify` found, at most 10,000 of a stream and verification.",
    {
      run_id: text("Which verification found it: joins to verifications.run_id."),
      company,
      stream,
      table_name: text("Table of the data schema it was found in."),
      key: text("Key of the row, as column=value, joined by commas."),
      column_name: textOrNull("Column that differs; NULL where it is the row as a whole."),
      kind: text(
        "differs, missing_here (the service has the row), missing_there (only the table has it), changed_since.",
      ),
      warehouse_value: textOrNull("What the table holds, as text; NULL for NULL."),
      service_value: textOrNull("What the service answered, as the table would hold it; NULL for NULL."),
    },
  ),
  privacy: table(
    "Columns whose values are not, or were not always, stored as the service sends them (privacy in the configuration), a row a column.",
    {
      table_name: text("Table of the column; * for fields that the service's documents don't name."),
      column_name: text("Name of the column; _extra stands for all undocumented fields of the table."),
      treatment: textOrNull("exclude, hash or mask; NULL for values that are kept again."),
      was: textOrNull(
        "What was done to values before, while that is still being put right; NULL for nothing, or once it is done.",
      ),
      key_id: textOrNull(
        "Fingerprint of the key that hashes are made with, which tells nothing of the key; NULL without a hash.",
      ),
      since: moment("When the treatment began, or the values were kept again."),
      cleaned_at: momentOrNull("When archive and files were rid of what was stored before; NULL until then."),
    },
    { key: ["table_name", "column_name"] },
  ),
  exports: table(
    "Folders that `tributary export` writes into: after a change of `privacy` each run names those that hold values of another policy.",
    {
      path: text("The folder, as --out named it, from the root of the file system."),
      host: text("Name of the machine that wrote it."),
      policy: text("Id of the policy under which its values were stored; empty where none was treated."),
    },
    { key: ["path"] },
  ),
  uploads: table(
    "Files that `tributary upload` sent or is sending: a row for each time that a content is sent to a company.",
    {
      company,
      sha256: text(
        "SHA-256 of the file's content, hexadecimal: the same content is sent once, unless --again says so.",
      ),
      nth: count("Which sending of this content it is: 1, and one more for each --again."),
      file_name: text("Name of the file, which the service is told."),
      bytes: count("Size of the file, in bytes, when it was sent."),
      content_type: text("Media type that the service is told."),
      key: textOrNull("The service's key of the upload; NULL until it gave one."),
      doc_id: textOrNull("Document that became of it: documents.doc_id; NULL while the service has named none."),
      state: text(
        "begun, sent (the bytes are there), finalizing (asked for, and whether it was done is not known), finalized, failed.",
      ),
      error: textOrNull("Why it failed, or why it is not known whether it was finalized; NULL otherwise."),
      started_at: moment("When the sending began."),
      changed_at: moment("When its state last changed."),
    },
    { key: ["company", "sha256", "nth"] },
  ),
  currency_factors: table(
    "What amounts are multiplied by to get them in the reporting currency: a row a currency and day, as `currency` says.",
    {
      currency_code: text("Currency of the amount."),
      rate_date: date("Calendar day that the amount is of."),
      factor: text("A decimal with 15 digits behind the point."),
    },
    { key: ["currency_code", "rate_date"] },
  ),
  holders: table(
    "Who works on what at this moment. A row alone proves nothing: a killed run leaves its rows behind.",
    {
      company,
      family: text("The list that is held, with all its details; or what is held of a key, or of a run."),
      run_id: run,
      holder: json("JSON of the process that holds it: pid, host, command and since when."),
      since: moment("When the run took hold of it."),
    },
    { key: ["company", "family"] },
  ),
};

export type StateTables = { [Name in keyof typeof stateTables]: RowOf<(typeof stateTables)[Name]> };

/** PostgreSQL's table of the scans under way. */
export const STAGES = "stages";

export const stagesTable = table(
  "Scans that are being read, or were interrupted: how far each is. Empty while nothing is under way.",
  {
    company,
    stream,
    layout: text("Fingerprint of the staged tables' columns; staged rows of another layout are thrown away."),
    record: json("JSON of the scan: its request, the page it has come to, what it counted."),
    staged: count("Rows that are staged for the scan."),
  },
  { key: ["company", "stream"], unlogged: true },
);

/** Name of a stream's row state: `_company`, the key, hash, vhash, stamp, first_seen_at, missing_since, deleted_at. */
export function rowStateName(mainTable: string): string {
  return `rows_${mainTable}`;
}
