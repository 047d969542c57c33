// Here is what dialect and stage need: DuckDB itself is not loaded for another database's runs.

/** The lake's name within a session. */
export const LAKE = "lake";
/** The same lake, for a transaction that makes tables none of whose rows may stay in the catalog. */
export const UNINLINED = "lake_uninlined";
/** The catalog's PostgreSQL beside it, for stages and the holders of locks. */
export const SERVER = "tributary_server";
/** A view of the session: each table that the lake had when a transaction began, with its columns and whether it ever had rows. */
export const TABLES = "tributary_lake_tables";

/** Access to object storage; absent keys: DuckDB looks for them where the cloud's own programs do. */
export interface LakeStorage {
  readonly keyId?: string | undefined;
  readonly secret?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly region?: string | undefined;
  /** Of a store that is not Amazon's: `https://minio.example.com:9000`. */
  readonly endpoint?: string | undefined;
  readonly urlStyle: "vhost" | "path";
}

export interface LakePlace {
  /** The address of a PostgreSQL. */
  readonly catalog: string;
  /** The catalog's own tables in that PostgreSQL. */
  readonly catalogSchema: string;
  /** A folder, absolute, or `s3://bucket/prefix`. */
  readonly dataPath: string;
  readonly storage?: LakeStorage | undefined;
  /** A folder with DuckDB's extensions; absent: DuckDB's own, which it fetches where they are not there. */
  readonly extensions?: string | undefined;
  readonly schema: string;
  readonly stateSchema: string;
  readonly mark?: string;
}

/** The name that goes into the keys of the lake's advisory locks: a PostgreSQL warehouse in the same database has others. */
export const lockSchemaOf = ({ schema, stateSchema }: Pick<LakePlace, "schema" | "stateSchema">): string =>
  `lake ${stateSchema} ${schema}`;

export const isRemote = ({ dataPath }: Pick<LakePlace, "dataPath">): boolean => /^s3:/.test(dataPath);

/** Where the catalog's own tables are within a session: database and schema. */
export const catalogOf = (place: LakePlace): readonly [string, string] => [
  `__ducklake_metadata_${LAKE}`,
  place.catalogSchema,
];
