import { expect } from "vitest";
import { z } from "zod";

/*
 * The messages of Airbyte's protocol that a source may write, and those of Singer that a tap may write, as strictly as their
 * readers could take them: a field that is not named here fails.
 */

type Rec = Readonly<Record<string, unknown>>;

const record = z.record(z.string(), z.unknown());
const named = z.strictObject({ name: z.string().min(1) });
const ms = z.int().min(1_000_000_000_000);
const moment = z.iso.datetime({ precision: 6 });
const positions = z.record(z.string(), z.strictObject({ changed_at: moment, key: z.array(z.string()) }));

const types = z.enum(["null", "string", "number", "integer", "boolean", "object", "array"]);
const value = z.strictObject({
  type: z.array(types).min(1),
  format: z.enum(["date", "date-time", "x-singer.decimal"]).optional(),
  airbyte_type: z.literal("timestamp_with_timezone").optional(),
  precision: z.literal(38).optional(),
  scale: z.literal(9).optional(),
  description: z.string().min(1).optional(),
});

/** A schema of records, as both protocols have it. */
const recordSchema = z.strictObject({
  $schema: z.literal("http://json-schema.org/draft-07/schema#"),
  type: z.literal("object"),
  additionalProperties: z.literal(true),
  properties: z.record(z.string(), value),
});

export type RecordSchema = z.output<typeof recordSchema>;

const form: z.ZodType = z.lazy(() =>
  z.strictObject({
    $schema: z.string().optional(),
    type: z.enum(["object", "string", "array"]),
    title: z.string().min(1),
    description: z.string().min(1).optional(),
    order: z.int().optional(),
    additionalProperties: z.literal(true).optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), form).optional(),
    items: z.strictObject({ type: z.literal("string") }).optional(),
    enum: z.array(z.string()).optional(),
    default: z.unknown().optional(),
    airbyte_secret: z.literal(true).optional(),
  }),
);

const stream = z.strictObject({
  name: z.string().min(1),
  json_schema: recordSchema,
  supported_sync_modes: z.tuple([z.literal("full_refresh"), z.literal("incremental")]),
  source_defined_cursor: z.literal(true),
  default_cursor_field: z.tuple([z.literal("_changed_at")]),
  source_defined_primary_key: z.array(z.tuple([z.string()])).min(2),
  is_resumable: z.literal(true),
});

const error = z.strictObject({
  message: z.string().min(1),
  internal_message: z.string(),
  stack_trace: z.string().optional(),
  failure_type: z.enum(["config_error", "transient_error", "system_error"]),
});

const trace = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ERROR"), emitted_at: ms, error }),
  z.strictObject({
    type: z.literal("STREAM_STATUS"),
    emitted_at: ms,
    stream_status: z.strictObject({
      stream_descriptor: named,
      status: z.enum(["STARTED", "RUNNING", "COMPLETE", "INCOMPLETE"]),
    }),
  }),
]);

const airbyte = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("SPEC"),
    spec: z.strictObject({
      protocol_version: z.string(),
      connectionSpecification: form,
    }),
  }),
  z.strictObject({
    type: z.literal("CONNECTION_STATUS"),
    connectionStatus: z.discriminatedUnion("status", [
      z.strictObject({ status: z.literal("SUCCEEDED") }),
      z.strictObject({ status: z.literal("FAILED"), message: z.string().min(1) }),
    ]),
  }),
  z.strictObject({ type: z.literal("CATALOG"), catalog: z.strictObject({ streams: z.array(stream) }) }),
  z.strictObject({
    type: z.literal("LOG"),
    log: z.strictObject({ level: z.enum(["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"]), message: z.string() }),
  }),
  z.strictObject({
    type: z.literal("RECORD"),
    record: z.strictObject({ stream: z.string(), emitted_at: ms, data: record }),
  }),
  z.strictObject({
    type: z.literal("STATE"),
    state: z.strictObject({
      type: z.literal("STREAM"),
      stream: z.strictObject({
        stream_descriptor: named,
        stream_state: z.strictObject({ companies: positions, full_refresh: z.literal(true).optional() }),
      }),
      sourceStats: z.strictObject({ recordCount: z.int().min(0) }),
    }),
  }),
  z.strictObject({ type: z.literal("TRACE"), trace }),
]);

export type AirbyteMessage = z.output<typeof airbyte>;
export type AirbyteStream = z.output<typeof stream>;

const singer = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("SCHEMA"),
    stream: z.string().min(1),
    schema: recordSchema,
    key_properties: z.array(z.string()).min(2),
    bookmark_properties: z.tuple([z.literal("_changed_at")]),
  }),
  z.strictObject({
    type: z.literal("RECORD"),
    stream: z.string(),
    time_extracted: z.iso.datetime(),
    record,
  }),
  z.strictObject({
    type: z.literal("STATE"),
    value: z.strictObject({ bookmarks: z.record(z.string(), positions) }),
  }),
]);

export type SingerMessage = z.output<typeof singer>;

