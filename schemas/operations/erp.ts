import { anyJson, count, flag, id, json, list, moment, quantity, record, score, text } from "../fields.ts";

/** A row of `GET /erp/connections`. */
export const erpConnection = record("Connections to ERP systems that data is exchanged with, one row a connection.", {
  id: id().describe("Identifier of the connection, unique within the company."),
  erp_type: text().describe("ERP system, as the service names it; values not documented."),
  status: text().describe("Whether the connection works, as the service names it; values not documented."),
  sync_vendors: flag().describe("Whether vendors are taken from the ERP system."),
  sync_accounts: flag().describe("Whether ledger accounts are taken from the ERP system."),
  sync_pos: flag().describe("Whether purchase orders are taken from the ERP system."),
  push_bills: flag().describe("Whether bills are handed to the ERP system."),
  last_sync_at: moment().nullable().describe("When data was last exchanged; null where it never was."),
  error_message: text().nullable().describe("What went wrong last, in the service's words; null where nothing did."),
  created_at: moment().nullable().describe("When the connection was set up; null where that is not known."),
});

/** A row of `GET /erp/field-mappings`. */
export const erpFieldMapping = record(
  "Which field of an ERP system becomes which field of the service, one row a field.",
  {
    id: id().describe("Identifier of the mapping, unique within the company."),
    erp_type: text().describe("ERP system that the field comes from, as the service names it."),
    entity_type: text().describe("Kind of record that has the field, as the service names it; values not documented."),
    source_field: text().describe("Name of the field in the ERP system."),
    source_field_label: text().nullable().describe("Label of the field in the ERP system; null where it has none."),
    source_field_type: text().nullable().describe("Type of the field in the ERP system; null where it is not known."),
    target_table: text().nullable().describe("The service's table that the field goes to; null while it goes nowhere."),
    target_field: text().nullable().describe("Field of that table which takes the value; null while it goes nowhere."),
    target_jsonb_path: text()
      .nullable()
      .describe("Path within a JSON field that takes the value; null for plain fields."),
    confidence: score().nullable().describe("How sure the service is of the mapping; the scale is not documented."),
    status: text().describe("Whether the mapping is in force, as the service names it; values not documented."),
    source: text().nullable().describe("Who made the mapping, as the service names it; values not documented."),
    transform_type: text().nullable().describe("How values are changed on their way; null where they are not."),
    transform_config: json().nullable().describe("Settings of that change; content not documented, kept as JSON."),
    created_at: moment().nullable().describe("When the mapping was made; null where that is not known."),
    updated_at: moment().nullable().describe("When the mapping was last edited; null where that is not known."),
  },
);

/** A row of `GET /erp/mappings`. */
export const erpMapping = record("How the columns of imported ERP files are read, one row a kind of file.", {
  id: id().describe("Identifier of the mapping, unique within the company."),
  import_connection_id: id().nullable().describe("Import connection it belongs to, erp_import_connections.id."),
  system_name: text().nullable().describe("Name of the system the files come from; null where that is not known."),
  target_table: text().nullable().describe("The service's table that the files fill; null where that is not known."),
  column_mapping: json().nullable().describe("Which column goes where; content not documented, kept as JSON."),
  header_values: list().nullable().describe("Headings by which such files are recognised, a list kept as JSON."),
  created_at: moment().nullable().describe("When the mapping was made; null where that is not known."),
});

/** A row of `GET /erp/sync/logs`. */
export const erpSyncLog = record("Exchanges of data with ERP systems, one row an exchange.", {
  id: id().describe("Identifier of the exchange, unique within the company."),
  erp_type: text().describe("ERP system that data was exchanged with, as the service names it."),
  direction: text().nullable().describe("Whether data came or went, as the service names it; values not documented."),
  entity_type: text().nullable().describe("Kind of records that were exchanged, as the service names it."),
  entity_count: count().nullable().describe("How many records were exchanged; null where they were not counted."),
  status: text().describe("How the exchange ended, as the service names it; values not documented."),
  error_message: text().nullable().describe("What went wrong, in the service's words; null where nothing did."),
  started_at: moment().nullable().describe("When the exchange began; null where that is not known."),
  completed_at: moment().nullable().describe("When the exchange ended; null as long as it has not."),
  duration_ms: quantity().nullable().describe("How long the exchange took, in milliseconds; null where not known."),
});

/** A row of `GET /erp/unmapped-columns`. */
export const erpUnmappedColumn = record("Columns from ERP systems that the service does not know where to put.", {
  id: id().describe("Identifier of the unplaced column, unique within the company."),
  connection_id: id().nullable().describe("Connection the column came by; which list it refers to is not documented."),
  entity_type: text().nullable().describe("Kind of record that has the column, as the service names it."),
  source_field: text().describe("Name of the column in the ERP system."),
  sample_values: anyJson()
    .nullable()
    .describe("Some of the column's values; their form is not documented, kept as JSON."),
  suggested_target_table: text()
    .nullable()
    .describe("The service's table it may belong to; null without a suggestion."),
  suggested_target_column: text()
    .nullable()
    .describe("Column of that table it may belong to; null without a suggestion."),
  suggested_confidence: score().nullable().describe("How sure the suggestion is; the scale is not documented."),
  parking_reason: text().describe("Why the column was put aside, as the service names it; values not documented."),
  created_at: moment().nullable().describe("When the column was put aside; null where that is not known."),
});
