/*
 * The warehouse's own tables, in the state schema. Moments are ISO 8601 text on the way in and Date on the way out;
 * bigint counts come back as number, JSON as parsed values (both destinations convert).
 */
import type { ColumnType, Generated } from "kysely";

type Moment = ColumnType<Date, string, string>;
type OptionalMoment = ColumnType<Date | null, string | null | undefined, string | null>;
type Json = ColumnType<unknown, string | null | undefined, string | null>;

/** What the warehouse is: `key` is `version`, `program`, `schema`, `company:<name>` (value: {base_url, company_id}), or that of a record of tables, views or columns. */
export interface WarehouseTable {
  key: string;
  value: Json;
}

export interface RunsTable {
  run_id: string;
  command: string;
  status: string;
  exit_code: number | null;
  started_at: Moment;
  finished_at: OptionalMoment;
  version: string;
  /** {pid, host} of the process, to tell a killed run from a running one. */
  process: Json;
  warnings: Json;
  error: string | null;
}

export interface StreamRunsTable {
  run_id: string;
  company: string;
  stream: string;
  status: string;
  started_at: Moment;
  finished_at: OptionalMoment;
  requests: number;
  retries: number;
  pages: number;
  rows_read: number;
  inserted: number;
  updated: number;
  unchanged: number;
  repeated: number;
  carried: number;
  missing: number;
  deleted: number;
  rejected: number;
  problems: number;
  rounded: number;
  before_start: number;
  bytes: number;
  error: string | null;
  /** What the service has of the stream's rows, as far as the run could tell. */
  service_rows: number | null;
  /** Live rows of the stream's main table after it. */
  table_rows: number | null;
  /** Table less service. */
  difference: number | null;
  difference_reason: string | null;
  /** Among the last that the stream was worked on; null: not. */
  recent: boolean | null;
}

export interface StreamStateTable {
  company: string;
  stream: string;
  state: Json;
  updated_at: Moment;
}

/** The truth about the age of every detail. `outcome`: ok, absent, failed. */
export interface DetailsTable {
  company: string;
  stream: string;
  parent_key: string;
  parent_hash: ColumnType<string | null, string | null, string | null>;
  fetched_at: Moment;
  outcome: string;
  attempts: number;
  next_try: OptionalMoment;
}

/** For dashboards: one row a stream's table. */
export interface StreamsTable {
  company: string;
  stream: string;
  table_name: string;
  on: boolean;
  off_since: OptionalMoment;
  last_success_at: OptionalMoment;
  complete_to: OptionalMoment;
  rows: number;
  live_rows: number;
  details_pending: number | null;
  /** Parent rows or values that details are asked for, and those of them that never were. */
  details_wanted: number | null;
  details_never: number | null;
  note: string | null;
}

export interface RejectsTable {
  run_id: string;
  company: string;
  stream: string;
  raw: Json;
  reason: string;
  seen_at: Moment;
  /** What is known of its key; null for nothing. */
  key: string | null;
  /** Path of the field that made it a reject. */
  field: string | null;
  /** What the reader knew beside the row: {context, page}. */
  context: Json;
  /** Tells it from others of the stream; see `rejectDigest`. */
  digest: string;
  first_seen_at: Moment;
  /** Runs that met it. */
  times: number;
  /** Rows of the scan that it stands for. */
  rows: number;
  /** The scan that met it last; null: an older version kept it. */
  scan: string | null;
  /** Of details the parent whose answer it came in. */
  parent_key: string | null;
  resolved_at: OptionalMoment;
}

export interface ProblemsTable {
  company: string;
  stream: string;
  table_name: string;
  column_name: string;
  reason: string;
  rows: number;
  share: number;
  example: string | null;
  first_seen_at: Moment;
  last_seen_at: Moment;
}

export interface SchemaChangesTable {
  company: string;
  stream: string;
  table_name: string;
  column_name: string;
  change: string;
  example: string | null;
  count: Generated<number>;
  first_seen_at: Moment;
  last_seen_at: Moment;
}

/** Columns that stand for fields which the service sends and its documents don't name. They belong to all companies. */
export interface AddedColumnsTable {
  stream: string;
  table_name: string;
  column_name: string;
  /** Below the row or array element, dotted. */
  path: string;
  kind: string;
  added_at: Moment;
}

/** The spans of time in which the versions of a stream's rows were kept; `kept_to` null: they are, by every publish. */
export interface HistoryTable {
  company: string;
  stream: string;
  kept_from: Moment;
  kept_to: OptionalMoment;
}

/** A stream that was compared with the service once more. */
export interface VerificationsTable {
  run_id: string;
  company: string;
  stream: string;
  /** equal, different, incomplete (not all could be read), skipped. */
  status: string;
  checked_at: Moment;
  /** Decides which details were asked for. */
  seed: string;
  /** Details that were asked for at most; null: all. */
  sample: number | null;
  rows_checked: number;
  rows_equal: number;
  differences: number;
  /** Rows that the service has changed since they were loaded: no fault of anybody's. */
  changed_since: number;
  requests: number;
  error: string | null;
}

/** What a verification found: a row for each value, or for a row that one side lacks. */
export interface VerificationDifferencesTable {
  run_id: string;
  company: string;
  stream: string;
  table_name: string;
  /** As `column=value`, joined by commas. */
  key: string;
  /** Null: the row as a whole. Of a row that the service changed since, all columns that differ. */
  column_name: string | null;
  /** differs, missing_here, missing_there, changed_since. */
  kind: string;
  warehouse_value: string | null;
  service_value: string | null;
}

/**
 * What becomes of values that are not stored as they come; `_extra` of table `*`: of fields that the documents don't name.
 * `treatment` null: they are stored as they come again. `cleaned_at` null: files may still hold what was there before.
 */
export interface PrivacyTable {
  table_name: string;
  column_name: string;
  treatment: string | null;
  /** The treatment before this one; null: none. */
  was: string | null;
  /** Of the key that hashes are made with. */
  key_id: string | null;
  since: Moment;
  cleaned_at: OptionalMoment;
}

/** Who works on what (PostgreSQL: the row that every transaction checks; DuckDB: beside the file). */
export interface HoldersTable {
  company: string;
  family: string;
  run_id: string;
  holder: Json;
  since: Moment;
}

/** How often an assumed relation is true, as last measured: live rows that have their counterpart, lack it, or name none. */
export interface RelationsTable {
  company: string;
  from_table: string;
  from_columns: string;
  to_table: string;
  to_columns: string;
  only_where: string | null;
  matched: number;
  unmatched: number;
  nulls: number;
  run_id: string;
  measured_at: Moment;
}

export interface ExportsTable {
  path: string;
  host: string;
  noted_at: Moment;
}

/** Kysely's view of the state schema. */
export interface StateTables {
  warehouse: WarehouseTable;
  runs: RunsTable;
  stream_runs: StreamRunsTable;
  stream_state: StreamStateTable;
  details: DetailsTable;
  streams: StreamsTable;
  rejects: RejectsTable;
  problems: ProblemsTable;
  schema_changes: SchemaChangesTable;
  added_columns: AddedColumnsTable;
  history: HistoryTable;
  verifications: VerificationsTable;
  verification_differences: VerificationDifferencesTable;
  privacy: PrivacyTable;
  exports: ExportsTable;
  relations: RelationsTable;
  holders: HoldersTable;
}

/** Name of a stream's row state: `_company`, the key, hash, vhash, stamp, first_seen_at, missing_since, deleted_at. */
export function rowStateName(mainTable: string): string {
  return `rows_${mainTable}`;
}
