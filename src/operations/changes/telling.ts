import type { ChangedBatch, ChangesState, ChangesTable, LineFormat } from "./changes.ts";

/** What a protocol says around the rows of tables: whole lines, or nothing. */
export interface Protocol {
  readonly format: LineFormat;
  begin(table: ChangesTable, hasRows: boolean): string;
  /** How far the `rows` go that were told since the last one; at the end of a table in any case. */
  state(table: ChangesTable, state: ChangesState, rows: number): string;
  end(table: ChangesTable, isComplete: boolean): string;
  last(state: ChangesState): string;
}

export interface ProtocolRead {
  readonly protocol: Protocol;
  /** For a protocol that says nothing of a table beside its rows: none. */
  readonly tables: readonly ChangesTable[];
  readonly without?: ReadonlyMap<string, ReadonlySet<string>>;
  readonly state: ChangesState;
}

export const streamsOf = ({ tables }: Pick<ProtocolRead, "tables">): readonly string[] => [
  ...new Set(tables.map(({ stream }) => stream)),
];

const STATE_ROWS = 5_000;

/**
 * What changed, told in a protocol's words: of each table its rows, states on the way, and its end. After a failure the last state
 * says how far the rows go, and no table that was not told by then is complete. `isComplete`: whether the warehouse has all of a table.
 */
export async function* told(
  batches: AsyncIterable<ChangedBatch>,
  { protocol, tables, state: begun }: ProtocolRead,
  isComplete: (table: ChangesTable) => boolean,
): AsyncGenerator<Buffer | string, void, undefined> {
  const untold = new Map(tables.map(table => [table.name, table]));
  let state = begun;
  let rows = 0;
  let open: ChangesTable | undefined;
  const begin = (table: ChangesTable, hasRows: boolean): string => {
    untold.delete(table.name);
    open = table;
    return protocol.begin(table, hasRows);
  };
  const stateOf = (table: ChangesTable): string => {
    const line = protocol.state(table, state, rows);
    rows = 0;
    return line;
  };
  const close = (isWhole: (table: ChangesTable) => boolean): string => {
    const lines = open === undefined ? "" : stateOf(open) + protocol.end(open, isWhole(open));
    open = undefined;
    return lines;
  };
  try {
    for await (const batch of batches) {
      if (open?.name !== batch.table) yield close(isComplete) + begin(untold.get(batch.table)!, true);
      if (rows + batch.rows > STATE_ROWS) yield stateOf(open!);
      yield batch.lines;
      rows += batch.rows;
      state = batch.state;
    }
  } catch (error) {
    const ends = [...untold.values()].map(table => protocol.end(table, false));
    yield [close(() => false), ...ends].join("");
    throw error;
  }
  yield close(isComplete);
  // Tables without changes have a begin and an end, too.
  for (const table of untold.values()) yield begin(table, false) + close(isComplete);
  yield protocol.last(state);
}
