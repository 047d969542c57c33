import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type AirbyteMessage,
  airbyteMessages,
  requireFit,
  singerCatalogOf,
  singerMessages,
} from "../operations/changes/messages.ts";
import { roleDatabase, secretKey, simulated, type Workplace, workplace } from "./workplace.ts";

type Rec = Readonly<Record<string, unknown>>;

/** The same configuration as a platform writes it. */
const CONFIG = ["--config", "config.json"];

async function platform(more: Rec = {}, options: Parameters<typeof simulated>[0] = {}) {
  const simulator = await simulated(options);
  const place = workplace(simulator, more);
  const { destination = { path: join(place.folder, "w.duckdb") }, ...others } = more;
  const api = { base_url: simulator.url, key: secretKey };
  writeFileSync(join(place.folder, "config.json"), JSON.stringify({ api, company: "acme", destination, ...others }));
  return { simulator, ...place };
}

const write = ({ folder }: Pick<Workplace, "folder">, name: string, value: unknown): string => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return name;
};

async function call({ run }: Pick<Workplace, "run">, ...words: readonly string[]) {
  const ended = await run(["airbyte", ...words]);
  return { ...ended, messages: airbyteMessages(ended.stdout) };
}

const streamsOf = (messages: readonly AirbyteMessage[]) =>
  messages.flatMap(message => (message.type === "CATALOG" ? message.catalog.streams : []));
const rowsOf = (messages: readonly AirbyteMessage[]) =>
  messages.flatMap(message => (message.type === "RECORD" ? [message.record] : []));
const statesOf = (messages: readonly AirbyteMessage[]) =>
  messages.flatMap(message => (message.type === "STATE" ? [message.state] : []));
const errorsOf = (messages: readonly AirbyteMessage[]) =>
  messages.flatMap(message =>
    message.type === "TRACE" && message.trace.type === "ERROR" ? [message.trace.error] : [],
  );
const endsOf = (messages: readonly AirbyteMessage[]) =>
  Object.fromEntries(
    messages.flatMap(({ ...message }) =>
      message.type === "TRACE" && message.trace.type === "STREAM_STATUS"
        ? [[message.trace.stream_status.stream_descriptor.name, message.trace.stream_status.status]]
        : [],
    ),
  );

const configured = (streams: readonly { readonly name: string }[], sync_mode = "incremental") => ({
  streams: streams.map(stream => ({ stream, sync_mode, destination_sync_mode: "append_dedup" })),
});

test("spec needs neither a configuration nor a disk, and says what the configuration's own schema says", async () => {
  const { run } = workplace({ url: "http://127.0.0.1:9" });
  const { code, messages } = await call({ run: words => run([...words], { cwd: "/" }) }, "spec");
  expect(code).toBe(0);
  const [message] = messages;
  const form = message!.type === "SPEC" ? message!.spec.connectionSpecification : undefined;
  const { api, destination, streams } = (form as { properties: Record<string, { properties: Record<string, Rec> }> })
    .properties;
  expect(api!.properties["key"]).toMatchObject({ airbyte_secret: true, default: `\${PROCUREMENT_API_KEY}` });
  expect(api!.properties["base_url"]!["description"]).toMatch(/^The service's address such as https:/);
  expect(destination!.properties["type"]).toMatchObject({
    enum: ["duckdb", "postgres", "ducklake"],
    default: "duckdb",
  });
  expect(Object.keys(streams!.properties)).toEqual(["preset", "include", "exclude", "start"]);
});

test("check says in one message whether a run would go well, with exit code 0", async () => {
  const place = await platform();
  const well = await call(place, "check", ...CONFIG);
  expect(well.code).toBe(0);
  expect(well.messages).toEqual([{ type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } }]);
  const api = { base_url: place.simulator.url, key: "another" };
  const bad: [string, RegExp][] = [
    ["absent.json", /There is no configuration at absent\.json/],
    [write(place, "key.json", { api, destination: { path: "w.duckdb" } }), /api key: .*The API key was refused/s],
    [write(place, "unknown.json", { api, form: 1 }), /form: unknown key/],
    [
      write(place, "server.json", {
        api,
        destination: { type: "postgres", url: "postgres://x@127.0.0.1:9/x", connect_wait: "1s" },
      }),
      /destination: /,
    ],
  ];
  for (const [file, message] of bad) {
    const ended = await call(place, "check", "--config", file);
    expect(ended.code).toBe(0);
    expect(ended.messages.at(-1)).toMatchObject({
      connectionStatus: { status: "FAILED", message: expect.stringMatching(message) },
    });
  }
  expect(existsSync(join(place.folder, "w.duckdb"))).toBe(false);
});

