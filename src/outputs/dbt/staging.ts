import type { Relation } from "../../catalog/relation.ts";
import { OBSERVED_ON } from "../../catalog/stream.ts";
import { type DataTest, relatedTest } from "./checks.ts";
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

export const relatedTests = (name: string, relations: readonly TestedRelation[]): readonly DataTest[] =>
  relations
    .filter(({ relation }) => relation.from.table === name)
    .map(({ relation, target }) => relatedTest(relation, target));

export const modelName = (table: string): string => `stg_${table}`;
/** Of a table with a row a day. */
export const latestName = (table: string): string => `${modelName(table)}_latest`;

/** A model a table: its live rows, with the table's own columns and names; of those with a row a day a second one, of the latest day. */
export function stagingFiles(
  source: string,
  tables: readonly PackageTable[],
  relations: readonly TestedRelation[],
): readonly PackageFile[] {
  // Not of history tables: a version has no `_deleted_at`.
  const live = tables.filter(table => !table.isHistory);
  const models = live.flatMap(table => {
    const tests = relatedTests(table.name, relations);
    const columns = [...kept(table), ...table.leftOut].map(described);
    const model = {
      name: modelName(table.name),
      description: `Live rows only. ${plainly(table.comment)}`,
      ...(tests.length === 0 ? {} : { data_tests: tests }),
      columns,
    };
    const description = `The latest day's rows; ${modelName(table.name)} has every day. ${plainly(table.comment)}`;
    return table.days === undefined ? [model] : [model, { name: latestName(table.name), description, columns }];
  });
  const files = live.flatMap(table => [liveModel(source, table), ...latestModel(table)]);
  return [...files, yamlFile("models/staging/staging.yml", { version: 2, models })];
}

function liveModel(source: string, table: PackageTable): PackageFile {
  const columns = [
    ...kept(table).map(({ name }) => `  ${bare(name)}`),
    ...table.leftOut.map(({ name, type }) => `  cast(null as ${type}) as ${bare(name)}`),
  ];
  return sqlFile(`models/staging/${modelName(table.name)}.sql`, [
    "select",
    columns.join(",\n"),
    `from {{ source(${templateText(source)}, ${templateText(table.name)}) }}`,
    "where _deleted_at is null",
  ]);
}

function latestModel(table: PackageTable): readonly PackageFile[] {
  if (table.days === undefined) return [];
  const { of, each } = table.days;
  const list = each.map(bare).join(", ");
  const columns = [...kept(table), ...table.leftOut].map(({ name }) => `  ${bare(name)}`);
  return [
    sqlFile(`models/staging/${latestName(table.name)}.sql`, [
      "select",
      columns.join(",\n"),
      `from {{ ref(${templateText(modelName(table.name))}) }}`,
      `join (select ${list}, max(${OBSERVED_ON}) as ${OBSERVED_ON} from {{ ref(${templateText(modelName(of))}) }} group by ${list}) as latest`,
      `using (${list}, ${OBSERVED_ON})`,
    ]),
  ];
}

const kept = ({ columns }: PackageTable) => columns.filter(({ name }) => !LEFT_OUT.includes(name));
