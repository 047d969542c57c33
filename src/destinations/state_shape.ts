import type { Kind } from "../columns.ts";
import type { StateTables } from "./state_tables.ts";

type StateKind = Extract<Kind, "text" | "count" | "score" | "flag" | "moment" | "json">;

type StateColumns = {
  readonly [Name in keyof StateTables]: { readonly [Column in keyof StateTables[Name]]: StateKind };
};

/** The columns of the warehouse's own tables. */
export const stateColumns: StateColumns = {
  warehouse: { key: "text", value: "json" },
  runs: {
    run_id: "text",
    command: "text",
    status: "text",
    exit_code: "count",
    started_at: "moment",
    finished_at: "moment",
    version: "text",
    process: "json",
    warnings: "json",
    error: "text",
  },
  stream_runs: {
    run_id: "text",
    company: "text",
    stream: "text",
    status: "text",
    started_at: "moment",
    finished_at: "moment",
    requests: "count",
    retries: "count",
    pages: "count",
    rows_read: "count",
    inserted: "count",
    updated: "count",
    unchanged: "count",
    repeated: "count",
    carried: "count",
    missing: "count",
    deleted: "count",
    rejected: "count",
    problems: "count",
    rounded: "count",
    bytes: "count",
    error: "text",
    service_rows: "count",
    table_rows: "count",
    difference: "count",
    difference_reason: "text",
  },
  stream_state: { company: "text", stream: "text", state: "json", updated_at: "moment" },
  details: {
    company: "text",
    stream: "text",
    parent_key: "text",
    parent_hash: "count",
    fetched_at: "moment",
    outcome: "text",
    attempts: "count",
    next_try: "moment",
  },
  streams: {
    company: "text",
    stream: "text",
    table_name: "text",
    on: "flag",
    off_since: "moment",
    last_success_at: "moment",
    complete_to: "moment",
    rows: "count",
    live_rows: "count",
    details_pending: "count",
    note: "text",
  },
  rejects: {
    run_id: "text",
    company: "text",
    stream: "text",
    raw: "json",
    reason: "text",
    seen_at: "moment",
    key: "text",
    field: "text",
    context: "json",
  },
  problems: {
    company: "text",
    stream: "text",
    table_name: "text",
    column_name: "text",
    reason: "text",
    rows: "count",
    share: "score",
    example: "text",
    first_seen_at: "moment",
    last_seen_at: "moment",
  },
  schema_changes: {
    company: "text",
    stream: "text",
    table_name: "text",
    column_name: "text",
    change: "text",
    example: "text",
    count: "count",
    first_seen_at: "moment",
    last_seen_at: "moment",
  },
  added_columns: {
    stream: "text",
    table_name: "text",
    column_name: "text",
    path: "text",
    kind: "text",
    added_at: "moment",
  },
  history: { company: "text", stream: "text", kept_from: "moment", kept_to: "moment" },
  holders: { company: "text", family: "text", run_id: "text", holder: "json", since: "moment" },
};

/** PostgreSQL's table of the scans under way. */
export const STAGES = "stages";

/** Where a key helps PostgreSQL find a row again. */
export const stateKeys: Readonly<Partial<Record<keyof StateTables, readonly string[]>>> = {
  warehouse: ["key"],
  runs: ["run_id"],
  stream_runs: ["run_id", "company", "stream"],
  stream_state: ["company", "stream"],
  details: ["company", "stream", "parent_key"],
  streams: ["company", "table_name"],
  added_columns: ["table_name", "column_name"],
  history: ["company", "stream", "kept_from"],
  holders: ["company", "family"],
};

/** Unique by texts that may be longer than an index entry, hence by their digest. */
export const stateDigests: Readonly<Partial<Record<keyof StateTables, readonly string[]>>> = {
  problems: ["company", "stream", "table_name", "column_name", "reason"],
  schema_changes: ["company", "stream", "table_name", "column_name", "change"],
};
