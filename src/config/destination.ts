import type { DestinationConfig, PostgresConfig } from "./config.ts";

/** Whether the destination is a server, which has an address and roles, rather than a file. */
export const isServer = (destination: DestinationConfig): destination is PostgresConfig =>
  destination.type === "postgres";

/** Whether readers and runs share one file, which is then in the way of a run for a moment whenever somebody looks at it. */
export const isShared = (destination: DestinationConfig): boolean =>
  !isServer(destination) && destination.readers === "direct";
