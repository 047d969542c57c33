import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Family, Row } from "../source.ts";
import { Values } from "../values.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, wholeList } from "./family.ts";

const TABLES = ["vendors", "purchase_orders", "items", "accounts"];
/** So many rows of an import are returned at most. */
const RETURNED = 25;

function connectionFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/import/connections",
    keyField: "id",
    prefix: "ICN-",
    drawn: DRAWN.importConnection,
    row: (entry, v) => {
      const { number, revision } = entry;
      const at = timeOf(company, entry, 3, 700);
      return {
        id: `ICN-${number}`,
        system_type: v.pick(["csv", "xlsx", "as400"]),
        system_name: revision > 0 ? `Altsystem ${number} (${revision})` : `Altsystem ${number}`,
        status: v.pick(["active", "paused"]),
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + 60_000)),
      };
    },
  });
}

function runCount(company: Company): number {
  return sizeOf(company.sizes.ingested, 40, 3, 60);
}

function runFacts(company: Company, entry: Entry) {
  const value = hash(company.seed, DRAWN.importRun, entry.number, 1);
  const total = value % 40;
  return {
    total,
    failed: value % 3 === 0 ? Math.min(total, value % 5) : 0,
    table: TABLES[value % TABLES.length] ?? "vendors",
    status: entry.revision > 0 ? `repeated (${entry.revision})` : value % 9 === 4 ? "failed" : "completed",
    at: timeOf(company, entry, runCount(company), 180),
  };
}

/** An import's id is a number, written as text in the list and as a numeral beside its rows. */
function runFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/erp/import/runs",
    keyField: "id",
    prefix: "",
    drawn: DRAWN.importRun,
    row: (entry, v) => {
      const { total, failed, table, status, at } = runFacts(company, entry);
      return {
        id: String(entry.number),
        target_table: v.maybe(table),
        status,
        rows_imported: v.count(total - failed),
        rows_failed: v.count(failed),
        error_message: status === "failed" ? v.maybe("Zeile 7: Datum unlesbar") : null,
        created_at: v.maybe(v.moment(at)),
        completed_at: v.chance(0.9) ? v.moment(at + 4000) : null,
      };
    },
  });
}

function importRows(company: Company, entry: Entry): Row {
  const { total, failed, table, status } = runFacts(company, entry);
  const v = new Values(hash(company.seed, DRAWN.importRows, entry.number));
  const returned = Math.min(RETURNED, total);
  return {
    import_run_id: entry.number,
    target_table: v.maybe(table),
    status,
    total_rows: v.count(total),
    inserted_rows: v.count(total - failed),
    error_rows: v.count(failed),
    landed_count: v.count(total - failed),
    diff_available: v.chance(0.5),
    total_data_rows: v.chance(0.2) ? null : v.count(total),
    rows_returned: v.count(returned),
    rows: Array.from({ length: returned }, (_, i) => ({
      row_number: i + 2,
      cells: [
        { column: "Lieferant", value: `${entry.number}-${i}`, change: entry.revision },
        ...(v.chance(0.5) ? [{ column: "Größe", value: null }] : []),
      ],
    })),
  };
}

/** /erp/import/…: connections, runs, and the rows of a run. */
export const erpImports: MakeDomain = ({ company, source }) => {
  const connections = source(connectionFamily(company), sizeOf(company.sizes.ingested, 200, 2, 3));
  const runs = source(runFamily(company), runCount(company));
  return {
    sources: { erp_import_connections: connections, erp_import_runs: runs },
    routes: [
      wholeList(connections, "connections"),
      wholeList(runs, "import_runs"),
      {
        template: "/erp/import/runs/{id}/rows",
        answer: ({ params }) => {
          const key = params["id"] ?? "";
          const entry = runs.collection.get(runs.family.number(key));
          if (entry === undefined) throw notFound(`Import run '${key}'`);
          return { data: importRows(company, entry) };
        },
      },
    ],
  };
};
