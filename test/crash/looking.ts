import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

/** What a reader of the published file saw. States are counts of the rows it looks at, in the order in which they came. */
export interface Looking {
  /** Of the connection that was held all the while, at its beginning and at its end. */
  readonly held: readonly [number, number];
  /** Of connections opened one after another, without repetitions. */
  readonly seen: readonly number[];
  readonly opened: number;
  readonly errors: readonly string[];
}

const LIVE = "select count(*)::integer from procurement.items where _deleted_at is null";

/** Holds the file open, and opens it anew in both ways that DuckDB's client knows, until `over` says so; asked after each turn. */
export async function look(path: string, over: () => Promise<boolean>): Promise<Looking> {
  const options = { access_mode: "READ_ONLY" };
  const holding = await DuckDBInstance.fromCache(path, options);
  const held = await holding.connect();
  const before = await stateOf(held);
  const seen: number[] = [];
  const errors: string[] = [];
  let opened = 0;
  for (let last = false; !last; ) {
    // One look comes after the word that it is over: it sees the newest state.
    last = await over();
    for (const open of [() => DuckDBInstance.create(path, options), () => DuckDBInstance.fromCache(path, options)]) {
      try {
        const state = await lookOnce(open);
        opened++;
        if (seen.at(-1) !== state) seen.push(state);
      } catch (error) {
        errors.push(String(error));
      }
    }
  }
  const after = await stateOf(held);
  held.closeSync();
  holding.closeSync();
  return { held: [before, after], seen, opened, errors };
}

async function lookOnce(open: () => Promise<DuckDBInstance>): Promise<number> {
  const instance = await open();
  const connection = await instance.connect();
  try {
    return await stateOf(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function stateOf(connection: DuckDBConnection): Promise<number> {
  return Number((await (await connection.run(LIVE)).getRows())[0]?.[0]);
}
