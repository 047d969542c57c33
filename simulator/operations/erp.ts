import type { Company } from "../company/company.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Family } from "../source.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, wholeList } from "./family.ts";

export const SYSTEMS: readonly [string, ...string[]] = ["sap_s4hana", "netsuite", "dynamics_bc"];
const ENTITIES: readonly [string, ...string[]] = ["vendor", "purchase_order", "account", "bill"];
const FIELDS = ["LIFNR", "NAME1", "EBELN", "BEDAT", "WAERS", "ZTERM", "MATNR", "Menge", "custcol_項目", "Net Amount"];
const TABLES = ["vendors", "purchase_orders", "items", "accounts"];

function connectionFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/connections",
    keyField: "id",
    prefix: "erp-",
    drawn: DRAWN.erpConnection,
    row: (entry, v) => {
      const { number, revision } = entry;
      const failed = v.chance(0.3);
      return {
        id: `erp-${number}`,
        erp_type: SYSTEMS[(number - 1) % SYSTEMS.length] ?? SYSTEMS[0],
        status: revision > 0 ? `reconnected (${revision})` : failed ? "error" : "active",
        sync_vendors: v.chance(0.9),
        sync_accounts: v.chance(0.5),
        sync_pos: v.chance(0.8),
        push_bills: v.chance(0.3),
        last_sync_at: v.maybe(v.moment(timeOf(company, entry, 3, 4))),
        error_message: failed ? v.maybe("Anmeldung abgelehnt: token expired") : null,
        created_at: v.maybe(v.moment(timeOf(company, entry, 3, 900))),
      };
    },
  });
}

function fieldMappingFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/field-mappings",
    keyField: "id",
    prefix: "FMP-",
    drawn: DRAWN.fieldMapping,
    row: (entry, v) => {
      const { number, revision } = entry;
      const mapped = v.chance(0.85);
      const transformed = v.chance(0.3);
      const at = timeOf(company, entry, 60, 500);
      return {
        id: `FMP-${number}`,
        erp_type: v.pick(SYSTEMS),
        entity_type: v.pick(ENTITIES),
        source_field: FIELDS[number % FIELDS.length] ?? "FIELD",
        source_field_label: v.maybe(`Feld „${FIELDS[number % FIELDS.length]}“`),
        source_field_type: v.maybe(v.pick(["CHAR(10)", "DATS", "decimal"])),
        target_table: mapped ? v.maybe(TABLES[number % TABLES.length] ?? null) : null,
        target_field: mapped ? v.maybe(`field_${number % 7}`) : null,
        target_jsonb_path: mapped && v.chance(0.3) ? v.maybe("$.custom.zterm") : null,
        confidence: v.maybe(v.below(1001) / 1000),
        status: revision > 0 ? `confirmed (${revision})` : v.pick(["suggested", "confirmed"]),
        source: v.maybe(v.pick(["model", "user"])),
        transform_type: transformed ? v.maybe("date") : null,
        transform_config: transformed ? v.maybe({ format: "YYYYMMDD" }) : null,
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + 60_000)),
      };
    },
  });
}

function mappingFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/mappings",
    keyField: "id",
    prefix: "MAP-",
    drawn: DRAWN.erpMapping,
    row: (entry, v) => {
      const { number, revision } = entry;
      return {
        id: `MAP-${number}`,
        import_connection_id: v.maybe(`ICN-${1 + (number % 3)}`),
        system_name: v.maybe(v.pick(["SAP Export", "Alt-System (AS/400)"])),
        target_table: v.maybe(TABLES[number % TABLES.length] ?? null),
        column_mapping:
          revision > 0 ? { Lieferant: "vendor", revision } : v.maybe({ Lieferant: "vendor", "Net Amount": "total" }),
        header_values: v.maybe(["Lieferant", "Net Amount", "Datum"]),
        created_at: v.maybe(v.moment(timeOf(company, entry, 6, 400))),
      };
    },
  });
}

function syncLogFamily(company: Company, size: number): Family {
  return lockGroupOf(company, {
    path: "/erp/sync/logs",
    keyField: "id",
    prefix: "SYN-",
    drawn: DRAWN.syncLog,
    row: (entry, v) => {
      const { number, revision } = entry;
      const value = hash(company.seed, DRAWN.syncLog, number, 1);
      const failed = value % 7 === 0;
      const at = timeOf(company, entry, size, 60);
      const duration = 200 + (value % 90_000);
      const done = revision > 0 || value % 11 !== 0;
      return {
        id: `SYN-${number}`,
        erp_type: SYSTEMS[value % SYSTEMS.length] ?? SYSTEMS[0],
        direction: v.maybe(v.pick(["inbound", "outbound"])),
        entity_type: v.maybe(v.pick(ENTITIES)),
        entity_count: v.count(value % 500),
        status: revision > 0 ? `repeated (${revision})` : failed ? "failed" : done ? "completed" : "running",
        error_message: failed ? v.maybe('HTTP 502 from "gateway"') : null,
        started_at: v.maybe(v.moment(at)),
        completed_at: done ? v.maybe(v.moment(at + duration)) : null,
        duration_ms: done ? v.count(duration) : null,
      };
    },
  });
}

function unmappedFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/unmapped-columns",
    keyField: "id",
    prefix: "UNM-",
    drawn: DRAWN.unmapped,
    row: (entry, v) => {
      const { number, revision } = entry;
      const suggested = v.chance(0.6);
      return {
        id: `UNM-${number}`,
        connection_id: v.maybe(1 + (number % 3)),
        entity_type: v.maybe(v.pick(ENTITIES)),
        source_field: `Z_${FIELDS[number % FIELDS.length]}_${number}`,
        sample_values: v.pick<unknown>([null, ["A1", "", "ß"], "A1", 17, { first: "A1" }]),
        suggested_target_table: suggested ? v.maybe(TABLES[number % TABLES.length] ?? null) : null,
        suggested_target_column: suggested ? v.maybe(`field_${number % 7}`) : null,
        suggested_confidence: suggested ? v.maybe(v.below(101) / 100) : null,
        parking_reason: revision > 0 ? `looked at again (${revision})` : v.pick(["no_match", "low_confidence"]),
        created_at: v.maybe(v.moment(timeOf(company, entry, 40, 200))),
      };
    },
  });
}

/** /erp/…: connections, mappings, exchanges and columns without a place; imports stand beside. */
export const erp: MakeDomain = ({ company, source }) => {
  const { orders } = company.sizes;
  const logCount = sizeOf(orders, 5, 10, 200);
  const connections = source(connectionFamily(company), sizeOf(orders, 100, 2, 3));
  const fields = source(fieldMappingFamily(company), sizeOf(orders, 5, 12, 60));
  const mappings = source(mappingFamily(company), sizeOf(orders, 40, 3, 6));
  const logs = source(syncLogFamily(company, logCount), logCount);
  const unmapped = source(unmappedFamily(company), sizeOf(orders, 10, 4, 40));
  return {
    sources: {
      erp_connections: connections,
      erp_field_mappings: fields,
      erp_mappings: mappings,
      erp_sync_logs: logs,
      erp_unmapped_columns: unmapped,
    },
    routes: [
      wholeList(connections, "connections"),
      wholeList(fields, "mappings"),
      wholeList(mappings, "mappings"),
      wholeList(logs, "logs"),
      wholeList(unmapped, "unmapped_columns"),
    ],
  };
};
