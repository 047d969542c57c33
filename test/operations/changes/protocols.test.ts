import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogMessage, errorMessage, readConfigured } from "../../../src/operations/changes/airbyte.ts";
import {
  type ChangedBatch,
  changesTables,
  noChangesRead,
  takeChanges,
} from "../../../src/operations/changes/changes.ts";
import { plannedTables, withPresent } from "../../../src/operations/changes/record_schema.ts";
import { catalogDocument, readSelected } from "../../../src/operations/changes/singer.ts";
import { type ProtocolRead, streamsOf, told } from "../../../src/operations/changes/telling.ts";
import { streams } from "../../../streams/index.ts";
import { type ModelWarehouse, modelWarehouses } from "../../models/warehouse.ts";
import {
  type AirbyteMessage,
  airbyteMessages,
  requireFit,
  type SingerMessage,
  singerCatalogOf,
  singerMessages,
} from "./messages.ts";

const FIRST = "2026-03-01T00:00:00Z";
const LATER = "2026-03-02T00:00:00Z";
const MONEY = "12345678901234567890123456789.123456789";
const NOW = Date.parse("2026-04-01T00:00:00Z");

const rows = {
  purchase_orders: [
    { po_number: "P-1", total_amount: MONEY, is_open: true },
    { po_number: "P-ä \"2'\\", vendor_name: "one\ntwo", po_date: "2026-02-28", total_amount: "-0.5" },
    { po_number: "P-3", _company: "beta" },
  ],
  purchase_order_details: [{ po_number: "P-1" }],
  purchase_order_line_items: [0, 1, 2, 10, 9].map(_index => ({ po_number: "P-1", _index, qty_ordered: "1.5" })),
};
const names = Object.keys(rows);

const configured = (sync_mode: "full_refresh" | "incremental", tables: readonly string[] = names) =>
  JSON.stringify({
    streams: tables.map(name => ({ stream: { name, json_schema: {} }, sync_mode, destination_sync_mode: "append" })),
  });

const statesOf = (messages: readonly AirbyteMessage[]): string => {
  const states = messages.flatMap(message => (message.type === "STATE" ? [message.state] : []));
  const last = new Map(states.map(({ type, stream }) => [stream.stream_descriptor.name, { type, stream }]));
  return JSON.stringify([...last.values()]);
};
const dataOf = (messages: readonly AirbyteMessage[]) =>
  messages.flatMap(message => (message.type === "RECORD" ? [message.record] : []));
const recordsOf = (messages: readonly SingerMessage[]) =>
  messages.flatMap(message => (message.type === "RECORD" ? [message] : []));
const lastOf = (messages: readonly SingerMessage[]): string => {
  const last = messages.at(-1);
  return JSON.stringify(last?.type === "STATE" ? last.value : {});
};

