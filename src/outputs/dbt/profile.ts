import { isRemote, type LakePlace, type LakeStorage } from "../../warehouse/ducklake/place.ts";
import { type PackageFile, templateText, yamlFile } from "./yaml_file.ts";

export type ProfileFacts =
  | { readonly type: "duckdb"; readonly path: string; readonly schema: string }
  | { readonly type: "postgres"; readonly url: string; readonly schema: string }
  | ({ readonly type: "ducklake"; readonly schema: string } & Pick<
      LakePlace,
      "catalog" | "catalogSchema" | "dataPath" | "storage"
    >);

/** A variable that the profile reads. `fallback` is what it takes where that is not set; undefined: it has to be set. */
export interface ProfileVariable {
  readonly name: string;
  readonly meaning: string;
  readonly fallback: string | undefined;
}

export const PROFILE = "tributary";
/** What the package calls a warehouse that dbt's DuckDB attaches: dbt's own file is another one. */
export const ATTACHED = "warehouse";

const dbtFile: ProfileVariable = {
  name: "DBT_DUCKDB_FILE",
  meaning: "dbt's own file, which models are written to",
  fallback: "dbt.duckdb",
};

/** The environment variables of the profile. No secret has a fallback, and nothing that `written` has from a variable. */
export function profileVariables(facts: ProfileFacts, written: string | undefined): readonly ProfileVariable[] {
  const isKnown = written?.includes("${") !== true;
  if (facts.type === "duckdb") {
    const fallback = isKnown ? facts.path : undefined;
    return [{ name: "TRIBUTARY_WAREHOUSE", meaning: "the warehouse's file, opened for reading", fallback }, dbtFile];
  }
  if (facts.type === "postgres")
    return [
      ...serverVariables(facts.url, written),
      { name: "DBT_SCHEMA", meaning: "the schema that models are written to", fallback: `${facts.schema}_dbt` },
    ];
  return [...serverVariables(facts.catalog, written), ...(isRemote(facts) ? keyVariables : []), dbtFile];
}

const keyVariables: readonly ProfileVariable[] = [
  { name: "AWS_ACCESS_KEY_ID", meaning: "an access key that may read the lake's files", fallback: undefined },
  { name: "AWS_SECRET_ACCESS_KEY", meaning: "its secret", fallback: undefined },
];

function serverVariables(url: string, written: string | undefined): readonly ProfileVariable[] {
  const [real, bare] = [url, written ?? url].map(text => partsOf(text.replace(/\$\{[^{}]*\}/g, "0")));
  const known = (part: keyof ReturnType<typeof partsOf>): string | undefined =>
    real![part] === bare![part] ? real![part] : undefined;
  return [
    { name: "PGHOST", meaning: "the server", fallback: known("host") },
    { name: "PGPORT", meaning: "its port", fallback: known("port") ?? "5432" },
    { name: "PGDATABASE", meaning: "the database", fallback: known("database") },
    { name: "PGUSER", meaning: "the role dbt works as, which need not be the sync's", fallback: undefined },
    { name: "PGPASSWORD", meaning: "its password", fallback: undefined },
    { name: "PGSSLMODE", meaning: "as libpq takes it", fallback: known("sslmode") ?? "prefer" },
  ];
}

/** `profiles.yml`: found by dbt where it is called in the package's folder. */
export function profileFile(facts: ProfileFacts, variables: readonly ProfileVariable[]): PackageFile {
  const value = (name: string, filter = ""): string => {
    const fallback = variables.find(variable => variable.name === name)?.fallback;
    const words = [name, ...(fallback === undefined ? [] : [fallback])].map(templateText);
    return `{{ env_var(${words.join(", ")})${filter} }}`;
  };
  return yamlFile("profiles.yml", { [PROFILE]: { target: "dev", outputs: { dev: outputOf(facts, value) } } }, [
    "What differs from place to place, and every secret, comes from environment variables: README.md lists them.",
  ]);
}

function outputOf(facts: ProfileFacts, value: (name: string, filter?: string) => string): unknown {
  if (facts.type === "postgres")
    return {
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
  const attached = { alias: ATTACHED, read_only: true };
  const own = { type: "duckdb", path: value("DBT_DUCKDB_FILE"), threads: 4 };
  if (facts.type === "duckdb") return { ...own, attach: [{ path: value("TRIBUTARY_WAREHOUSE"), ...attached }] };
  const words = { host: "PGHOST", port: "PGPORT", dbname: "PGDATABASE", user: "PGUSER", sslmode: "PGSSLMODE" };
  // The password is libpq's to find, in PGPASSWORD too.
  const address = Object.entries(words).map(([word, name]) => `${word}=${value(name)}`);
  const path = `ducklake:postgres:${address.join(" ")}`;
  return {
    ...own,
    extensions: ["ducklake", "postgres", ...(isRemote(facts) ? ["httpfs"] : [])],
    ...(isRemote(facts) ? { secrets: [storageSecret(facts.storage, value)] } : {}),
    attach: [{ path, ...attached, options: { metadata_schema: facts.catalogSchema } }],
  };
}

function storageSecret(
  { region, endpoint, urlStyle }: LakeStorage = { urlStyle: "vhost" },
  value: (name: string) => string,
): unknown {
  const url = endpoint === undefined ? null : URL.parse(endpoint);
  return {
    type: "s3",
    key_id: value("AWS_ACCESS_KEY_ID"),
    secret: value("AWS_SECRET_ACCESS_KEY"),
    ...(region === undefined ? {} : { region }),
    ...(url === null ? {} : { endpoint: url.host, use_ssl: url.protocol === "https:" }),
    url_style: urlStyle,
  };
}

/** What an address says; nothing where it is none. */
function partsOf(address: string) {
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
