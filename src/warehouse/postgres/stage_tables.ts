import { createHash } from "node:crypto";
import type { Column, Table, TableSet } from "../../catalog/columns.ts";
import { INDEX_COLUMN } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import { postgresDialect } from "./dialect.ts";

/** One UNLOGGED table of a stage: its quoted name with the schema, and its columns in the CSV's order. */
export interface StageTable {
  readonly name: string;
  readonly columns: readonly StageColumn[];
}

export interface StageColumn {
  readonly name: string;
  readonly type: string;
}

export interface StageTables {
  readonly keys: StageTable;
  readonly main: StageTable;
  readonly children: readonly StageTable[];
  readonly outcomes: StageTable;
}

const sequence = { name: "_seq", type: "bigint" };
const leftovers = [
  { name: "_extra", type: "jsonb" },
  { name: "_problems", type: "jsonb" },
];

/** The stage's tables of one company's stream. */
export function stageTables(company: string, tables: TableSet): StageTables {
  const digest = createHash("sha256").update(`${company}\u0000${tables.main.name}`).digest("hex").slice(0, 12);
  const named = (suffix: string, columns: readonly StageColumn[]) => ({ name: `stage_${digest}_${suffix}`, columns });
  const { main, children } = tables;
  const key = main.key.map(name => typed(main.columns.find(column => column.name === name)!));
  return {
    keys: named("k", [sequence, ...key, { name: "_hash", type: "bigint" }, { name: "_vhash", type: "bigint" }]),
    main: named("r", [sequence, ...stored(main)]),
    children: children.map((child, index) =>
      named(`c${index}`, [sequence, { name: INDEX_COLUMN, type: "bigint" }, ...stored(child)]),
    ),
    outcomes: named("o", [
      sequence,
      { name: "parent_key", type: "text" },
      { name: "parent_hash", type: "bigint" },
      { name: "outcome", type: "text" },
      { name: "fetched_at", type: "timestamptz" },
      { name: "reason", type: "text" },
    ]),
  };
}

function stored(table: Table): StageColumn[] {
  return [...stageColumns(table).map(typed), ...leftovers];
}

function typed(column: Column): StageColumn {
  return { name: column.name, type: postgresDialect.columnType(column.kind) };
}

/** All tables of a stage, in the order in which `append` fills them. */
export function allTables(tables: StageTables): readonly StageTable[] {
  return [tables.keys, tables.main, ...tables.children, tables.outcomes];
}

/** A text that is the same for the same tables. */
export function stageLayout(tables: StageTables): string {
  return allTables(tables)
    .map(table => `${table.name} (${table.columns.map(column => `${column.name} ${column.type}`).join(", ")})`)
    .join("; ");
}
