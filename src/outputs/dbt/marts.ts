import { meaningSql, type ReadMeaning } from "../../catalog/meaning.ts";
import { inDependencyOrder, type Models, modelText, renamed, reportedSql, showsLines } from "../../catalog/model.ts";
import { endName, type Relation } from "../../catalog/relation.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { dailyName } from "../../warehouse/views/table_views.ts";
import { analyticsSchema } from "../../warehouse/views/view.ts";
import { uniqueTest } from "./checks.ts";
import { described } from "./sources.ts";
import { latestName, modelName, relatedTests, type TestedRelation } from "./staging.ts";
import type { PackageModel, PackageTable } from "./tables.ts";
import { type PackageFile, plainly, sqlFile, templateText, yamlFile } from "./yaml_file.ts";

/** The variable with the reporting currency; empty without one. */
export const CURRENCY = "reporting_currency";

export interface ReportFacts {
  readonly title: string;
  readonly models: readonly string[];
}

/**
 * The models that a warehouse with these tables has beside the views of them. `types`: of each that can be made of them
 * its columns' types, as DuckDB calls them. What shows lines of the configuration only tributary can make: without its views
 * there is none.
 */
export function packageModels(
  { models, writtenFor }: Models,
  tables: readonly PackageTable[],
  types: ReadonlyMap<string, ReadonlyMap<string, string>>,
  { schema, stateSchema }: { readonly schema: string; readonly stateSchema: string },
  dialect: Dialect,
  views: boolean,
): readonly PackageModel[] {
  // By the name in a model's text: what dbt is to call it.
  const calls = new Map(
    tables.flatMap(({ name, isHistory, leftOut, days }) => {
      // As the views do: a history has no columns that stand in for those that are left out.
      if (isHistory) return leftOut.length > 0 ? [] : [[name, sourceOf(schema, name)]];
      const all = refTo(modelName(name));
      if (days === undefined) return [[name, all]];
      return [[name, refTo(latestName(name))] as const, [dailyName(name), all] as const];
    }),
  );
  const words = new Map([
    ["VARCHAR", dialect.columnType("text")],
    ["JSON", dialect.columnType("json")],
    ["DOUBLE", "double precision"],
  ]);
  return inDependencyOrder(models).flatMap(model => {
    const known = types.get(model.name);
    if (known === undefined || !model.needs.every(needed => calls.has(needed))) return [];
    const analytics = analyticsSchema(writtenFor.schema);
    const text = modelText(model, other => calls.has(other), analytics);
    const isSource = showsLines(text);
    if (isSource && !views) return [];
    const template = renamed(text, [analytics, ...Object.values(writtenFor)], (place, table) => {
      const source = () => sourceOf(place === writtenFor.schema ? schema : stateSchema, table);
      return `{{ ${place === analytics ? calls.get(table)! : source()} }}`;
    });
    calls.set(model.name, isSource ? sourceOf(analyticsSchema(schema), model.name) : refTo(model.name));
    const columns = model.columns.map(({ name, description }) => {
      const type = known.get(name)!;
      return { name, type: words.get(type) ?? type.toLowerCase(), comment: description };
    });
    return [{ ...model, columns, template: isSource ? undefined : template }];
  });
}

const refTo = (name: string): string => `ref(${templateText(name)})`;
export const sourceOf = (source: string, name: string): string =>
  `source(${[source, name].map(templateText).join(", ")})`;

export const callOf = ({ name, template }: PackageModel, views: string): string =>
  template === undefined ? sourceOf(views, name) : refTo(name);

export const modelRelations = (models: readonly PackageModel[]): readonly Relation[] =>
  models.flatMap(({ name, references }) =>
    references.map(({ column, to }) => ({
      from: { table: name, columns: [column] },
      to,
      certainty: "certain",
      toOne: true,
      note: `Every value is one of ${endName(to)}.`,
    })),
  );

/** The models as marts, each with its columns and tests, and what is built on them. */
export function martFiles(
  models: readonly PackageModel[],
  views: string,
  relations: readonly TestedRelation[],
  report: ReportFacts,
): readonly PackageFile[] {
  const marts = models.filter(({ template }) => template !== undefined);
  const read = models.filter(({ name }) => report.models.includes(name));
  const properties = marts.map(({ name, description, columns, key }) => ({
    name,
    description: plainly(description),
    data_tests: [...(key.length === 0 ? [] : [uniqueTest(key)]), ...relatedTests(name, relations)],
    columns: columns.map(column => ({
      ...described(column),
      // Of other columns a null is a value of the key.
      ...(column.name === "_company" ? { data_tests: ["not_null"] } : {}),
    })),
  }));
  const exposure = {
    name: "tributary_report",
    label: report.title,
    type: "dashboard",
    description:
      "What `tributary report` shows. It asks tributary's own views, which have the same SQL as these models.",
    owner: { name: "tributary" },
    depends_on: read.map(model => callOf(model, views)),
  };
  return [
    ...marts.map(({ name, template }) => sqlFile(`models/marts/${name}.sql`, [template!])),
    yamlFile("models/marts/marts.yml", { version: 2, models: properties }),
    ...(read.length === 0 ? [] : [yamlFile("models/marts/exposures.yml", { version: 2, exposures: [exposure] })]),
  ];
}

/** What rows are taken for, as variables with a condition each: `{row}` stands for the rows, `{beside}` for those of the table beside. */
export function meaningVariables(
  meanings: readonly ReadMeaning[],
  has: (table: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    meanings
      .filter(({ table }) => has(table))
      .map(meaning => {
        const beside = meaning.beside !== undefined && has(meaning.beside) ? "{beside}" : undefined;
        return [`meaning_${meaning.name}`, meaningSql(meaning, { own: "{row}", beside })];
      }),
  );
}

/** What marts call: conditions with the names that a query has for its rows, amounts in the reporting currency, products. */
export const martMacros = ({ product }: Dialect): readonly PackageFile[] => [
  sqlFile("macros/meaning.sql", [
    "{% macro meaning(name, own, beside='') -%}",
    "{{ var('meaning_' ~ name) | replace('{row}', own) | replace('{beside}', beside) }}",
    "{%- endmacro %}",
  ]),
  sqlFile("macros/reported.sql", [
    "{% macro reported(amount, row, rate) -%}",
    reportedSql("{{ amount }}", "{{ row }}", "{{ rate }}", `{{ var('${CURRENCY}') }}`),
    "{%- endmacro %}",
  ]),
  sqlFile("macros/product.sql", ["{% macro product(a, b) -%}", product("{{ a }}", "{{ b }}"), "{%- endmacro %}"]),
];
