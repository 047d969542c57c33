import { z } from "zod";
import { configSchema, schemaAt } from "../../config/schema.ts";
import { ConfigError, type ExitCode } from "../../errors.ts";
import { parsedJson } from "../../files.ts";
import { type ChangesTable, outline, positionsSchema, stateOfTables, tablesOfState } from "./changes.ts";
import { changesMessages } from "./messages.ts";
import { recordSchema } from "./record_schema.ts";
import type { Protocol, ProtocolRead } from "./telling.ts";

/*
 * Airbyte's protocol, version 0, as a source speaks it: a JSON message a line.
 */

const line = (message: object): string => `${JSON.stringify(message)}\n`;

const ASKED = {
  api: ["base_url", "key"],
  company: [],
  destination: ["type", "path", "url", "schema"],
  streams: ["preset", "include", "exclude", "start"],
};
const SECRET = ["api.key", "destination.url"];

/** What a configuration is, as a form: what its own schema says of these keys. */
export function specMessage(): string {
  const below = (keys: readonly string[], path: readonly string[]) =>
    Object.fromEntries(keys.map((key, order) => [key, { order, ...keySchema([...path, key]) }]));
  const groups = Object.entries(ASKED).map(([name, keys], order) => {
    if (keys.length === 0) return [name, { order, ...keySchema([name]) }];
    const required = keys.filter(key => key === "base_url");
    return [name, { order, type: "object", title: titled(name), required, properties: below(keys, [name]) }];
  });
  const connectionSpecification = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...{ type: "object", title: "tributary", additionalProperties: true, required: ["api"] },
    properties: Object.fromEntries(groups),
  };
  return line({ type: "SPEC", spec: { protocol_version: "0.2.0", connectionSpecification } });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const titled = (name: string): string => capital(name.replaceAll("_", " "));

function keySchema(path: readonly string[]): object {
  const schema = schemaAt(configSchema, path) as z.ZodType;
  const known = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const [issue] = schema.safeParse(Symbol()).error!.issues;
  return {
    ...{ type: known.type, enum: known.enum, default: known.default, title: titled(path.at(-1)!) },
    description: known.description ?? `${capital(issue!.message.replace(/^expected /, ""))}.`,
    items: known.items && { type: "string" },
    airbyte_secret: SECRET.includes(path.join(".")) || undefined,
  };
}

/** `failure`: what keeps a run from going well. */
export function statusMessage(message: string | undefined): string {
  const status = message === undefined ? "SUCCEEDED" : "FAILED";
  return line({ type: "CONNECTION_STATUS", connectionStatus: { status, message } });
}

export function catalogMessage(tables: readonly ChangesTable[]): string {
  const streams = tables.map(({ name, key, columns }) => ({
    name,
    json_schema: recordSchema(columns, "beside"),
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: true,
    default_cursor_field: ["_changed_at"],
    source_defined_primary_key: ["_company", ...key].map(column => [column]),
    is_resumable: true,
  }));
  return line({ type: "CATALOG", catalog: { streams } });
}

export function logMessage(text: string): string {
  const { level, time: _time, msg, ...facts } = JSON.parse(text) as Record<string, unknown>;
  const more = Object.keys(facts).length === 0 ? "" : ` ${JSON.stringify(facts)}`;
  return line({ type: "LOG", log: { level: String(level).toUpperCase(), message: `${msg}${more}` } });
}

const trace = (type: string, now: number, what: object): string =>
  line({ type: "TRACE", trace: { type, emitted_at: now, ...what } });

/** An error with its failure type: the configuration's (exit codes 2 and 3), a bug (70), or one that the next run may get over. */
export function errorMessage(message: string, exitCode: ExitCode, now: number, stack_trace?: string): string {
  const isConfig = exitCode === 2 || exitCode === 3;
  const failure_type = isConfig ? "config_error" : exitCode === 70 ? "system_error" : "transient_error";
  const error = { message, internal_message: `exit code ${exitCode}`, stack_trace, failure_type };
  return trace("ERROR", now, { error });
}

const configuredSchema = z.object({
  streams: z.array(
    z.object({ stream: z.object({ name: z.string() }), sync_mode: z.enum(["full_refresh", "incremental"]) }),
  ),
});

/** A full refresh that is tried again goes on from its own states. Those of an incremental read say nothing to it. */
const stateSchema = z.object({ companies: positionsSchema, full_refresh: z.boolean().optional() });

const statesSchema = z.array(
  z.object({
    type: z.literal("STREAM"),
    stream: z.object({
      stream_descriptor: z.object({ name: z.string() }),
      stream_state: z.union([stateSchema, z.strictObject({}), z.null()]).optional(),
    }),
  }),
);

export function readConfigured(
  planned: readonly ChangesTable[],
  texts: { readonly catalog: string; readonly state: string | undefined },
  now: () => number,
): ProtocolRead {
  const { streams } = parsed(configuredSchema, texts.catalog, "a configured catalog of Airbyte's protocol");
  const given = parsed(statesSchema, texts.state ?? "[]", "a list of Airbyte's states, one for each stream");
  const modes = new Map(streams.map(({ stream, sync_mode }) => [stream.name, sync_mode]));
  const isWhole = (table: string) => modes.get(table) === "full_refresh";
  const positions = given.flatMap(({ stream: { stream_descriptor, stream_state } }) => {
    if (!stream_state || !("companies" in stream_state)) return [];
    const goesOn = (stream_state.full_refresh ?? false) || !isWhole(stream_descriptor.name);
    return goesOn ? [[stream_descriptor.name, stream_state.companies] as const] : [];
  });
  const state = stateOfTables(Object.fromEntries(positions));
  return { tables: chosenTables(planned, [...modes.keys()]), state, protocol: airbyteProtocol(isWhole, now) };
}

export function chosenTables(planned: readonly ChangesTable[], names: readonly string[]): readonly ChangesTable[] {
  const known = new Set(planned.map(({ name }) => name));
  const unknown = names.filter(name => !known.has(name));
  if (unknown.length > 0) throw new ConfigError(changesMessages.unknown_tables({ tables: unknown }));
  return planned.filter(({ name }) => names.includes(name));
}

export function parsed<Schema extends z.ZodType>(schema: Schema, text: string, expected: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const got = outline(parsedJson(text), text);
    throw new ConfigError(changesMessages.unreadable_input({ expected, got }), cause);
  }
}

function airbyteProtocol(isWhole: (table: string) => boolean, now: () => number): Protocol {
  const status = (name: string, status: string) =>
    trace("STREAM_STATUS", now(), { stream_status: { stream_descriptor: { name }, status } });
  return {
    format: {
      decimals: "beside",
      around: ({ name }) => [
        `{"type":"RECORD","record":{"stream":${JSON.stringify(name)},"emitted_at":${now()},"data":`,
        "}}",
      ],
    },
    begin: ({ name }, hasRows) => `${status(name, "STARTED")}${hasRows ? status(name, "RUNNING") : ""}`,
    state({ name }, state, rows) {
      const companies = tablesOfState(state)[name] ?? {};
      const stream_state = { companies, full_refresh: isWhole(name) || undefined };
      const stream = { stream_descriptor: { name }, stream_state };
      // The count has a decimal point: the protocol's numbers are doubles.
      return `{"type":"STATE","state":{"type":"STREAM","stream":${JSON.stringify(stream)},"sourceStats":{"recordCount":${rows}.0}}}\n`;
    },
    end: ({ name }, isComplete) => status(name, isComplete ? "COMPLETE" : "INCOMPLETE"),
    last: () => "",
  };
}
