import type { Table, TableSet } from "../../catalog/columns.ts";
import type { Models, Readings } from "../../catalog/model.ts";
import type { Stream } from "../../catalog/stream.ts";
import { digestOf } from "../../digest.ts";
import { versionsName } from "../ddl/as_of.ts";

export interface ViewOrder extends Omit<Models, "meanings">, Readings {
  readonly schema: string;
  /** False: those that are ours go. */
  readonly wanted: boolean;
  /** Whether models may read tables in which their rows are kept. */
  readonly stored: boolean;
  /** The whole catalogue: a stream that is off has views while its tables are there. */
  readonly catalogue: readonly Stream[];
  /** The whole text of a table's comment, as it is in its own schema. */
  readonly comment: (stream: Stream, table: Table) => string;
}

/** The tables beside which views are made, and the roles that may read them. */
export interface ViewedTables {
  readonly stateSchema: string;
  readonly schema: string;
  readonly streams: readonly TableSet[];
  /** Of which of them, by the main table's name, every version of a row is kept. */
  readonly versioned?: ReadonlySet<string>;
  /** Roles that may read; PostgreSQL only. */
  readonly grantSelectTo: readonly string[];
  /** The views beside the tables; undefined: nothing is said about them, and they stay as they are. */
  readonly views?: ViewOrder;
}

/** The names of all those tables, those of versions included. */
export const tablesIn = ({ streams, versioned }: ViewedTables): ReadonlySet<string> =>
  new Set(
    streams.flatMap(({ main, children }) =>
      [main, ...children].flatMap(table =>
        versioned?.has(main.name) ? [table.name, versionsName(table)] : [table.name],
      ),
    ),
  );

export interface View {
  readonly name: string;
  readonly select: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly comment: string | undefined }[];
}

/** What was made once: by the name of the view, of what its definition and its comments were, and what the database made of it. */
export type ViewRecord = Readonly<
  Record<string, { readonly definition: string; readonly comments: string; readonly made?: string | undefined }>
>;

const STORED = "stored:";

/** The record of a view that reads a table with its rows; a version that knows of none makes the view anew. */
export const storedDefinition = (definition: string): string => `${STORED}${definition}`;

export const isStored = (recorded: ViewRecord[string] | undefined): boolean =>
  recorded?.definition.startsWith(STORED) === true;

export const storedName = (model: string): string => `model_${model}`;

export const analyticsSchema = (schema: string): string => `${schema}_analytics`;

export const printOf = ({ select, comment, columns }: View): ViewRecord[string] => ({
  definition: digestOf(select),
  comments: digestOf([comment, columns]),
});
