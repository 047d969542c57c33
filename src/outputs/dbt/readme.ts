import { counted } from "../../counted.ts";
import { asset } from "../../package_root.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { allowedAge, type Place, type Span } from "./freshness.ts";
import { ATTACHED, PROFILE, type ProfileVariable } from "./profile.ts";
import type { SourceFacts } from "./sources.ts";
import type { TestedRelation } from "./staging.ts";
import type { PackageFile } from "./yaml_file.ts";

interface ReadmeFacts extends Pick<SourceFacts, "views" | "lateAfterMs"> {
  readonly type: Dialect["name"];
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
    `python -m pip install 'dbt-core>=1.10.6,<1.13' dbt-${type === "postgres" ? "postgres" : "duckdb"}`,
    ...needed,
    "dbt build",
    "dbt source freshness",
  ];
}

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
  const values: Readonly<Record<string, unknown>> = {
    ...{ schema, tables, marts, certain, assumed: relations.length - certain, profile: PROFILE },
    steps: firstSteps(type, variables).join("\n"),
    variables: markdownTable(["variable", "what it is", "otherwise"], rows),
    about: { duckdb: aboutDuckdb, postgres: aboutPostgres(schema), ducklake: aboutDucklake }[type],
    views: views.length === 0 ? "" : aboutViews(views_schema, views.length),
    attaching: type !== "postgres" ? `, and has to attach the warehouse as \`${ATTACHED}\`` : "",
    warn: spoken(warn),
    error: spoken(error),
  };
  const text = asset("dbt/README.md").replace(/«(\w+)»/g, (_, name: string) => String(values[name]));
  return { path: "README.md", text };
}

const aboutViews = (schema: string, count: number): string => `
  The source \`${schema}\` has what only tributary can make (${count}): how the lines of its configuration read the rows.`;

const aboutDuckdb = `dbt writes into a file of its own and attaches the warehouse, for reading, as \`${ATTACHED}\`: so no sync and no dbt run
is in the other's way. Who opens dbt's file attaches the warehouse too, since staging models are views of it:
\`ATTACH '…/warehouse.duckdb' AS ${ATTACHED} (READ_ONLY)\`. Models that are tables can be read alone.`;

const aboutDucklake = `dbt writes into a DuckDB file of its own and attaches the lake, for reading, as \`${ATTACHED}\`: each query sees what the
last publish left. Who opens dbt's file attaches the lake too, since staging models are views of it. Models that are tables
can be read alone.`;

const aboutPostgres = (schema: string): string =>
  `The role reads the schemas \`${schema}\` and tributary's own (\`destination.grant_select_to\` in tributary's configuration lets it)
and may create a schema in the database, or owns the one that models are written to.`;

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map(cells => `| ${cells.join(" | ")} |`).join("\n");
}

const spoken = ({ count, period }: Span): string => counted(count, period);