test("discover tells the tables of the streams that are on before anything was loaded, as they will be stored", async () => {
  const place = await platform({
    streams: { include: ["anomalies"], exclude: ["items"] },
    privacy: {
      key: "0123456789abcdef",
      hash_columns: ["purchase_orders.vendor_name"],
      exclude_columns: ["purchase_orders.vendor_website"],
    },
  });
  const { code, messages } = await call(place, "discover", ...CONFIG);
  expect(code).toBe(0);
  const streams = streamsOf(messages);
  const names = streams.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["purchase_orders", "purchase_order_line_items", "anomalies"]));
  expect(names).not.toContain("items");
  const { properties } = streams[0]!.json_schema;
  expect(properties).not.toHaveProperty("vendor_website");
  expect(properties["vendor_name"]).toMatchObject({ type: ["null", "string"] });
  expect(properties["po_date"]).toMatchObject({ type: ["null", "string"], format: "date" });
  expect(properties["is_open"]).toMatchObject({ type: ["null", "boolean"] });
  expect(properties["open_findings_count"]).toMatchObject({ type: ["null", "integer"] });
  expect(properties["total_amount"]).toMatchObject({ type: ["null", "number"] });
  expect(properties["total_amount_exact"]).toMatchObject({ type: ["null", "string"] });
  expect(properties["_deleted_at"]).toMatchObject({ format: "date-time", airbyte_type: "timestamp_with_timezone" });
  const tap = await place.run(["singer", ...CONFIG, "--discover"]);
  expect(tap.code).toBe(0);
  expect(singerCatalogOf(tap.stdout).streams.map(({ stream }) => stream)).toEqual(names);
  expect(existsSync(join(place.folder, "w.duckdb"))).toBe(false);
});

test("a read syncs, hands over every row as discovered, then only what changed", async () => {
  const place = await platform({ destination: (await roleDatabase()).destination, views: false });
  const discovered = streamsOf((await call(place, "discover", ...CONFIG)).messages);
  const chosen = discovered.filter(({ name }) => /^(findings|items|purchase_order_line_items)$/.test(name));
  const words = ["read", ...CONFIG, "--catalog", write(place, "catalog.json", configured(chosen))];
  const { code, messages, stderr } = await call(place, ...words);
  expect({ code, stderr, errors: errorsOf(messages) }).toEqual({ code: 0, stderr: "", errors: [] });
  expect(messages.some(({ type }) => type === "LOG")).toBe(true);
  const records = rowsOf(messages);
  expect(new Set(records.map(({ stream }) => stream))).toEqual(new Set(chosen.map(({ name }) => name)));
  for (const { stream, data } of records) requireFit(chosen.find(({ name }) => name === stream)!.json_schema, data);
  expect(endsOf(messages)).toEqual(Object.fromEntries(chosen.map(({ name }) => [name, "COMPLETE"])));
  place.simulator.update("findings", 1);
  place.simulator.delete("findings", 1);
  const again = await call(place, ...words, "--state", write(place, "state.json", statesOf(messages)));
  expect(
    rowsOf(again.messages)
      .map(({ data }) => data["_deleted_at"] !== null)
      .sort(),
  ).toEqual([false, true]);
  const whole = write(place, "whole.json", configured(chosen, "full_refresh"));
  const full = await call(place, "read", ...CONFIG, "--no-sync", "--catalog", whole, "--state", "state.json");
  expect(rowsOf(full.messages)).toHaveLength(records.length);
});

test("a tap syncs and hands over schemas, rows and states, then only what changed", async () => {
  const place = await platform({ views: false, streams: { exclude: ["purchase_order*", "invoice*"] } });
  const first = await place.run(["singer", ...CONFIG, "--no-progress"]);
  expect(first.code, first.stderr).toBe(0);
  const messages = singerMessages(first.stdout);
  const records = messages.flatMap(message => (message.type === "RECORD" ? [message.stream] : []));
  expect(records.filter(stream => stream === "items")).toHaveLength(130);
  place.simulator.delete("findings", 1);
  const last = messages.at(-1)!;
  const state = write(place, "state.json", last.type === "STATE" ? last.value : {});
  const again = singerMessages((await place.run(["singer", ...CONFIG, "--no-progress", "--state", state])).stdout);
  const gone = again.flatMap(message =>
    message.type === "RECORD" && message.stream === "findings" ? [message.record["_sdc_deleted_at"]] : [],
  );
  expect(gone).toEqual([expect.stringMatching(/^\d{4}-.+Z$/)]);
});

