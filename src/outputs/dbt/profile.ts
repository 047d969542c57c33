import { type PackageFile, templateText, yamlFile } from "./yaml_file.ts";

/** Which warehouse dbt is to read. */
export type ProfileFacts =
  | { readonly type: "duckdb"; readonly path: string; readonly schema: string }
  | { readonly type: "postgres"; readonly url: string; readonly schema: string };

/** A variable that the profile reads. `fallback` is what it takes where that is not set; undefined: it has to be set. */
export interface ProfileVariable {
  readonly name: string;
  readonly meaning: string;
  readonly fallback: string | undefined;
}

export const PROFILE = "tributary";
/** What the package calls a DuckDB warehouse: dbt's own file is another one. */
export const ATTACHED = "warehouse";

/** The environment variables of the profile. No secret has a fallback, and nothing that `written` has from a variable. */
export function profileVariables(facts: ProfileFacts, written: string | undefined): readonly ProfileVariable[] {
  if (facts.type === "duckdb") {
    const fallback = written?.includes("${") ? undefined : facts.path;
    return [
      { name: "TRIBUTARY_WAREHOUSE", meaning: "the warehouse's file, opened for reading", fallback },
      { name: "DBT_DUCKDB_FILE", meaning: "dbt's own file, which models are written to", fallback: "dbt.duckdb" },
    ];
  }
  const [real, bare] = [facts.url, written ?? facts.url].map(text => partsOf(text.replace(/\$\{[^{}]*\}/g, "0")));
  const known = (part: keyof AddressParts): string | undefined =>
    real![part] === bare![part] ? real![part] : undefined;
  return [
    { name: "PGHOST", meaning: "the server", fallback: known("host") },
    { name: "PGPORT", meaning: "its port", fallback: known("port") ?? "5432" },
    { name: "PGDATABASE", meaning: "the database", fallback: known("database") },
    { name: "PGUSER", meaning: "the role dbt works as, which need not be the sync's", fallback: undefined },
    { name: "PGPASSWORD", meaning: "its password", fallback: undefined },
    { name: "PGSSLMODE", meaning: "as libpq takes it", fallback: known("sslmode") ?? "prefer" },
    { name: "DBT_SCHEMA", meaning: "the schema that models are written to", fallback: `${facts.schema}_dbt` },
  ];
}

/** `profiles.yml`: found by dbt where it is called in the package's folder. */
export function profileFile(facts: ProfileFacts, variables: readonly ProfileVariable[]): PackageFile {
  const value = (name: string, filter = ""): string => {
    const fallback = variables.find(variable => variable.name === name)?.fallback;
    const words = [name, ...(fallback === undefined ? [] : [fallback])].map(templateText);
    return `{{ env_var(${words.join(", ")})${filter} }}`;
  };
  const output =
    facts.type === "duckdb"
      ? {
          type: "duckdb",
          path: value("DBT_DUCKDB_FILE"),
          threads: 4,
          attach: [{ path: value("TRIBUTARY_WAREHOUSE"), alias: ATTACHED, read_only: true }],
        }
      : {
          type: "postgres",
          host: value("PGHOST"),
          port: value("PGPORT", " | as_number"),
          user: value("PGUSER"),
          password: value("PGPASSWORD"),
          dbname: value("PGDATABASE"),
          schema: value("DBT_SCHEMA"),
          sslmode: value("PGSSLMODE"),
          threads: 4,
        };
  return yamlFile("profiles.yml", { [PROFILE]: { target: "dev", outputs: { dev: output } } }, [
    "What differs from place to place, and every secret, comes from environment variables: README.md lists them.",
  ]);
}

interface AddressParts {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly database: string | undefined;
  readonly sslmode: string | undefined;
}

/** What an address says; nothing where it is none. */
function partsOf(address: string): AddressParts {
  const url = URL.parse(address);
  const part = (name: string, otherwise: string | undefined): string | undefined =>
    (url?.searchParams.get(name) ?? decoded(otherwise ?? "")) || undefined;
  return {
    host: part("host", url?.hostname.replace(/^\[|\]$/g, "")),
    port: part("port", url?.port),
    database: part("dbname", url?.pathname.slice(1)),
    sslmode: part("sslmode", undefined),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
