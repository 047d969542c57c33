import type { ChangedBatch, ChangesState, ChangesTable, LineFormat } from "./changes.ts";

/** What a protocol says around the rows of tables: whole lines, or nothing. */
export interface Protocol {
  readonly format: LineFormat;
  begin(table: ChangesTable, hasRows: boolean): string;
  /** How far the `rows` go that were told since the last one; at the end of a table in any case. */
  state(table: ChangesTable, state: ChangesState, rows: number): string;
  end(table: ChangesTable, isComplete: boolean): string;
  /** After everything. */
  last(state: ChangesState): string;
}

/** What a program asked for in a protocol's words. */
export interface ProtocolRead {
  readonly protocol: Protocol;
  readonly tables: readonly ChangesTable[];
  readonly without?: ReadonlyMap<string, ReadonlySet<string>>;
  readonly state: ChangesState;
}

/** How many rows go out between two states at most. */
const STATE_ROWS = 5_000;

/** Tells what changed: of each table its rows, states on the way, and its end. */
export class Telling {
  readonly #untold: Map<string, ChangesTable>;
  readonly #protocol: Protocol;
  readonly #isComplete: (table: ChangesTable) => boolean;
  readonly #write: (piece: Buffer | string) => Promise<void>;
  #state: ChangesState;
  #table: ChangesTable | undefined;
  #rows = 0;

  /** `isComplete`: whether the warehouse has all of a table. */
  constructor(
    { protocol, tables, state }: Pick<ProtocolRead, "protocol" | "tables" | "state">,
    isComplete: (table: ChangesTable) => boolean,
    write: (piece: Buffer | string) => Promise<void>,
  ) {
    this.#untold = new Map(tables.map(table => [table.name, table]));
    this.#protocol = protocol;
    this.#isComplete = isComplete;
    this.#write = write;
    this.#state = state;
  }

  async take({ table, lines, rows, state }: ChangedBatch): Promise<void> {
    if (this.#table?.name !== table) {
      await this.#close(this.#isComplete);
      await this.#begin(this.#untold.get(table)!, true);
    }
    if (this.#rows + rows > STATE_ROWS) await this.#tellState(this.#table!);
    await this.#write(lines);
    this.#rows += rows;
    this.#state = state;
  }

  /** Tables that nothing changed in are told, too. */
  async end(): Promise<void> {
    await this.#close(this.#isComplete);
    for (const table of this.#untold.values()) {
      await this.#begin(table, false);
      await this.#close(this.#isComplete);
    }
    await this.#write(this.#protocol.last(this.#state));
  }

  /** After a failure: what was told goes as far as it goes. */
  async stop(): Promise<void> {
    await this.#close(() => false);
    for (const table of this.#untold.values()) await this.#write(this.#protocol.end(table, false));
    await this.#write(this.#protocol.last(this.#state));
  }

  async #begin(table: ChangesTable, hasRows: boolean): Promise<void> {
    this.#untold.delete(table.name);
    this.#table = table;
    await this.#write(this.#protocol.begin(table, hasRows));
  }

  async #close(isComplete: (table: ChangesTable) => boolean): Promise<void> {
    const table = this.#table;
    if (table === undefined) return;
    await this.#tellState(table);
    await this.#write(this.#protocol.end(table, isComplete(table)));
    this.#table = undefined;
  }

  async #tellState(table: ChangesTable): Promise<void> {
    await this.#write(this.#protocol.state(table, this.#state, this.#rows));
    this.#rows = 0;
  }
}