describe.each(modelWarehouses)("what platforms are told of $name", ({ make }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    warehouse = await make({ rows });
    await warehouse.query(`update procurement.purchase_orders set _extra = '{"shelf": 4}' where po_number = 'P-1'`);
    for (const table of names)
      await warehouse.query(`update procurement.${table} set _changed_at = timestamptz '${FIRST}'`);
  });
  afterAll(() => warehouse.drop());

  const planned = () => plannedTables(warehouse.reading.dialect, streams);

  /** Everything that is written; `stopped`: reading fails after the first rows. */
  const written = async (read: ProtocolRead, stopped = false): Promise<string> => {
    const { tables, without, state, protocol } = read;
    const order = {
      ...{ catalogue: streams, without, state, format: protocol.format, now: NOW, companies: ["acme", "beta"] },
      streams: new Set(streamsOf(read)),
      tables: new Set(tables.map(({ name }) => name)),
    };
    const batches: ChangedBatch[] = [];
    await takeChanges(warehouse.reading, order, new AbortController().signal, async batch => {
      batches.push({ ...batch, lines: Buffer.from(batch.lines) });
    });
    async function* handed() {
      yield* stopped ? batches.slice(0, 1) : batches;
      if (stopped) throw new Error("enough");
    }
    const present = withPresent(tables, await changesTables(warehouse.reading, order), without);
    const pieces: string[] = [];
    try {
      for await (const piece of told(handed(), { ...read, tables: present }, () => true)) pieces.push(piece.toString());
    } catch (error) {
      if (!stopped) throw error;
    }
    return pieces.join("");
  };

  const source = (mode: "full_refresh" | "incremental", state?: string, tables: readonly string[] = names) =>
    written(readConfigured(planned(), { catalog: configured(mode, tables), state }, () => NOW));
  const tap = (state?: string, catalog?: string) => {
    const all = planned();
    const on = all.filter(({ name }) => names.includes(name));
    return written(readSelected({ planned: all, on }, { catalog, state }, NOW));
  };

  test("Airbyte: each row once, as its schema says, money as a number and with every digit", async () => {
    const messages = airbyteMessages(await source("incremental"));
    const [message] = airbyteMessages(catalogMessage(planned()));
    const catalog = message!.type === "CATALOG" ? message!.catalog.streams : [];
    const records = dataOf(messages);
    expect(records).toHaveLength(9);
    for (const { stream, data } of records) requireFit(catalog.find(({ name }) => name === stream)?.json_schema, data);
    expect(records[0]!.data).toMatchObject({
      po_number: "P-1",
      total_amount: Number(MONEY),
      total_amount_exact: MONEY,
      _extra: { shelf: 4 },
    });
    const keys = catalog.find(({ name }) => name === "purchase_order_line_items")!.source_defined_primary_key;
    expect(keys).toEqual([["_company"], ["po_number"], ["_index"]]);
  });

  test("Singer: each row once, as its schema says, money as text with every digit", async () => {
    const messages = singerMessages(await tap());
    const records = recordsOf(messages);
    expect(records).toHaveLength(9);
    expect(records[0]!.record).toMatchObject({ po_number: "P-1", total_amount: MONEY, _sdc_deleted_at: null });
    const schemas = messages.flatMap(message => (message.type === "SCHEMA" ? [message] : []));
    expect(schemas.map(({ stream }) => stream).sort()).toEqual([...names].sort());
    expect(schemas[0]!.schema.properties["total_amount"]).toMatchObject({
      type: ["null", "string"],
      format: "x-singer.decimal",
      precision: 38,
      scale: 9,
    });
  });

  test("JSON has the type that the documents say, and only any value has all of them", () => {
    const { streams: catalog } = singerCatalogOf(catalogDocument(planned()));
    const typesOf = (table: string, column: string) =>
      catalog.find(({ stream }) => stream === table)!.schema.properties[column]!.type;
    expect(typesOf("purchase_order_details", "amounts")).toEqual(["null", "object"]);
    expect(typesOf("purchase_order_line_items", "receipts")).toEqual(["null", "array"]);
    expect(typesOf("purchase_order_line_items", "_extra")).toEqual(["null", "object"]);
    expect(typesOf("invoices", "match")).toHaveLength(6);
    const all = catalog.flatMap(({ schema }) => Object.values(schema.properties));
    const open = streams.flatMap(({ tables: { main, children } }) =>
      [main, ...children].flatMap(({ columns }) => columns.filter(({ kind, holds }) => kind === "json" && !holds)),
    );
    expect(all.filter(({ type }) => type.length > 2)).toHaveLength(open.length);
  });

  test("a table in which nothing changed is told too, with its schema and its state", async () => {
    const first = airbyteMessages(await source("incremental"));
    const again = airbyteMessages(await source("incremental", statesOf(first)));
    expect(dataOf(again)).toEqual([]);
    expect(statesOf(again)).toBe(statesOf(first));
    const complete = again.flatMap(message =>
      message.type === "TRACE" && message.trace.type === "STREAM_STATUS" ? message.trace.stream_status.status : [],
    );
    expect(complete).toEqual(names.flatMap(() => ["STARTED", "COMPLETE"]));
    const singer = singerMessages(await tap());
    const nothing = singerMessages(await tap(lastOf(singer)));
    expect(nothing.map(({ type }) => type)).toEqual(["SCHEMA", "SCHEMA", "SCHEMA", "STATE"]);
    expect(lastOf(nothing)).toBe(lastOf(singer));
  });

  test("soft deletes come as such, under Singer's name too", async () => {
    const states = statesOf(airbyteMessages(await source("incremental")));
    const bookmarks = lastOf(singerMessages(await tap()));
    await warehouse.query(
      `update procurement.purchase_orders set _changed_at = timestamptz '${LATER}', _deleted_at = timestamptz '${LATER}' where po_number = 'P-1'`,
    );
    const moment = "2026-03-02T00:00:00.000000Z";
    const changed = dataOf(airbyteMessages(await source("incremental", states)));
    expect(changed.map(({ data }) => [data["po_number"], data["_deleted_at"]])).toEqual([["P-1", moment]]);
    const records = recordsOf(singerMessages(await tap(bookmarks)));
    expect(
      records.map(({ record }) => [record["po_number"], record["_deleted_at"], record["_sdc_deleted_at"]]),
    ).toEqual([["P-1", moment, moment]]);
    await warehouse.query(
      `update procurement.purchase_orders set _changed_at = timestamptz '${FIRST}', _deleted_at = null where po_number = 'P-1'`,
    );
  });

  test("a full refresh reads everything whatever an incremental read left, and goes on where one was stopped", async () => {
    const states = statesOf(airbyteMessages(await source("incremental")));
    const whole = airbyteMessages(await source("full_refresh", states));
    expect(dataOf(whole)).toHaveLength(9);
    // Its own states are the next attempt's.
    expect(dataOf(airbyteMessages(await source("full_refresh", statesOf(whole))))).toEqual([]);
    expect(dataOf(airbyteMessages(await source("incremental", statesOf(whole))))).toEqual([]);
    for (const nothing of ["[]", '[{"type":"STREAM","stream":{"stream_descriptor":{"name":"purchase_orders"}}}]'])
      expect(dataOf(airbyteMessages(await source("full_refresh", nothing)))).toHaveLength(9);
  });

  test("only the tables of the catalog come, and the others' states stay out of it", async () => {
    const some = airbyteMessages(await source("incremental", undefined, ["purchase_order_line_items"]));
    expect(new Set(dataOf(some).map(({ stream }) => stream))).toEqual(new Set(["purchase_order_line_items"]));
    const rest = airbyteMessages(await source("incremental", statesOf(some)));
    expect(dataOf(rest)).toHaveLength(4);
    expect(() =>
      readConfigured(planned(), { catalog: configured("incremental", ["orders"]), state: "[]" }, () => NOW),
    ).toThrow("The catalog names orders, which there is not");
  });

  test("Singer: tables and columns that the catalog selects come, keys in any case, and bookmarks of the others are kept", async () => {
    const catalog = singerCatalogOf(catalogDocument(planned().filter(({ name }) => names.includes(name))));
    expect((await tap(undefined, JSON.stringify(catalog))).split("\n")).toHaveLength(2);
    const select = (more: readonly object[]) => ({
      streams: catalog.streams.map(stream =>
        stream.stream !== "purchase_orders"
          ? stream
          : {
              ...stream,
              metadata: stream.metadata.map(entry =>
                entry.breadcrumb.length === 0
                  ? { ...entry, metadata: { ...entry.metadata, selected: true } }
                  : (more.find(
                      other => JSON.stringify(Object(other).breadcrumb) === JSON.stringify(entry.breadcrumb),
                    ) ?? entry),
              ),
            },
      ),
    });
    const off = (name: string, inclusion = "available") => ({
      breadcrumb: ["properties", name],
      metadata: { inclusion, selected: false },
    });
    const chosen = JSON.stringify(select([off("vendor_name"), off("po_number")]));
    const bookmarks = { items: { acme: { changed_at: "2026-01-01T00:00:00.000000Z", key: ["I-1"] } } };
    const messages = singerMessages(await tap(JSON.stringify({ bookmarks }), chosen));
    expect(recordsOf(messages)).toHaveLength(3);
    expect(recordsOf(messages).every(({ stream }) => stream === "purchase_orders")).toBe(true);
    expect(recordsOf(messages)[0]!.record).toMatchObject({ po_number: "P-1" });
    expect(recordsOf(messages)[0]!.record).not.toHaveProperty("vendor_name");
    expect(JSON.parse(lastOf(messages)).bookmarks).toMatchObject({ ...bookmarks, purchase_orders: {} });
  });

  test("columns that a table has beyond the catalogue's come with their schema", async () => {
    await warehouse.query("alter table procurement.purchase_orders add column shelf varchar");
    try {
      await warehouse.query("update procurement.purchase_orders set shelf = 'B-4' where po_number = 'P-1'");
      expect(recordsOf(singerMessages(await tap()))[0]!.record).toMatchObject({ po_number: "P-1", shelf: "B-4" });
    } finally {
      await warehouse.query("alter table procurement.purchase_orders drop column shelf");
    }
  });

  test("whoever is stopped has said how far the rows go, and that the tables are not complete", async () => {
    const all = readConfigured(planned(), { catalog: configured("incremental"), state: "[]" }, () => NOW);
    const messages = airbyteMessages(await written(all, true));
    expect(dataOf(messages).length).toBeGreaterThan(0);
    const statuses = messages.flatMap(message =>
      message.type === "TRACE" && message.trace.type === "STREAM_STATUS" ? message.trace.stream_status.status : [],
    );
    expect(statuses.filter(status => status === "INCOMPLETE")).toHaveLength(3);
    expect(statuses).not.toContain("COMPLETE");
    const rest = airbyteMessages(await source("incremental", statesOf(messages)));
    expect(dataOf(rest).length + dataOf(messages).length).toBe(9);
  });

  test("a reading that goes on at any state has no gap and nothing twice", async () => {
    await warehouse.query(
      `insert into procurement.purchase_orders (_company, po_number, _changed_at, _first_seen_at)
       select case when i % 3 = 0 then 'beta' else 'acme' end, cast('M-' || i as varchar), timestamptz '${FIRST}' + i % 7 * interval '1 second',
         timestamptz '${FIRST}' from generate_series(1, 17000) t(i)`,
    );
    try {
      const whole = await source("incremental");
      const lines = whole.split("\n");
      const keysIn = (some: readonly string[]) =>
        dataOf(airbyteMessagesIn(some)).map(({ stream, data }) =>
          JSON.stringify([stream, data["_company"], data["po_number"], data["_index"]]),
        );
      const all = keysIn(lines);
      expect(new Set(all).size).toBe(17_009);
      const places = lines.flatMap((line, at) => (line.startsWith('{"type":"STATE"') ? [at] : []));
      expect(places.length).toBeGreaterThanOrEqual(6);
      for (const at of places) {
        const before = lines.slice(0, at + 1);
        const rest = await source("incremental", statesOf(airbyteMessagesIn(before)));
        expect([...keysIn(before), ...keysIn(rest.split("\n"))]).toEqual(all);
      }
      const singer = (await tap()).split("\n");
      const singerKeys = (some: readonly string[]) =>
        some
          .filter(line => line.startsWith('{"type":"RECORD"'))
          .map(line => {
            const { stream, record } = JSON.parse(line);
            return JSON.stringify([stream, record._company, record.po_number, record._index]);
          });
      for (const [at, line] of singer.entries()) {
        if (!line.startsWith('{"type":"STATE"')) continue;
        const rest = singerKeys((await tap(JSON.stringify(JSON.parse(line).value))).split("\n"));
        expect([...singerKeys(singer.slice(0, at)), ...rest]).toEqual(all);
      }
    } finally {
      await warehouse.query("delete from procurement.purchase_orders where po_number like 'M-%'");
    }
  });
});

