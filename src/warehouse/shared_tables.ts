import { count, flag, json, moment, momentOrNull, type RowOf, table, text } from "./state_columns.ts";

/** The schema of the queue of jobs, pg-boss's, beside them. */
export const queueSchema = (stateSchema: string): string => `${stateSchema}_jobs`;

/** Tables of the state schema that are made in PostgreSQL, or in that of a lake's catalog, once worker processes share the work. */
export const sharedTables = {
  workers: table(
    "Worker processes, those that run and those that ended: a row each. Times are by the server's clock.",
    {
      id: text("Name of the worker; one that is started again under it takes over the row."),
      host: text("Name of the machine it runs on."),
      pid: count("Number of the process there."),
      version: text("Version of tributary it runs."),
      started_at: moment("When it was first seen since its start."),
      seen_at: moment("When it was last seen: one that has not been seen for long is dead, or cut off."),
      draining: flag("Whether it takes no further work and ends once what it does is done."),
      doing: json("JSON of what it does at this moment."),
      stopped_at: momentOrNull("When it ended by itself; NULL while it runs, and for one that was killed."),
    },
    { key: ["id"] },
  ),
};

export type SharedTables = { [Name in keyof typeof sharedTables]: RowOf<(typeof sharedTables)[Name]> };