test("what failed is told as whose turn it is, with the exit code, and what the warehouse holds comes all the same", async () => {
  const place = await platform();
  const items = write(place, "items.json", configured([{ name: "items" }]));
  const read = ["read", ...CONFIG, "--catalog", items];
  const nothing = await call(place, ...read, "--no-sync");
  expect(nothing.code).toBe(2);
  expect(errorsOf(nothing.messages)).toMatchObject([
    { failure_type: "config_error", message: expect.stringContaining("nothing has been loaded yet") },
  ]);
  const api = { base_url: place.simulator.url, key: "another" };
  const refused = await call(place, "read", "--config", write(place, "key.json", { api }), "--catalog", items);
  expect(refused.code).toBe(3);
  expect(errorsOf(refused.messages)).toMatchObject([
    { failure_type: "config_error", message: expect.stringContaining("The API key was refused") },
  ]);
  expect((await call(place, ...read)).code).toBe(0);
  const stopped = await call(place, ...read, "--max-requests", "0");
  expect([stopped.code, rowsOf(stopped.messages).length]).toEqual([5, 130]);
  expect(errorsOf(stopped.messages)).toMatchObject([{ failure_type: "transient_error" }]);
  expect(endsOf(stopped.messages)).toEqual({ items: "INCOMPLETE" });
  const none = await call(place, "read", ...CONFIG, "--catalog", write(place, "none.json", configured([])));
  expect([none.code, none.messages]).toEqual([0, []]);
  for (const words of [
    ["read", ...CONFIG],
    ["read", ...CONFIG, "--catalog", "absent.json"],
    ["read", ...CONFIG, "--catalog", "config.json"],
    ["read", ...CONFIG, "--catalog", items, "--state", "config.json"],
    ["read", ...CONFIG, "--catalog", write(place, "orders.json", configured([{ name: "orders" }]))],
    ["read", "--config", "absent.json", "--catalog", items],
    ["discover", "--config", "absent.json"],
  ]) {
    const ended = await call(place, ...words);
    expect({ words, code: ended.code, stderr: ended.stderr }).toEqual({ words, code: 2, stderr: "" });
    expect(errorsOf(ended.messages)).toMatchObject([{ failure_type: "config_error" }]);
  }
});

test("a stream that cannot be read leaves its tables incomplete, the others complete", async () => {
  const place = await platform();
  place.simulator.faults.only = "/findings";
  place.simulator.faults.refuse = { status: 403, next: 100 };
  const both = write(place, "both.json", configured([{ name: "items" }, { name: "findings" }]));
  const { code, messages } = await call(place, "read", ...CONFIG, "--catalog", both);
  expect(code).toBe(1);
  expect(rowsOf(messages).every(({ stream }) => stream === "items")).toBe(true);
  expect(endsOf(messages)).toEqual({ items: "COMPLETE", findings: "INCOMPLETE" });
  expect(errorsOf(messages)).toMatchObject([
    { failure_type: "transient_error", message: expect.stringContaining("403") },
  ]);
});

test("a tap's failures go to stderr, with the exit code", async () => {
  const place = await platform();
  const nothing = await place.run(["singer", ...CONFIG, "--no-sync"]);
  expect([nothing.code, nothing.stdout]).toEqual([2, ""]);
  expect(nothing.stderr).toContain("nothing has been loaded yet");
  for (const [option, expected] of [
    ["--state", "a state that `tributary singer` wrote"],
    ["--catalog", "a catalog as `tributary singer --discover` prints it"],
  ] as const) {
    const wrong = await place.run(["singer", ...CONFIG, option, "config.json"]);
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toBe(`Expected ${expected}, got "{api, company, destination}".\n`);
  }
  expect(readFileSync(join(place.folder, "config.json"), "utf8")).toContain(secretKey);
});

test.skipIf(process.platform === "win32")(
  "Ctrl-C ends a read after the rows on their way, with a last state; a reader that leaves ends it without a complaint",
  async () => {
    const place = await platform({}, { sizes: { items: 30_000, orders: 1, invoices: 1, findings: 1, ingested: 1 } });
    expect((await place.run(["sync", "items", ...CONFIG])).code).toBe(0);
    const read = [
      "airbyte",
      "read",
      ...CONFIG,
      "--no-sync",
      "--catalog",
      write(place, "items.json", configured([{ name: "items" }])),
    ];
    const child = place.start(...read);
    let text = "";
    child.stdout.once("data", () => child.kill("SIGINT"));
    child.stdout.on("data", piece => (text += piece));
    const [code] = await once(child, "close");
    expect(code).toBe(130);
    const messages = airbyteMessages(text);
    const rows = rowsOf(messages).length;
    expect(rows).toBeLessThan(30_000);
    expect(endsOf(messages)).toEqual({ items: "INCOMPLETE" });
    expect(errorsOf(messages)).toMatchObject([
      { failure_type: "transient_error", message: expect.stringContaining("SIGINT") },
    ]);
    const state = write(place, "state.json", statesOf(messages).slice(-1));
    const rest = await call(place, ...read.slice(1), "--state", state);
    expect(rows + rowsOf(rest.messages).length).toBe(30_000);
    const left = place.start(...read);
    left.stdout.destroy();
    const said: string[] = [];
    left.stderr.on("data", piece => said.push(String(piece)));
    expect([await once(left, "close"), said.join("")]).toEqual([[0, null], ""]);
  },
);
