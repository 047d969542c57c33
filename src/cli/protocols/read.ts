import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError, TributaryError } from "../../errors.ts";
import { codeOf, writeDurably } from "../../files.ts";
import type { ChangesState } from "../../operations/changes/changes.ts";
import type { Protocol } from "../../operations/changes/telling.ts";
import { type Given, option } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined, localPath, streamsArgument, unless } from "../invocation/options.ts";
import { protocolMessages } from "./messages.ts";

const own = {
  state: option(localPath(), "where the last reading ended, written on the way; without one: everything", "<file>"),
  sync: unless("only what the warehouse holds, without a request"),
};

type ReadOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [streamsArgument()],
  description:
    "Run a sync, then write the changed rows of the tables to stdout, for other programs: new rows, updated rows, and soft-deleted rows with their _deleted_at.",
  options: [own, "company", "config", "max_time", "max_requests", "wait", "log", "progress"],
  examples: [
    "tributary read --state read.json | my-loader",
    "tributary read purchase_orders invoices --no-sync > rows.ndjson",
    "tributary read 'invoice*' --no-sync | jq -r 'select(.record._deleted_at) | .record.doc_id'",
  ],
  notes:
    '\nEach line is {"stream", "table", "record"} or {"state"}: at least one every 5,000 rows. Amounts are text, exact. docs/read.md says how to go on after a failure.',
  run: read,
});

async function read(streams: readonly string[], options: ReadOptions, context: CliContext): Promise<void> {
  const loaded = await context.openConfig(options, options.sync ? undefined : { local: true });
  const { configuredTables, fileText, readAfterSync } = await import("./protocol_read.ts");
  const { noChangesRead, parseChangesState } = await import("../../operations/changes/changes.ts");
  const { named } = await configuredTables(loaded, streams);
  const file = options.state === undefined ? undefined : resolve(context.cwd, options.state);
  const text = await fileText(file, true);
  const state = text === undefined ? noChangesRead : parseChangesState(text, file!);
  if (file !== undefined) await requireWritable(file);
  const { protocol, last } = noting(lines, state);
  const wrote = async (piece: Buffer | string) => {
    if (file !== undefined && typeof piece === "string" && piece !== "") await writeState(file, last());
  };
  await readAfterSync({ protocol, tables: named, state }, { loaded, options, streams, wrote }, context);
}

/** Looks before the first row: rows whose state cannot be kept would come again. @throws ConfigError */
async function requireWritable(file: string): Promise<void> {
  try {
    await access(file, constants.W_OK).catch(error => {
      if (codeOf(error) !== "ENOENT") throw error;
      return access(dirname(file), constants.W_OK);
    });
  } catch (cause) {
    throw new ConfigError(protocolMessages.state_not_writable({ file, reason: codeOf(cause) }), cause);
  }
}

async function writeState(file: string, state: ChangesState): Promise<void> {
  try {
    await writeDurably(file, `${JSON.stringify(state)}\n`);
  } catch (cause) {
    throw new TributaryError(protocolMessages.state_not_written({ file, reason: codeOf(cause) }), 1, cause);
  }
}

/** The protocol, and the last state that it told. */
function noting(protocol: Protocol, begun: ChangesState) {
  let last = begun;
  const noted: Protocol = {
    ...protocol,
    state(table, state, rows) {
      last = state;
      return protocol.state(table, state, rows);
    },
    last(state) {
      last = state;
      return protocol.last(state);
    },
  };
  return { protocol: noted, last: () => last };
}

const stateLine = (state: ChangesState): string => `${JSON.stringify({ state })}\n`;

const lines: Protocol = {
  format: {
    decimals: "text",
    around: ({ stream, name }) => [
      `{"stream":${JSON.stringify(stream)},"table":${JSON.stringify(name)},"record":`,
      "}",
    ],
  },
  begin: () => "",
  state: (_table, state, rows) => (rows === 0 ? "" : stateLine(state)),
  end: () => "",
  last: stateLine,
};
