import type { ReadMeaning } from "../../catalog/meaning.ts";
import type { End, Relation } from "../../catalog/relation.ts";
import { dialectOf } from "../../warehouse/connect/open.ts";
import { stateTables } from "../../warehouse/state_tables.ts";
import { checkFiles } from "./checks.ts";
import type { Place } from "./freshness.ts";
import {
  CURRENCY,
  callOf,
  martFiles,
  martMacros,
  meaningVariables,
  modelRelations,
  type ReportFacts,
  sourceOf,
} from "./marts.ts";
import { ATTACHED, PROFILE, type ProfileFacts, profileFile, profileVariables } from "./profile.ts";
import { readmeFile } from "./readme.ts";
import { type SourceFacts, sourcesFile } from "./sources.ts";
import { modelName, stagingFiles, type TestedRelation } from "./staging.ts";
import type { PackageModel } from "./tables.ts";
import { type PackageFile, templateText, yamlFile } from "./yaml_file.ts";

/** What a package is made from; the same facts make the same bytes. */
export interface PackageFacts extends Omit<SourceFacts, "place" | "views" | "record"> {
  readonly warehouse: ProfileFacts & { readonly stateSchema: string };
  readonly viewsSchema: string;
  readonly models: readonly PackageModel[];
  readonly meanings: readonly ReadMeaning[];
  readonly currency: string | undefined;
  readonly report: ReportFacts;
  /** Those whose other end is not in the package are left out. */
  readonly relations: readonly Relation[];
  /** The warehouse's path or address as the file has it, before `${…}` was replaced; undefined where it names none. */
  readonly written: string | undefined;
}

/** A dbt package for the warehouse: sources, staging models, marts, tests, a profile and a page about them. */
export function dbtPackage(facts: PackageFacts): readonly PackageFile[] {
  const { warehouse, companies, lateAfterMs, tables, models, viewsSchema, report } = facts;
  const { type, schema, stateSchema } = warehouse;
  const relations = testedRelations(facts);
  const variables = profileVariables(warehouse, facts.written);
  const place: Place = {
    database: type === "postgres" ? undefined : ATTACHED,
    schema,
    views_schema: viewsSchema,
    state_schema: stateSchema,
  };
  const views = models.filter(({ template }) => template === undefined);
  const record = Object.entries(stateTables)
    .filter(([name]) => models.some(({ template }) => template?.includes(sourceOf(stateSchema, name))))
    .map(([name, { comment }]) => ({ name, description: comment, columns: [] }));
  const marts = models.length - views.length;
  const settings = {
    ...placeVariables(place),
    ...meaningVariables(facts.meanings, name => tables.some(table => table.name === name)),
    [CURRENCY]: facts.currency ?? "",
  };
  return [
    projectFile(settings),
    profileFile(warehouse, variables),
    readmeFile({ type, place, tables: tables.length, marts, views, relations, variables, lateAfterMs }),
    { path: ".gitignore", text: "target/\nlogs/\n.venv/\ndbt_packages/\n*.duckdb\n*.duckdb.wal\n.user.yml\n" },
    sourcesFile({ place, companies, lateAfterMs, tables, views, record }),
    ...stagingFiles(schema, tables, relations),
    ...martFiles(models, viewsSchema, relations, report),
    ...martMacros(dialectOf(warehouse)),
    ...checkFiles(),
  ];
}

const placeVariables = (place: Place): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(place).flatMap(([name, value]) => (value === undefined ? [] : [[`warehouse_${name}`, value]])),
  );

/** Also a column may be missing, where the configuration keeps personal data out. */
function testedRelations({ relations, tables, models, viewsSchema }: PackageFacts): readonly TestedRelation[] {
  const columns = ({ name, columns }: Pick<PackageModel, "name" | "columns">) =>
    [name, new Set(columns.map(column => column.name))] as const;
  const known = new Map([...tables, ...models].map(columns));
  const has = ({ table, columns }: End) => columns.every(name => known.get(table)?.has(name) === true);
  return [...relations, ...modelRelations(models)].flatMap(relation => {
    const { from, to, where, kind } = relation;
    const own = { ...from, columns: [...from.columns, where?.column, kind].filter(name => name !== undefined) };
    if (!has(own) || !has(to)) return [];
    const model = models.find(({ name }) => name === to.table);
    const target = model === undefined ? `ref(${templateText(modelName(to.table))})` : callOf(model, viewsSchema);
    return [{ relation, target }];
  });
}

function projectFile(vars: Readonly<Record<string, string>>): PackageFile {
  const persisted = { "+materialized": "view", "+persist_docs": { relation: true, columns: true } };
  return yamlFile("dbt_project.yml", {
    name: PROFILE,
    version: "1.0.0",
    "config-version": 2,
    // loaded_at_query came with 1.10, arguments of tests under a key of their own with 1.10.5; 1.10.6 was tried.
    "require-dbt-version": [">=1.10.6", "<3.0.0"],
    profile: PROFILE,
    "model-paths": ["models"],
    "macro-paths": ["macros"],
    "clean-targets": ["target", "dbt_packages"],
    // A relation is tested where both ends are selected: of one that is not, there may be no table to look into.
    flags: { require_generic_test_arguments_property: true, indirect_selection: "cautious" },
    models: { [PROFILE]: { staging: persisted, marts: { ...persisted, "+contract": { enforced: true } } } },
    vars,
  });
}
