import { catalog, template } from "../../message.ts";

const because = (reason: string, render: (reason: string) => string) =>
  template({ reason }, fields => render(fields.reason));

export const lakeMessages = catalog("lake", {
  extension_unusable: template(
    {
      ...{ extension: "ducklake", version: "v1.5.0", platform: "linux_amd64" },
      path: "/opt/duckdb/ducklake.duckdb_extension",
      reason: "Invalid Input Error: Failed to load '/opt/duckdb/ducklake.duckdb_extension'",
    },
    ({ extension, version, platform, path, reason }) =>
      `Expected ${path} to be DuckDB's extension ${extension} for DuckDB ${version} on ${platform}, but: ${reason}. Put that one into destination.extensions.`,
  ),
  extension_missing: template(
    {
      ...{ extension: "ducklake", version: "v1.5.0", platform: "linux_amd64" },
      file: "ducklake.duckdb_extension",
      folders: ["/opt/duckdb", "/opt/duckdb/v1.5.0/linux_amd64"],
    },
    ({ extension, version, platform, file, folders }) =>
      `Expected DuckDB's extension ${extension} (DuckDB ${version}, ${platform}) in destination.extensions, but there is no ${file} in ${folders.join(", nor in ")}. Put it there, or leave destination.extensions out on a machine that reaches extensions.duckdb.org.`,
  ),
  extension_not_installed:
    'Expected DuckDB to install its extension {extension=ducklake}, which destination.type ducklake needs, but: {reason=IO Error: Failed to download extension "ducklake"}. Let this machine reach extensions.duckdb.org once, or put the extensions into a folder and name it in destination.extensions.',
  files_missing:
    "Expected the files of the lake in {data_path=/mnt/lake}, but nothing is there: see that the drive is mounted. Nothing was changed.",
  file_lost:
    "The file {file=/mnt/lake/dw/items/ducklake-01a2.parquet} of table {table=items} is not there, though the lake's catalog names it. Repeat the command: a run may have replaced the file meanwhile. If it fails again, restore the file from a backup. Without one, run `tributary reset <stream> --drop` for the stream of {table=items} and all companies: it drops the tables unread, and the next run loads them again.",
  other_data_path:
    'destination.data_path is {data_path=/mnt/lake}, but the lake of this catalog keeps its files elsewhere ({reason=Invalid Configuration Error: DATA_PATH parameter "/mnt/lake/" does not match}). Set data_path to where they are, or give the new lake a catalog_schema of its own.',
  other_version: because(
    "DuckLake catalog version mismatch: only versions 0.1 to 0.3 are supported",
    reason =>
      `The lake's catalog is of another version than DuckDB's extension ducklake here (${reason}). Use the tributary of the newer one.`,
  ),
  catalog_lost: because(
    "IO Error: Unable to connect to Postgres",
    reason =>
      `The connection to the PostgreSQL of destination.catalog was lost, or none came about (${reason}). What was committed stays and the next run goes on from there; check address, server and network.`,
  ),
  other_writer: because(
    "TransactionContext Error: Transaction conflict",
    reason =>
      `Another program wrote to the lake at the same moment, and its transaction came first (${reason}). Nothing of this one was stored; the next run goes on from there.`,
  ),
  settings_refused: because(
    "FATAL: unsupported startup parameter: options",
    reason =>
      `The PostgreSQL of destination.catalog, or a pooler before it, accepts no settings at the start of a connection (${reason}). Its statement and idle limits can end a publish. Put the server's direct address into destination.catalog, or set statement_timeout, idle_in_transaction_session_timeout and idle_session_timeout to 0 for the role.`,
  ),
  storage_refused: because(
    "HTTP Error: HTTP GET error on 's3://lake/': Forbidden (HTTP 403)",
    reason =>
      `The object storage of destination.data_path refused the credentials (${reason}). Check destination.storage and what they may do in that bucket.`,
  ),
  storage_failed: because(
    "HTTP Error: HTTP PUT error on 's3://lake/': Service Unavailable (HTTP 503)",
    reason =>
      `The object storage of destination.data_path did not do what it was asked (${reason}). What was committed stays and the next run goes on from there; check destination.storage and the network.`,
  ),
});
