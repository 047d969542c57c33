import type { Dialect } from "../dialect.ts";
import type { StateTables } from "../state_tables.ts";
import { STAGES, type stateColumns } from "./state_shape.ts";

/** What a table of the state schema is for, and each of its columns. */
export interface StateComment {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
}

type Comments = {
  readonly [Name in keyof StateTables]: {
    readonly table: string;
    readonly columns: { readonly [Column in keyof (typeof stateColumns)[Name]]: string };
  };
};

const company = "Company of the configuration, as in the data tables' _company.";
const stream = "Name of the stream, as `tributary streams` lists it.";
const run = "Which run it was: joins to runs.run_id.";

/** For people who look into the state schema: what dashboards may rely on, and what is the program's own memory. */
export const stateComments: Comments = {
  warehouse: {
    table: "What this warehouse is and whose: a row for each fact that a run checks before it writes.",
    columns: {
      key: "Which fact: version (of the state schema), program (the release that shaped the tables last), maker (the newest that made one), schema (of the data), tables (those ever made), columns (those they were given), unfilled:… (a column that the next run fills from _extra), company:<name>.",
      value:
        "The fact as JSON; of a company its base_url and, where the key may read it, the service's own company_id.",
    },
  },
  runs: {
    table: "Every command that wrote to the warehouse, one row a run, the latest by started_at.",
    columns: {
      run_id: "Identifier of the run, in its log lines too.",
      command:
        "What was called: `tributary sync`, backfill or replay, or `tributary schedule` with the schedule's name.",
      status: "running, succeeded, warning (done, with something to look at), failed, or stopped by a limit or signal.",
      exit_code: "Code the command ended with, 0 for success; NULL while it runs and where it was killed.",
      started_at: "When the run began; its clock is that of the machine it ran on.",
      finished_at: "When the run ended; NULL while it runs. A killed run gets the time at which the next one noticed.",
      version: "Version of tributary that ran.",
      process: "JSON of the process and its machine (pid, host), by which a killed run is told from a running one.",
      warnings: "JSON list of the sentences that the run warned with; empty when there were none.",
      error: "Why the run as a whole failed, in words; NULL where it did not.",
    },
  },
  stream_runs: {
    table: "What each run did with each stream: requests, rows and how it ended.",
    columns: {
      run_id: run,
      company,
      stream,
      status: "running, succeeded, warning, incomplete, failed, stopped (a limit or signal) or skipped.",
      started_at: "When the run turned to the stream.",
      finished_at: "When the run was through with the stream; NULL while it works on it.",
      requests: "Requests sent for the stream, repeated tries included.",
      retries: "Requests that were a further try of one that had failed.",
      pages: "Answers with rows that were read; a detail's answer counts as one.",
      rows_read: "Rows the service sent, main rows only.",
      inserted: "Rows that were new to the table, or came back after a deletion.",
      updated: "Rows whose values had changed.",
      unchanged: "Rows that were as the table had them already: nothing was written for them.",
      repeated: "Rows the service sent more than once in the scan; the last one counts.",
      carried: "Rows that an earlier run had read of the same scan, which this one continued.",
      missing: "Rows that a complete scan did not see and that are still kept as listed, for want of proof.",
      deleted: "Rows that got their _deleted_at: the service no longer lists them.",
      rejected: "Rows that could not be stored at all; they stand in rejects.",
      problems: "Values that did not fit their column and became NULL; they stand in problems.",
      rounded:
        "Values that were stored, but not as they came: decimals with more than nine places (rounded half away from zero), empty texts in columns of numbers, dates and times (NULL), days in a column of times and midnights in one of dates.",
      before_start: "Rows the service sent though they are from before streams.start: they were left out.",
      bytes: "Bytes of the answers' bodies, decompressed.",
      error: "Why the stream failed, in words; NULL where it did not.",
      service_rows:
        "Rows the service has: its list's own total, else the rows its pages showed; of details, the rows to ask for. NULL where the run could not tell.",
      table_rows: "Live rows of the stream's main table when the run was through with it.",
      difference:
        "table_rows less service_rows: above 0 the table has more, below 0 the service; NULL where not known.",
      difference_reason: "Why the two differ, equal where they don't, or why they were not compared.",
      recent: "Whether it is among the last 30 runs that worked on the stream; NULL where it is not.",
    },
  },
  stream_state: {
    table: "The program's own memory of each stream between runs. Not meant to be read or changed by hand.",
    columns: {
      company,
      stream,
      state: "JSON of the high-water mark, full scans and refusals; its form may change with any version.",
      updated_at: "When a publish last wrote it.",
    },
  },
  details: {
    table: "How old every detail is: one row for each parent row that was asked for, whatever came of it.",
    columns: {
      company,
      stream: "Name of the stream of details, whose table of the same name holds the rows.",
      parent_key: "Key of the parent row that the request was for, as text.",
      parent_hash:
        "Fingerprint of the parent row when the request went out: another one there means the detail is due again. NULL: it is due because `formats` changed.",
      fetched_at: "When the service answered: the age of the detail's rows.",
      outcome: "ok, absent (the service has none: 404) or failed.",
      attempts: "Requests in a row that failed; 0 after an answer.",
      next_try: "When a failed one may be asked for again; NULL where nothing failed.",
    },
  },
  streams: {
    table: "For dashboards: how fresh and how full each stream's table is, one row a stream and company.",
    columns: {
      company,
      stream,
      table_name: "The stream's main table; its child tables are as fresh.",
      on: "Whether the configuration of the last run had the stream on; off means the table is no longer updated.",
      off_since: "Since when the stream is off; NULL while it is on.",
      last_success_at: "When a run last finished the stream without failing; NULL before the first time.",
      complete_to:
        "Up to when the table holds everything the service had; NULL before the first complete scan. Of details it stays while a run leaves some unfetched.",
      rows: "Rows in the table, deleted ones included.",
      live_rows: "Rows that the service still lists: those without _deleted_at.",
      details_pending:
        "Parent rows whose detail is new, changed or to be tried again and not fetched yet; NULL for streams without a parent.",
      details_wanted:
        "Parent rows, or values, that details are asked for, as of the last publish; NULL for streams without a parent.",
      details_never:
        "Of details_wanted those never asked for yet: their detail's rows are not there; NULL for streams without a parent.",
      note: "What else is to be known of the table, in words; NULL where there is nothing.",
    },
  },
  rejects: {
    table:
      "Rows of the service that could not be stored, one line a row and reason; `tributary replay --rejects` tries them again.",
    columns: {
      run_id: "The last run that met the row; runs.run_id.",
      company,
      stream,
      raw: "The row as it came, JSON without what the configuration calls secret.",
      reason: "Why it could not be stored: what was expected and what came.",
      seen_at: "When the row was met last.",
      key: "What is known of the row's key, as text; NULL where nothing is.",
      field: "API path of the field that made it a reject; NULL where it is the row as a whole.",
      context: "JSON of what was known beside the row, which a second try needs; NULL where nothing was.",
      digest:
        "Tells the row from others: of its reason with its key or, where that is not known whole, with all it said but for volatile fields. further:… stands for many rows, of which raw is an example.",
      first_seen_at: "When the row was met first.",
      times: "In how many runs the row was met.",
      rows: "Rows that the line stands for, as the last scan counted them: 1, but of rows that are alike and of those beyond the 1,000 that a run keeps one by one.",
      scan: "The scan that met the row last; NULL where an older version kept it.",
      parent_key: "Of details, the key of the parent row whose answer it came in; NULL otherwise.",
      resolved_at:
        "Since when it is over: it was loaded, or where it would have been met it was not; NULL while it is open.",
    },
  },
  problems: {
    table:
      "Values that did not fit their column, by column and reason; the rows are stored, their _problems has each value.",
    columns: {
      company,
      stream,
      table_name: "Main or child table that the values were meant for.",
      column_name: "Column that is NULL in these rows though the service sent something.",
      reason: "Why the values could not be read: what was expected and what came.",
      rows: "How many live rows of the table have it now.",
      share: "Those rows as a share of all live rows of the table, from 0 to 1.",
      example: "One of the values as it came, shortened; NULL where it may not be shown.",
      first_seen_at: "When the problem was met first.",
      last_seen_at: "When the problem was met last: an old time means it is over.",
    },
  },
  schema_changes: {
    table: "How the service's rows differ from its documents: fields that are new, of another type, vanished or back.",
    columns: {
      company,
      stream,
      table_name: "Table that the field belongs to.",
      column_name: "The field as a column's name; * where it stands for several.",
      change: "What is different: a new field and its type, another type than documented, vanished, returned.",
      example: "One of the field's values as it came, shortened; NULL where there is none or it may not be shown.",
      count: "How many rows showed the difference when it was last seen.",
      first_seen_at: "When the difference was noticed first.",
      last_seen_at: "When the difference was noticed last.",
    },
  },
  added_columns: {
    table:
      "Columns that were added because the service sends fields its documents don't name (unknown_fields: column).",
    columns: {
      stream,
      table_name: "Table that got the column.",
      column_name: "Name of the added column.",
      path: "API path of the field below its row or array element.",
      kind: "What its values are taken for: text, count, flag or another kind that decides the column's type.",
      added_at: "When a run made the column; rows of before got their values out of _extra.",
    },
  },
  history: {
    table: "The spans of time in which every version of a stream's rows was kept in its tables of versions.",
    columns: {
      company,
      stream: "The stream whose main and child tables have their versions kept.",
      kept_from: "From when on: the versions that were current then began with it, or were compared with the rows.",
      kept_to: "Until when: from then on rows changed without their versions; NULL while every publish writes them.",
    },
  },
  verifications: {
    table: "What `tributary verify` found: a row for each stream that was compared with the service.",
    columns: {
      run_id: "Identifier of the verification; it is no run and stands in no other table but verification_differences.",
      company,
      stream,
      status:
        "equal, different (the warehouse is wrong), incomplete (not everything could be read; error says why), or skipped.",
      checked_at: "When the stream had been compared.",
      seed: "Text that decided which details were asked for: the same seed asks for the same ones again.",
      sample: "Details that were asked for at most; NULL where all were. Lists are always read whole.",
      rows_checked: "Rows of the service that were compared with the tables, main rows only.",
      rows_equal: "Those of them that were as the tables have them, child rows included.",
      differences: "Values and rows of the warehouse that are wrong; they stand in verification_differences.",
      changed_since: "Rows that the service has changed since they were loaded, or that came or went since: no error.",
      requests: "Requests that were sent for the stream.",
      error: "Why not everything could be compared; NULL where it was.",
    },
  },
  verification_differences: {
    table: "The differences that `tributary verify` found, at most 10,000 of a stream and verification.",
    columns: {
      run_id: "Which verification found it: joins to verifications.run_id.",
      company,
      stream,
      table_name: "Table of the data schema it was found in.",
      key: "Key of the row, as column=value, joined by commas.",
      column_name: "Column that differs; NULL where it is the row as a whole.",
      kind: "differs, missing_here (the service has the row), missing_there (only the table has it), changed_since.",
      warehouse_value: "What the table holds, as text; NULL for NULL.",
      service_value: "What the service answered, as the table would hold it; NULL for NULL.",
    },
  },
  privacy: {
    table:
      "Columns whose values are not, or were not always, stored as the service sends them (privacy in the configuration), a row a column.",
    columns: {
      table_name: "Table of the column; * for fields that the service's documents don't name.",
      column_name: "Name of the column; _extra stands for all undocumented fields of the table.",
      treatment: "exclude, hash or mask; NULL for values that are kept again.",
      was: "What was done to values before, while that is still being put right; NULL for nothing, or once it is done.",
      key_id: "Fingerprint of the key that hashes are made with, which tells nothing of the key; NULL without a hash.",
      since: "When the treatment began, or the values were kept again.",
      cleaned_at: "When archive and files were rid of what was stored before; NULL until then.",
    },
  },
  relations: {
    table:
      "How often assumed relations between tables are true: measured by each run that changed a row of either side, over live rows.",
    columns: {
      company,
      from_table: "Table whose rows refer to others.",
      from_columns: "Its columns that say which row is meant, separated by commas; _company goes with them.",
      to_table: "Table or view of the rows that are meant.",
      to_columns: "The columns there, in the same order.",
      only_where: "Condition on from_table for rows to take part, in words of SQL; NULL where all do.",
      matched: "Rows that have at least one counterpart.",
      unmatched: "Rows that name a counterpart which is not there: a join would lose them.",
      nulls: "Rows that name none: one of from_columns is NULL.",
      run_id: run,
      measured_at: "When that was counted.",
    },
  },
  exports: {
    table: "Folders that `tributary export` writes into: a change of privacy reaches them too.",
    columns: {
      path: "The folder, as --out named it, from the root of the file system.",
      host: "Name of the machine that wrote it.",
      noted_at: "When it was first written from this warehouse.",
    },
  },
  holders: {
    table: "Who works on what at this moment. A row alone proves nothing: a killed run leaves its rows behind.",
    columns: {
      company,
      family: "The list whose rows, with all their details, are held.",
      run_id: run,
      holder: "JSON of the process that holds it: pid, host, command and since when.",
      since: "When the run took hold of it.",
    },
  },
};

/** PostgreSQL only: the records of scans under way. */
export const stagesComment: StateComment = {
  table: "Scans that are being read, or were interrupted: how far each is. Empty while nothing is under way.",
  columns: {
    company,
    stream,
    layout: "Fingerprint of the staged tables' columns; staged rows of another layout are thrown away.",
    record: "JSON of the scan: its request, the page it has come to, what it counted.",
    staged: "Rows that are staged for the scan.",
  },
};

/** Every state table with its comment, as this dialect has them. */
export function commentsOfState(dialect: Dialect): ReadonlyMap<string, StateComment> {
  const all = new Map<string, StateComment>(Object.entries(stateComments));
  return dialect.name === "postgres" ? all.set(STAGES, stagesComment) : all;
}