/** Of lines that were cut off somewhere. */
const airbyteMessagesIn = (lines: readonly string[]): AirbyteMessage[] =>
  lines.filter(line => line !== "").map(line => JSON.parse(line) as AirbyteMessage);

test.each([
  [2, "config_error"],
  [3, "config_error"],
  [1, "transient_error"],
  [4, "transient_error"],
  [5, "transient_error"],
  [6, "transient_error"],
  [130, "transient_error"],
  [70, "system_error"],
] as const)("a failure with exit code %i is a %s", (code, failure_type) => {
  const text = errorMessage("It failed.", code, NOW, "    at here");
  const error = {
    message: "It failed.",
    failure_type,
    internal_message: `exit code ${code}`,
    stack_trace: "    at here",
  };
  expect(airbyteMessages(text)).toEqual([{ type: "TRACE", trace: { type: "ERROR", emitted_at: NOW, error } }]);
});

test("what no such program wrote is refused with what was expected", () => {
  const read = (catalog: string, state?: string) => () => readConfigured([], { catalog, state }, () => NOW);
  expect(read("oops")).toThrow(/^Expected a configured catalog of Airbyte's protocol, got "oops"\.$/);
  expect(read('{"streams":[]}', JSON.stringify(noChangesRead))).toThrow(/^Expected a list of Airbyte's states/);
  expect(read('{"streams":[]}', '[{"type":"GLOBAL","global":{}}]')).toThrow(/^Expected a list of Airbyte's states/);
  const tap = (catalog: string | undefined, state: string) => () =>
    readSelected({ planned: [], on: [] }, { catalog, state }, NOW);
  expect(tap("[]", "{}")).toThrow(/^Expected a catalog as `tributary singer --discover` prints it/);
  expect(tap(undefined, '{"bookmarks":{"t":{"acme":1}}}')).toThrow(/^Expected a state that `tributary singer` wrote/);
  const unreadable = expect.objectContaining({ code: "changes.unreadable_input", exitCode: 2 });
  for (const state of ["[]", "null", '{"bookmark":{}}', '{"version":1,"companies":{}}', '{"type":"STATE"}'])
    expect(tap(undefined, state), state).toThrow(unreadable);
});

test("a tap takes the state, the message with it, and {} for none", () => {
  const bookmarks = { items: { acme: { changed_at: "2026-01-01T00:00:00.000000Z", key: ["I-1"] } } };
  const companies = { acme: { items: bookmarks.items.acme } };
  for (const [given, expected] of [
    [{ bookmarks }, companies],
    [{ type: "STATE", value: { bookmarks } }, companies],
    [{}, {}],
  ]) {
    const { state } = readSelected({ planned: [], on: [] }, { catalog: undefined, state: JSON.stringify(given) }, NOW);
    expect(state.companies).toEqual(expected);
  }
});
