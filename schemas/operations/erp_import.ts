import { id, list, moment, quantity, record, text } from "../fields.ts";

/** A row of `GET /erp/import/connections`. */
export const erpImportConnection = record("Systems whose files are imported, one row a connection.", {
  id: id().describe("Identifier of the import connection, unique within the company."),
  system_type: text().describe("Kind of system, as the service names it; values not documented."),
  system_name: text().describe("Name of the system as the company gave it."),
  status: text().describe("Whether the connection is in use, as the service names it; values not documented."),
  created_at: moment().nullable().describe("When the connection was set up; null where that is not known."),
  updated_at: moment().nullable().describe("When the connection was last edited; null where that is not known."),
});

/** A row of `GET /erp/import/runs`. */
export const erpImportRun = record("Imports of ERP files, one row a file that was read.", {
  id: id().describe("Identifier of the import, unique within the company."),
  target_table: text().nullable().describe("The service's table that was filled; null where that is not known."),
  status: text().describe("Where the import stands, as the service names it; values not documented."),
  rows_imported: quantity().nullable().describe("How many rows were taken over; null where they were not counted."),
  rows_failed: quantity()
    .nullable()
    .describe("How many rows could not be taken over; null where they were not counted."),
  error_message: text().nullable().describe("What went wrong, in the service's words; null where nothing did."),
  created_at: moment().nullable().describe("When the import began; null where that is not known."),
  completed_at: moment().nullable().describe("When the import ended; null as long as it has not."),
});

/** An element of `rows[]` of `GET /erp/import/runs/{id}/rows`. */
export const erpImportRow = record("Rows of imported ERP files, cell by cell, as far as the service returns them.", {
  row_number: quantity().describe("Number of the row within its file, as the service counts."),
  cells: list().describe("What the file has in the row, column by column; its form is not documented, kept as JSON."),
});
