import { select } from "../config/selection.ts";
import { nothingLoaded } from "../errors.ts";
import type { ChangedBatch, ChangesOrder, ChangesState, LineFormat } from "../operations/changes/changes.ts";
import { type Given, selectionOptions } from "../options/options.ts";
import { configuredStreams } from "./connector.ts";
import { checked, type WorkOptions } from "./run.ts";
import { type OpenWarehouse, opened, type Warehouse } from "./warehouse.ts";

/** What is read, and since when. */
export interface ReadOptions extends WorkOptions, Given<typeof selectionOptions> {
  /** The state of a change that was read before: what comes is what changed behind it. Default: everything. */
  readonly state?: ChangesState | undefined;
}

/** A row of a table that is new, changed, or soft-deleted (`_deleted_at`). */
export interface Change {
  readonly stream: string;
  readonly table: string;
  /**
   * The row by column. Decimals are text, with every digit; integers beyond 2^53 are bigint; dates are `2026-03-01`, timestamps ISO 8601 in UTC
   * with microseconds; nested values are what JSON has for them.
   */
  readonly record: Readonly<Record<string, unknown>>;
  /** Where reading goes on behind this row. */
  readonly state: ChangesState;
}

/**
 * The rows of the warehouse that changed since a state, from table to table, in the order of their change, as of one moment and in bounded
 * memory. It sends no request: a `sync` before it brings what is new. A loop that is left gives back everything.
 * @throws ConfigError where none of the streams has been loaded yet; DestinationError, StoppedError
 */
export async function* read(warehouse: Warehouse, options: ReadOptions = {}): AsyncGenerator<Change, void, undefined> {
  const { state, ...selection } = options;
  checked(selectionOptions, selection);
  const bare: LineFormat = { decimals: "text", around: () => ["", ""] };
  for await (const { stream, table, lines, stateBehind } of changedBatches(
    opened(warehouse),
    { ...selection, state },
    bare,
  )) {
    for (const line of lines.toString().trimEnd().split("\n")) {
      const record = recordOf(line);
      yield {
        ...{ stream, table, record },
        get state() {
          return stateBehind(record);
        },
      };
    }
  }
}

const mayBeUnsafe = /\d{16}/;

function recordOf(line: string): Record<string, unknown> {
  if (!mayBeUnsafe.test(line)) return JSON.parse(line);
  const exactly = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "") ? BigInt(source!) : value;
  return JSON.parse(line, exactly);
}

/** The same as lines, many at once, of some tables or columns only. */
export async function* changedBatches(
  warehouse: OpenWarehouse,
  options: ReadOptions & Pick<ChangesOrder, "tables" | "without" | "mayBeEmpty">,
  format: LineFormat,
): AsyncGenerator<ChangedBatch, void, undefined> {
  const { openReading } = await import("../warehouse/connect/reading.ts");
  const { takeChanges } = await import("../operations/changes/changes.ts");
  const { config } = warehouse.loaded;
  const { tables, without, mayBeEmpty } = options;
  const order = { ...(await changesOrder(warehouse, options)), tables, without, mayBeEmpty, format };
  yield* handedOver((take, fail) =>
    warehouse.within(options.signal, async signal => {
      signal.throwIfAborted();
      // Otherwise `close` would wait for a loop that asks for nothing more.
      signal.addEventListener("abort", () => fail(signal.reason));
      await using reading = await openReading(config.destination, { memoryLimitMb: 64, threads: 1, isSparing: true });
      if (reading === undefined) throw nothingLoaded("a warehouse to read from");
      await takeChanges(reading, order, signal, take);
    }),
  );
}

/** What is read, from where the last reading ended. @throws ConfigError */
async function changesOrder(
  { loaded: { config } }: OpenWarehouse,
  { streams: names = [], company, state }: ReadOptions,
): Promise<Omit<ChangesOrder, "format">> {
  const { companiesOf } = await import("../sync/run/run.ts");
  const { changesState, requireOwnState } = await import("../operations/changes/changes.ts");
  const { catalogue, on } = await configuredStreams(config);
  const { named } = select(catalogue, on, names, config.streams.settings);
  const companies = companiesOf(config, company).map(({ name }) => name);
  const begun = changesState(state === undefined ? {} : state, "the option state");
  requireOwnState(begun, companies);
  return {
    catalogue,
    streams: names.length === 0 ? new Set(on.map(({ name }) => name)) : named,
    companies,
    state: begun,
  };
}

/** What `work` hands over, each piece once it is asked for. A loop that is left ends the work at its next piece, and waits for that. */
async function* handedOver<T>(
  work: (take: (piece: T) => Promise<void>, fail: (reason: unknown) => void) => Promise<void>,
): AsyncGenerator<T> {
  let fail: (reason: unknown) => void = () => undefined;
  const { readable, writable } = new TransformStream<T, T>({
    start(controller) {
      fail = reason => controller.error(reason);
    },
  });
  const writer = writable.getWriter();
  writer.closed.catch(() => undefined);
  const done = work(piece => writer.write(piece), fail).then(
    () => writer.close(),
    error => writer.abort(error),
  );
  try {
    yield* readable;
  } finally {
    // Its failures are those of the stream.
    await done.catch(() => undefined);
  }
}
