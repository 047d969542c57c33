import type { Resources } from "../duckdb/session/session.ts";

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

/** Where a lake is. */
export interface LakePlace {
  /** The address of a PostgreSQL, or the absolute path of a file, which one process at a time can open. */
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
}

export type LakeResources = Partial<Resources>;

/** Whether the catalog is in a PostgreSQL, which many machines share. */
export const isServed = ({ catalog }: Pick<LakePlace, "catalog">): boolean =>
  /^(postgres|postgresql|socket):/.test(catalog);

export const isRemote = ({ dataPath }: Pick<LakePlace, "dataPath">): boolean => /^s3a?:/.test(dataPath);