const singerCatalog = z.strictObject({
  streams: z.array(
    z.strictObject({
      tap_stream_id: z.string(),
      stream: z.string(),
      key_properties: z.array(z.string()).min(2),
      schema: recordSchema,
      replication_method: z.literal("INCREMENTAL"),
      replication_key: z.literal("_changed_at"),
      metadata: z.array(
        z.strictObject({
          breadcrumb: z.union([z.tuple([]), z.tuple([z.literal("properties"), z.string()])]),
          metadata: z.strictObject({
            inclusion: z.enum(["available", "automatic"]),
            "table-key-properties": z.array(z.string()).optional(),
            "forced-replication-method": z.literal("INCREMENTAL").optional(),
            "valid-replication-keys": z.tuple([z.literal("_changed_at")]).optional(),
          }),
        }),
      ),
    }),
  ),
});

export type SingerCatalog = z.output<typeof singerCatalog>;

function linesOf<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema>[] {
  if (text === "") return [];
  expect(text.endsWith("\n"), `a line that was cut: ${text.slice(-200)}`).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map(line => {
      const { data, error } = schema.safeParse(JSON.parse(line));
      if (error !== undefined) throw new Error(`${z.prettifyError(error)}\nin ${line.slice(0, 300)}`);
      return data;
    });
}

/** What a source wrote, message by message: each as the protocol has it, and in an order that it allows. */
export function airbyteMessages(text: string): AirbyteMessage[] {
  const messages = linesOf(airbyte, text);
  const states = new Map<string, string>();
  const counted = new Map<string, number>();
  for (const message of messages) {
    if (message.type === "TRACE" && message.trace.type === "STREAM_STATUS") {
      const { stream_descriptor, status } = message.trace.stream_status;
      const before = states.get(stream_descriptor.name);
      const allowed = { STARTED: [undefined], RUNNING: ["STARTED"], COMPLETE: ["STARTED", "RUNNING"] };
      const after = status === "INCOMPLETE" ? [undefined, "STARTED", "RUNNING"] : allowed[status];
      expect(after, `${stream_descriptor.name}: ${before} → ${status}`).toContain(before);
      if (status === "COMPLETE" || status === "INCOMPLETE") expect(counted.get(stream_descriptor.name) ?? 0).toBe(0);
      states.set(stream_descriptor.name, status);
    }
    if (message.type === "RECORD") {
      const { stream } = message.record;
      expect(states.get(stream), `a record of ${stream} in the wrong place`).toBe("RUNNING");
      counted.set(stream, (counted.get(stream) ?? 0) + 1);
    }
    if (message.type === "STATE") {
      const { name } = message.state.stream.stream_descriptor;
      const count = counted.get(name) ?? 0;
      expect([name, message.state.sourceStats.recordCount]).toEqual([name, count]);
      expect(count).toBeLessThanOrEqual(5_000);
      expect(["STARTED", "RUNNING"]).toContain(states.get(name));
      counted.set(name, 0);
    }
  }
  for (const [name, status] of states) expect(["COMPLETE", "INCOMPLETE"], name).toContain(status);
  return messages;
}

/** What a tap wrote: each message as Singer has it, no record before its schema, and each as its schema says. */
export function singerMessages(text: string): SingerMessage[] {
  const messages = linesOf(singer, text);
  const schemas = new Map<string, RecordSchema>();
  for (const message of messages) {
    if (message.type === "SCHEMA") {
      const missing = message.key_properties.filter(name => message.schema.properties[name] === undefined);
      expect(missing).toEqual([]);
      schemas.set(message.stream, message.schema);
    }
    if (message.type === "RECORD") requireFit(schemas.get(message.stream), message.record);
  }
  if (messages.length > 0) expect(messages.at(-1)!.type).toBe("STATE");
  return messages;
}

export const singerCatalogOf = (text: string): SingerCatalog => singerCatalog.parse(JSON.parse(text));

/** That a record holds what its schema says, all of it and nothing else. */
export function requireFit(schema: RecordSchema | undefined, data: Rec): void {
  expect(schema, "a record without a schema").toBeDefined();
  expect(Object.keys(data).sort()).toEqual(Object.keys(schema!.properties).sort());
  const wrong = Object.entries(schema!.properties).filter(
    ([name, of]) => !of.type.some(type => isA(type, of, data[name])),
  );
  expect(wrong.map(([name, of]) => `${name}: ${JSON.stringify(data[name])} is not ${JSON.stringify(of)}`)).toEqual([]);
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
  "x-singer.decimal": /^-?\d{1,29}(\.\d{1,9})?$/,
};

function isA(type: string, { format }: z.output<typeof value>, found: unknown): boolean {
  switch (type) {
    case "null":
      return found === null;
    case "array":
      return Array.isArray(found);
    case "object":
      return typeof found === "object" && found !== null && !Array.isArray(found);
    case "integer":
      return Number.isInteger(found);
    case "string":
      return typeof found === "string" && (format === undefined || FORMATS[format]!.test(found));
    default:
      return typeof found === type;
  }
}
