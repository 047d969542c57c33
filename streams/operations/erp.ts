import {
  erpConnection,
  erpFieldMapping,
  erpMapping,
  erpSyncLog,
  erpUnmappedColumn,
} from "../../schemas/operations/erp.ts";
import { defineStream, list } from "../../src/catalog/stream.ts";

export const erpConnections = defineStream({
  name: "erp_connections",
  path: "/erp/connections",
  mode: list({ rows: "connections" }),
  row: erpConnection,
  key: ["id"],
  preset: "standard",
});

export const erpFieldMappings = defineStream({
  name: "erp_field_mappings",
  path: "/erp/field-mappings",
  mode: list({ rows: "mappings" }),
  row: erpFieldMapping,
  key: ["id"],
  preset: "standard",
});

export const erpMappings = defineStream({
  name: "erp_mappings",
  path: "/erp/mappings",
  mode: list({ rows: "mappings" }),
  row: erpMapping,
  key: ["id"],
  preset: "standard",
});

export const erpSyncLogs = defineStream({
  name: "erp_sync_logs",
  path: "/erp/sync/logs",
  mode: list({ rows: "logs", absence: "kept" }),
  row: erpSyncLog,
  key: ["id"],
  preset: "standard",
});

export const erpUnmappedColumns = defineStream({
  name: "erp_unmapped_columns",
  path: "/erp/unmapped-columns",
  mode: list({ rows: "unmapped_columns" }),
  row: erpUnmappedColumn,
  key: ["id"],
  preset: "standard",
});
