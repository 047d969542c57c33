import { z } from "zod";
import { chosenTables, parsed } from "./airbyte.ts";
import { type ChangesTable, positionsSchema, stateOfTables, tablesOfState } from "./changes.ts";
import { recordSchema } from "./record_schema.ts";
import type { Protocol, ProtocolRead } from "./telling.ts";

/*
 * Singer's messages, as a tap writes them: a JSON message a line.
 */

/** What targets look for when they remove rows. */
const TWINS = { _deleted_at: "_sdc_deleted_at" };

const line = (message: object): string => `${JSON.stringify(message)}\n`;

const keyOf = ({ key }: ChangesTable): readonly string[] => ["_company", ...key];
const schemaOf = ({ columns }: ChangesTable): object => recordSchema(columns, "text", TWINS);

const isNeeded = (table: ChangesTable, column: string): boolean =>
  [...keyOf(table), "_changed_at", "_deleted_at"].includes(column);

export function catalogDocument(tables: readonly ChangesTable[]): string {
  const streams = tables.map(table => {
    const { name, columns } = table;
    const own = {
      "table-key-properties": keyOf(table),
      "forced-replication-method": "INCREMENTAL",
      "valid-replication-keys": ["_changed_at"],
    };
    const properties = columns.map(column => ({
      breadcrumb: ["properties", column.name],
      metadata: { inclusion: isNeeded(table, column.name) ? "automatic" : "available" },
    }));
    return {
      ...{ tap_stream_id: name, stream: name, key_properties: keyOf(table), schema: schemaOf(table) },
      ...{ replication_method: "INCREMENTAL", replication_key: "_changed_at" },
      metadata: [{ breadcrumb: [], metadata: { inclusion: "available", ...own } }, ...properties],
    };
  });
  return `${JSON.stringify({ streams }, null, 2)}\n`;
}

const entrySchema = z.object({
  breadcrumb: z.array(z.string()),
  metadata: z.object({
    inclusion: z.string().optional(),
    selected: z.boolean().nullish(),
    "selected-by-default": z.boolean().optional(),
  }),
});

const catalogSchema = z.object({
  streams: z.array(z.object({ tap_stream_id: z.string(), metadata: z.array(entrySchema).default([]) })),
});

type Metadata = readonly z.output<typeof entrySchema>[];

function isSelected(metadata: Metadata, otherwise: boolean, ...breadcrumb: readonly string[]): boolean {
  const at = JSON.stringify(breadcrumb);
  const found = metadata.find(entry => JSON.stringify(entry.breadcrumb) === at)?.metadata ?? {};
  if (found.inclusion === "automatic" || found.inclusion === "unsupported") return found.inclusion === "automatic";
  return found.selected ?? found["selected-by-default"] ?? otherwise;
}

const bookmarksSchema = z.object({ bookmarks: z.record(z.string(), positionsSchema) });

/** A state, the message with one, or `{}` for none: anything else taken for none would bring every row again. */
const stateSchema = z.union([
  bookmarksSchema,
  z.strictObject({}).transform(() => ({ bookmarks: {} })),
  z.object({ type: z.literal("STATE"), value: bookmarksSchema }).transform(({ value }) => value),
]);

/** What a catalogue selects; without one all tables of `on`. @throws ConfigError */
export function readSelected(
  { planned, on }: { readonly planned: readonly ChangesTable[]; readonly on: readonly ChangesTable[] },
  texts: { readonly catalog: string | undefined; readonly state: string | undefined },
  now: number,
): ProtocolRead {
  const { bookmarks } = parsed(stateSchema, texts.state ?? "{}", "a state that `tributary singer` wrote");
  const state = stateOfTables(bookmarks);
  const protocol = singerProtocol(new Date(now).toISOString());
  if (texts.catalog === undefined) return { tables: on, state, protocol };
  const { streams } = parsed(catalogSchema, texts.catalog, "a catalog as `tributary singer --discover` prints it");
  const selected = new Map(
    streams.flatMap(({ tap_stream_id, metadata }) => (isSelected(metadata, false) ? [[tap_stream_id, metadata]] : [])),
  );
  const tables = chosenTables(planned, [...selected.keys()]);
  const without = tables.map(table => {
    const metadata = selected.get(table.name)!;
    const left = metadata.filter(({ breadcrumb: [properties, name = ""] }) => {
      return properties === "properties" && !isNeeded(table, name) && !isSelected(metadata, true, properties, name);
    });
    return [table.name, new Set(left.map(({ breadcrumb }) => breadcrumb[1]!))] as const;
  });
  return { tables, without: new Map(without), state, protocol };
}

function singerProtocol(extractedAt: string): Protocol {
  const stateLine: Protocol["last"] = state => line({ type: "STATE", value: { bookmarks: tablesOfState(state) } });
  return {
    format: {
      decimals: "text",
      twins: TWINS,
      around: ({ name }) => [
        `{"type":"RECORD","stream":${JSON.stringify(name)},"time_extracted":"${extractedAt}","record":`,
        "}",
      ],
    },
    begin: table =>
      line({
        ...{ type: "SCHEMA", stream: table.name, schema: schemaOf(table) },
        ...{ key_properties: keyOf(table), bookmark_properties: ["_changed_at"] },
      }),
    state: (_table, state, rows) => (rows === 0 ? "" : stateLine(state)),
    end: () => "",
    last: stateLine,
  };
}
