import type { DestinationConfig, DuckdbConfig, DucklakeConfig } from "./config.ts";

/** Whether the destination is a DuckDB file, rather than what is reached by an address and has roles. */
export const isFile = (destination: DestinationConfig): destination is DuckdbConfig => destination.type === "duckdb";

/** Whether readers and runs share one file: each look at it blocks a run for a moment. */
export const isShared = (destination: DestinationConfig): boolean =>
  isFile(destination) && destination.readers === "direct";

export const isLake = (destination: DestinationConfig): destination is DucklakeConfig =>
  destination.type === "ducklake";

/** Where it is: a file, or an address, which may hold a password. */
export const addressOf = (destination: DestinationConfig): string =>
  isFile(destination) ? destination.path : isLake(destination) ? destination.catalog : destination.url;

/** What people call it. */
export const titleOf = ({ type }: Pick<DestinationConfig, "type">): string =>
  ({ duckdb: "DuckDB", postgres: "PostgreSQL", ducklake: "DuckLake" })[type];
