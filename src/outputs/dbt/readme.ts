import { allowedAge, type Place, type Span } from "./freshness.ts";
import { ATTACHED, PROFILE, type ProfileVariable } from "./profile.ts";
import type { SourceFacts } from "./sources.ts";
import type { TestedRelation } from "./staging.ts";
import type { PackageFile } from "./yaml_file.ts";

interface ReadmeFacts extends Pick<SourceFacts, "views" | "lateAfterMs"> {
  readonly type: "duckdb" | "postgres";
  readonly place: Place;
  readonly tables: number;
  readonly marts: number;
  readonly relations: readonly TestedRelation[];
  readonly variables: readonly ProfileVariable[];
}

/** What is typed in the package's folder, in a shell that knows nothing of dbt; values that only its user knows are left open. */
export function firstSteps(type: string, variables: readonly ProfileVariable[]): readonly string[] {
  const needed = variables.filter(({ fallback }) => fallback === undefined).map(({ name }) => `export ${name}=…`);
  return [
    "python3 -m venv .venv && . .venv/bin/activate",
    `python -m pip install 'dbt-core>=1.10.6,<1.13' dbt-${type}`,
    ...needed,
    "dbt build",
    "dbt source freshness",
  ];
}

/** The package's page: how it is called, what it holds, how others build on it. */
export function readmeFile({
  type,
  place: { schema, views_schema },
  tables,
  marts,
  views,
  relations,
  variables,
  lateAfterMs,
}: ReadmeFacts): PackageFile {
  const { warn_after: warn, error_after: error } = allowedAge(lateAfterMs);
  const certain = relations.filter(({ relation }) => relation.certainty === "certain").length;
  const rows = variables.map(({ name, meaning, fallback }) => [
    `\`${name}\``,
    meaning,
    fallback === undefined ? "has to be set" : `\`${fallback}\``,
  ]);
  const text = `# The warehouse \`${schema}\` for dbt

Written by \`tributary dbt\` from its configuration. It writes these files anew and leaves all others alone, so build on them
rather than in them.

## Use it

\`\`\`sh
${firstSteps(type, variables).join("\n")}
\`\`\`

Called in this folder, dbt finds \`profiles.yml\`. It reads environment variables:

${markdownTable(["variable", "what it is", "otherwise"], rows)}

${type === "duckdb" ? aboutDuckdb : aboutPostgres(schema)}

## What is in it

- \`models/sources.yml\`: ${tables} tables as the source \`${schema}\`, each table and column described. Keys are tested: present,
  and unique. Histories (\`<table>_versions\`) are among them where they are kept.${views.length === 0 ? "" : aboutViews(views_schema, views.length)}
- \`models/staging/\`: a model a table, \`stg_<table>\`, with the rows that the service still lists (\`_deleted_at is null\`) and the
  columns' own names and types. Tables of daily figures keep all their days; \`stg_<table>_latest\` has the latest.
- \`models/marts/\`: ${marts} models that answer what is asked most, the same SQL as tributary's own views. Their columns are under
  contract, their keys and relations are tests. \`exposures.yml\` beside them says what \`tributary report\` shows.
- Relations, as tests of the staging models: ${certain} that hold by construction fail when they don't, ${relations.length - certain} that are assumed
  (names agree, the service promises nothing) only warn: their number is how many values have no counterpart.
- \`macros/\`: those tests. dbt's own look at one column, and here every key is one within a company.

Freshness is taken from the record of what syncs did (\`_tributary.stream_runs\`), never from the rows: a table in which nothing
changed is fresh. The last sync that succeeded may be ${spoken(warn)} old before there is a warning, ${spoken(error)} before an error.

## Change it

Everything is set in the \`dbt_project.yml\` of your own project (next section), nothing here needs to be edited:

\`\`\`yaml
models:
  ${PROFILE}:
    marts:
      +materialized: table
      +schema: marts
      <model>: { +enabled: false }
vars:
  ${PROFILE}:
    warehouse_schema: ${schema}
\`\`\`

\`dbt_project.yml\` here lists the variables: where the warehouse is, what amounts are converted to, and what rows are taken for,
a condition that is true, false, or null where nothing says it, with \`{row}\` for the row.

## Build on it

In a project of your own, name this folder in \`packages.yml\`, run \`dbt deps\`, and use \`ref('stg_…')\` and
\`source('${schema}', '…')\`. The flag \`indirect_selection: cautious\` belongs into your \`dbt_project.yml\` then: without it dbt
tests relations to models that it was not asked to build. The profile is your project's then${type === "duckdb" ? `, and has to attach the warehouse as \`${ATTACHED}\`` : ""}.

\`\`\`yaml
packages:
  - local: ../${PROFILE}
\`\`\`

After another stream was switched on, or an upgrade, write it again: \`tributary dbt --out <this folder>\`.
`;
  return { path: "README.md", text };
}

const aboutViews = (schema: string, count: number): string => `
  The source \`${schema}\` has what only tributary can make (${count}): how the lines of its configuration read the rows.`;

const aboutDuckdb = `dbt writes into a file of its own and attaches the warehouse, for reading, as \`${ATTACHED}\`: so no sync and no dbt run
is in the other's way. Who opens dbt's file attaches the warehouse too, since staging models are views of it:
\`ATTACH '…/warehouse.duckdb' AS ${ATTACHED} (READ_ONLY)\`. Models that are tables can be read alone.`;

const aboutPostgres = (schema: string): string =>
  `The role reads the schemas \`${schema}\` and tributary's own (\`destination.grant_select_to\` in tributary's configuration lets it)
and may create a schema in the database, or owns the one that models are written to.`;

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`).join("\n");
}

const spoken = ({ count, period }: Span): string => `${count} ${period}${count === 1 ? "" : "s"}`;
