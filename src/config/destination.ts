import type { DestinationConfig, PostgresConfig } from "./config.ts";

/** Whether the destination is a server, which has an address and roles, rather than a file. */
export const isServer = (destination: DestinationConfig): destination is PostgresConfig =>
  destination.type === "postgres";

/** Whether readers and runs share one file: each look at it blocks a run for a moment. */
export const isShared = (destination: DestinationConfig): boolean =>
  !isServer(destination) && destination.readers === "direct";
