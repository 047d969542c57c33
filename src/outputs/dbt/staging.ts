import type { Relation } from "../../catalog/relation.ts";
import { relatedTest } from "./checks.ts";
import { described } from "./sources.ts";
import { bare } from "./sql.ts";
import type { PackageTable } from "./tables.ts";
import { type PackageFile, plainly, sqlFile, templateText, yamlFile } from "./yaml_file.ts";

/** The engine's own columns that say nothing of a live row, or what only whoever looks for mistakes reads. */
const LEFT_OUT = ["_extra", "_problems", "_first_seen_at", "_deleted_at"];

/** A relation of one of the tables, and what the package calls its other end. */
export interface TestedRelation {
  readonly relation: Relation;
  /** A call of ref() or source(). */
  readonly target: string;
}

export const modelName = (table: string): string => `stg_${table}`;

/** A model a table: its live rows, with the table's own columns and names. */
export function stagingFiles(
  source: string,
  tables: readonly PackageTable[],
  relations: readonly TestedRelation[],
): readonly PackageFile[] {
  // Not of history tables: a version has no `_deleted_at`.
  const live = tables.filter(table => !table.isHistory);
  const models = live.map(table => {
    const tests = relations
      .filter(({ relation }) => relation.from.table === table.name)
      .map(({ relation, target }) => relatedTest(relation, target));
    return {
      name: modelName(table.name),
      description: `Live rows only. ${plainly(table.comment)}`,
      ...(tests.length === 0 ? {} : { data_tests: tests }),
      columns: kept(table).map(described),
    };
  });
  return [...live.map(table => model(source, table)), yamlFile("models/staging/staging.yml", { version: 2, models })];
}

function model(source: string, table: PackageTable): PackageFile {
  const columns = kept(table).map(({ name }) => `  ${bare(name)}`);
  return sqlFile(`models/staging/${modelName(table.name)}.sql`, [
    "select",
    columns.join(",\n"),
    `from {{ source(${templateText(source)}, ${templateText(table.name)}) }}`,
    "where _deleted_at is null",
  ]);
}

const kept = ({ columns }: PackageTable) => columns.filter(({ name }) => !LEFT_OUT.includes(name));
