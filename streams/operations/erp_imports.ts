import { erpImportConnection, erpImportRow, erpImportRun } from "../../schemas/operations/erp_import.ts";
import { defineStream, detail, list, type PageColumn } from "../../src/catalog/stream.ts";

export const erpImportConnections = defineStream({
  name: "erp_import_connections",
  path: "/erp/import/connections",
  mode: list({ rows: "connections" }),
  row: erpImportConnection,
  key: ["id"],
  preset: "standard",
});

export const erpImportRuns = defineStream({
  name: "erp_import_runs",
  path: "/erp/import/runs",
  mode: list({ rows: "import_runs", absence: "kept" }),
  row: erpImportRun,
  key: ["id"],
  preset: "standard",
});

const ofTheRun = (name: string, kind: PageColumn["kind"], description: string): PageColumn => ({
  name,
  kind,
  field: name,
  description,
});

const run: readonly PageColumn[] = [
  ofTheRun("import_run_id", "id", "The import as the answer itself numbers it."),
  ofTheRun("target_table", "text", "The service's table that the import filled; null where that is not known."),
  ofTheRun("status", "text", "Where the import stands, as the service names it; values not documented."),
  ofTheRun("total_rows", "quantity", "How many rows the import had; null where they were not counted."),
  ofTheRun("inserted_rows", "quantity", "How many rows the import added; null where they were not counted."),
  ofTheRun("error_rows", "quantity", "How many rows of the import failed; null where they were not counted."),
  ofTheRun("landed_count", "count", "How many rows reached their table; null where they were not counted."),
  ofTheRun("diff_available", "flag", "Whether the service can show what the import changed."),
  ofTheRun("total_data_rows", "quantity", "How many rows of data the file holds; null where they were not counted."),
  ofTheRun("rows_returned", "quantity", "How many rows the service returned, which may be fewer than there are."),
];

export const erpImportRows = defineStream({
  name: "erp_import_rows",
  path: "/erp/import/runs/{id}/rows",
  mode: detail({ of: "erp_import_runs", newest: "created_at", rows: "rows", pageColumns: run }),
  row: erpImportRow,
  key: ["id", "_index"],
  preset: "all",
});
