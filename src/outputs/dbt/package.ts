import type { End, Relation } from "../../catalog/relation.ts";
import { checkFiles } from "./checks.ts";
import { ATTACHED, PROFILE, type ProfileFacts, profileFile, profileVariables } from "./profile.ts";
import { readmeFile } from "./readme.ts";
import { type ModelSource, type SourceFacts, sourcesFile } from "./sources.ts";
import { modelName, stagingFiles, type TestedRelation } from "./staging.ts";
import type { PackageTable } from "./tables.ts";
import { type PackageFile, templateText, yamlFile } from "./yaml_file.ts";

/** What a package is made from; the same facts make the same bytes. */
export interface PackageFacts extends Omit<SourceFacts, "place"> {
  readonly warehouse: ProfileFacts & { readonly stateSchema: string };
  /** Those whose other end is not in the package are left out. */
  readonly relations: readonly Relation[];
  /** The warehouse's path or address as the file has it, before `${…}` was replaced; undefined where it names none. */
  readonly written: string | undefined;
}

/** A dbt package for the warehouse: sources, staging models, tests, a profile and a page about them. */
export function dbtPackage(facts: PackageFacts): readonly PackageFile[] {
  const { warehouse, companies, lateAfterMs, tables, views } = facts;
  const { schema, stateSchema } = warehouse;
  const relations = testedRelations(facts);
  const variables = profileVariables(warehouse, facts.written);
  const place = { database: warehouse.type === "duckdb" ? ATTACHED : undefined, schema, stateSchema };
  return [
    projectFile(),
    profileFile(warehouse, variables),
    readmeFile({ type: warehouse.type, schema, tables: tables.length, views, relations, variables, lateAfterMs }),
    { path: ".gitignore", text: "target/\nlogs/\n.venv/\ndbt_packages/\n*.duckdb\n*.duckdb.wal\n.user.yml\n" },
    sourcesFile({ place, companies, lateAfterMs, tables, views }),
    ...stagingFiles(schema, tables, relations),
    ...checkFiles(),
  ];
}

/** Also a column may be missing, where the configuration keeps personal data out. */
function testedRelations({ relations, tables, views }: PackageFacts): readonly TestedRelation[] {
  const columns = ({ name, columns }: PackageTable | ModelSource["models"][number]) =>
    [name, new Set(columns.map(column => column.name))] as const;
  const staged = new Map(tables.map(columns));
  const viewed = new Map(views.models.map(columns));
  const has = (known: ReadonlyMap<string, ReadonlySet<string>>, { table, columns }: End) =>
    columns.every(name => known.get(table)?.has(name) === true);
  return relations.flatMap(relation => {
    const { from, to, where } = relation;
    const own = { ...from, columns: [...from.columns, ...(where === undefined ? [] : [where.column])] };
    if (!has(staged, own)) return [];
    if (has(staged, to)) return [{ relation, target: `ref(${templateText(modelName(to.table))})` }];
    if (!has(viewed, to)) return [];
    return [{ relation, target: `source(${[views.schema, to.table].map(templateText).join(", ")})` }];
  });
}

function projectFile(): PackageFile {
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
    models: { [PROFILE]: { staging: { "+materialized": "view", "+persist_docs": { relation: true, columns: true } } } },
  });
}
