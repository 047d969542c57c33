import { z } from "zod";
import type { Message } from "../message.ts";
import * as f from "../options/fields.ts";
import { names, object } from "../options/fields.ts";
import { bareSchema } from "../options/program_form.ts";
import { notifyTarget, report, schedule } from "./daemon_schema.ts";
import { configMessages } from "./messages.ts";

/** Where the key is looked for when the file says nothing. */
export const defaultKey = `\${PROCUREMENT_API_KEY}`;

const unknownFields = () => f.choice("keep", "column", "fail");

const someOf = (what: string) =>
  z.array(f.askedValue(), { error: `expected ${what}` }).min(1, { error: `expected ${what}` });
const columns = () =>
  z.preprocess(
    raw => (typeof raw === "string" ? [raw] : raw),
    z.array(f.columnName(), { error: "expected a column such as orders.customer_id, or a list of them" }).min(1),
  );

const columnPatterns = () =>
  z.array(f.columnPattern(), { error: "expected a list of columns such as [orders.contact_email, '*.phone']" });

const tests = (otherwise: Record<string, z.output<ReturnType<typeof f.columnTest>>> = {}) =>
  z
    .record(z.string(), f.columnTest(), { error: "expected tests by column such as { payment_status: [paid] }" })
    .default(otherwise);

const fresh = () => object({ within: f.duration("1s", "3650d").prefault("2d"), share: f.share().default(0.9) });

export const streamSettings = object({
  full_scan_pages: f.whole(0, 1_000_000).optional(),
  full_scan_every: f.duration("1s", "3650d").optional(),
  lookback: f.duration("0s", "3650d").optional(),
  details: object({
    audit: f.shareOrRest().optional(),
    fresh: fresh().optional(),
    /** Details of open parents, or of all where none is called open, are due again after so long. */
    refresh: f.duration("1s", "3650d").optional(),
    /** Changes in these streams make details due that they name, in those `without` none. */
    with: names("a stream's name").optional(),
    without: names("a stream's name").optional(),
  }).optional(),
  max_details: f.whole(0, 100_000_000).optional(),
  /** Columns whose change alone is no change, beside the built-in ones. */
  volatile: names("a column's name").optional(),
  /** The whole key, where the stream's own does not tell its rows apart. */
  key: names("a column's name").optional(),
  /** Further values of the list's `status` parameter, read as parts of every full scan. */
  statuses: names("a status").optional(),
  /** Sets of values, each asked for by itself. */
  values: z
    .array(z.record(z.string(), f.askedValue(), { error: "expected values by parameter such as { id: S-1 }" }), {
      error: "expected a list such as [{ type: site, id: S-1 }]",
    })
    .min(1, { error: "expected at least one set of values such as { id: S-1 }" })
    .optional(),
  /** Values of single parameters: all combinations. */
  parameters: z
    .record(z.string(), someOf("a list such as [30, 90]"), {
      error: "expected lists by parameter such as { at: [2026-01-01] }",
    })
    .optional(),
  /** Columns (`table.column`) whose distinct values a parameter takes. */
  from: z
    .record(z.string(), columns(), {
      error: "expected columns by parameter such as { id: orders.customer_id }",
    })
    .optional(),
  /** Other names under which parameters are sent. */
  rename: z
    .record(z.string(), f.name("the parameter's other name"), {
      error: "expected names by parameter such as { at: as_of }",
    })
    .optional(),
  unknown_fields: unknownFields().optional(),
  max_reject_share: f.share().optional(),
  history: f.flag().optional(),
});

/** The keys of `destination` that not all types have. */
export const DESTINATION_KEYS = {
  duckdb: ["path", "readers", "keep_versions"],
  postgres: ["url", "grant_select_to", "connect_wait", "lock_wait"],
  ducklake: [
    ...(["catalog", "catalog_schema", "data_path", "storage", "keep_snapshots", "extensions"] as const),
    ...(["grant_select_to", "connect_wait", "lock_wait"] as const),
  ],
} as const;

/** The file's shape after `${…}` was replaced: every key, its meaning, its rule and its default. Durations and sizes stay text. */
export const configSchema = object({
  api: object({
    base_url: f.baseUrl().optional(),
    key: f.apiKey().default(defaultKey),
    max_concurrency: f.whole(1, 256).default(8),
    requests_per_second: f.rate().optional(),
    requests_per_day: f.whole(1, 1_000_000_000).optional(),
    timeout: f.duration("1ms").prefault("30s"),
    max_wait: f.duration("0s").prefault("10m"),
    clock: f.choice("check", "ignore").default("check"),
  }).prefault({}),
  company: f.name("a company's name").default("acme").describe("Whose data it is: the value of the column _company."),
  companies: z
    .array(
      object({
        name: f.name("a company's name"),
        key: f.apiKey().optional(),
        base_url: f.baseUrl().optional(),
      }),
      { error: "expected a list of companies" },
    )
    .min(1, { error: "expected at least one company" })
    .optional(),
  destination: object({
    type: f.choice("duckdb", "postgres", "ducklake").default("duckdb").describe("What the warehouse is."),
    path: f
      .filePath("a file's path")
      .prefault("./warehouse.duckdb")
      .describe("DuckDB's file, or a link to its newest version: absolute, or below the configuration's folder."),
    readers: f.choice("snapshot", "direct").default("snapshot"),
    keep_versions: f.whole(1, 1000).default(2),
    publish_every: f.duration().prefault("15m"),
    schema: f.schemaName().default("procurement"),
    state_schema: f.schemaName().default("_tributary"),
    url: f.postgresUrl().optional(),
    /** How long a run waits for its first connection. */
    connect_wait: f.duration("1s", "1d").prefault("15s"),
    /** How long a statement waits for a lock of another session's. */
    lock_wait: f.duration("1s", "1d").prefault("2m"),
    grant_select_to: names("a role's name").optional(),
    /** Of a lake: its catalog, a PostgreSQL, and the schema of the catalog's own tables. */
    catalog: f.postgresUrl().optional(),
    catalog_schema: f.schemaName().default("ducklake"),
    /** The folder, or the place in object storage, of its files. */
    data_path: f.dataPlace().optional(),
    /** How object storage is reached; without a key as the cloud's own programs are. */
    storage: object({
      key_id: f.name("the id of an access key").optional(),
      secret: f.secretText("the secret of an access key").optional(),
      session_token: f.secretText("the token of a session").optional(),
      region: f.name("a region's name").optional(),
      endpoint: f.storageEndpoint().optional(),
      url_style: f.choice("vhost", "path").default("vhost"),
    }).prefault({}),
    /** How long what a lake's tables held before can be asked for. */
    keep_snapshots: f.duration("1s", "3650d").prefault("30d"),
    /** A folder with DuckDB's extensions; without one DuckDB installs them. */
    extensions: f.filePath("a folder's path").optional(),
  }).prefault({}),
  streams: object({
    preset: f.choice("core", "standard", "all").default("core").describe("Which streams are on."),
    /** Not yet compared with the catalogue. */
    include: names("a stream's name or pattern")
      .default([])
      .describe("Names or patterns of streams beside the preset."),
    exclude: names("a stream's name or pattern").default([]).describe("Names or patterns of streams to leave out."),
    start: f.calendarDate().optional().describe("Nothing older is asked for, such as 2023-01-31."),
    defaults: object({
      /** What happens to fields that the documents don't name: kept in `_extra`, given a column of their own, or refused. */
      unknown_fields: unknownFields().default("keep"),
      details: object({
        audit: f.shareOrRest().default(0.02),
        /** What is promised of active details: so many of them show what the service showed at most so long ago. */
        fresh: fresh().prefault({}),
      }).prefault({}),
      max_reject_share: f.share().default(0.05),
      /** Whether every version of a row is kept. */
      history: f.flag().default(false),
    }).prefault({}),
    settings: z.record(z.string(), streamSettings, f.map).default({}),
  }).prefault({}),
  /** Deletions above both limits are held back until they are confirmed. */
  deletes: object({
    max_share: f.share().default(0.2),
    min_rows: f.whole(0, 1_000_000_000).default(50),
    /** Addresses of missing rows that a run asks of a list. */
    confirm_max: f.whole(1, 100_000).default(500),
  }).prefault({}),
  problems: object({
    max_share: f.share().default(0.05),
    on_exceed: f.choice("warn", "fail").default("warn"),
  }).prefault({}),
  /** Date formats beside ISO, and the IANA zone of moments that carry none. */
  formats: object({
    dates: z
      .array(f.choice("iso", "MM/DD/YYYY", "DD.MM.YYYY"), { error: "expected a list such as [iso]" })
      .min(1, { error: "expected at least one format" })
      .default(["iso"]),
    timezone: f.timezone().default("UTC"),
  }).prefault({}),
  /** Raw answers, as they came, in compressed files: what `replay` loads from. Undefined: they are kept nowhere. */
  archive: object({
    path: f.filePath("a folder's path"),
    /** Files of runs that began longer ago are removed. */
    keep: f.duration("1s", "3650d").prefault("30d"),
    /** What a page means that could not be kept: its stream fails, or a warning. */
    on_error: f.choice("fail", "warn").default("fail"),
  }).optional(),
  /** How long the program's notes of its work are kept: runs, rejects that are over, verifications. */
  retention: f.duration("1s", "3650d").prefault("400d"),
  /** Which values are not stored as they come: columns as `table.column`, `*` for any part. */
  privacy: object({
    /** Of all columns that hold personal data and are not named otherwise. */
    pii: f.choice("keep", "exclude", "hash").default("keep"),
    /** What hashes are made with. */
    key: f.hashKey().optional(),
    exclude_columns: columnPatterns().default([]),
    hash_columns: columnPatterns().default([]),
    mask_columns: columnPatterns().default([]),
  }).prefault({}),
  schedules: z
    .array(schedule, { error: "expected a list of schedules" })
    .prefault([{ name: "nightly", cron: "0 2 * * *", max_time: "4h" }]),
  /** Where the status page listens, and who may see it: a bearer token, a login, or anybody who reaches it. */
  server: object({
    listen: f.listenAddress().prefault("127.0.0.1:8787"),
    token: f.pageToken().optional(),
    login: object({ user: f.name("a user's name"), password: f.pagePassword() }).optional(),
  }).prefault({}),
  /** Several processes share the work, by jobs in the warehouse's PostgreSQL. Undefined: each command does its own. */
  workers: object({
    /** A run of `--workers` that no worker takes within this time fails. */
    start_within: f.duration("1s", "1d").prefault("1m"),
  }).optional(),
  /** Data older than this is late. */
  freshness: object({ late_after: f.duration("1s", "3650d").prefault("26h") }).prefault({}),
  notify: object({
    /** The same occasion is told at most this often. */
    at_most_every: f.duration("0s", "30d").prefault("1h"),
    targets: z.array(notifyTarget, { error: "expected a list of targets" }).optional(),
  }).prefault({}),
  /** `POST /hooks/<secret>` asks for a run soon. Undefined: nobody can start one from outside. */
  hooks: object({
    secret: f.hookSecret(),
    /** Empty: all feeds that are on. */
    streams: names("a stream's name or pattern").default([]),
  }).optional(),
  /** Reports that `schedule` makes after a run that brought everything: each as a file, by mail, or posted to an address. */
  reports: z.array(report, { error: "expected a list of reports" }).optional(),
  /** Which rows the models take for what, by tests of their columns: the service doesn't say what its values mean. */
  meanings: object({
    credit: tests({ total_amount: "negative", doc_type: ["*credit*"] }),
    paid: tests(),
    held: tests({ hold_reason: "filled" }),
    open: tests({ is_open: true }),
    late: tests({ on_time: false }),
    processed: tests(),
    dismissed: tests({ dismiss_reason: "filled", dismissed_at: "filled" }),
    resolved: tests({ resolved_by: "filled", resolution_notes: "filled", resolved_at: "filled" }),
  }).prefault({}),
  /** A currency that models show amounts in beside their own, by the rates of a file or of a table of the warehouse. */
  currency: object({
    report: f.currencyCode(),
    rates: f.pathOrTable(),
    /** A rate says how much of a currency one unit of this buys; by default `report`, in the European Central Bank's file EUR. */
    base: f.currencyCode().optional(),
    /** A rate holds until the next one, but no longer than this. */
    max_age: f.duration("1s", "3650d").prefault("7d"),
  }).optional(),
  /** Whether the tables stand once more as views for analysts, with models beside them, and whether those are kept as tables. */
  views: f.flagOr("materialized").default(true),
  /** What answers, the rows made of them, and DuckDB take together. */
  memory: f.size("64MB").prefault("256MB"),
  /** A backfill of more requests is confirmed by a person, or by --yes. */
  backfill: object({ confirm_above: f.whole(0, 1_000_000_000).default(5000) }).prefault({}),
}).superRefine((config, context) => {
  const { api, companies, destination, notify, privacy } = config;
  const refuse = (path: (string | number)[], rule: Message) =>
    context.addIssue({ code: "custom", path, message: rule.message, params: { rule } });
  // No default: it would be somebody else's address, and get the key.
  if (api.base_url === undefined && !companies?.every(({ base_url }) => base_url !== undefined))
    refuse(["api", "base_url"], configMessages.no_base_url());
  if (destination.type === "postgres" && destination.url === undefined)
    refuse(["destination", "url"], configMessages.postgres_without_url());
  const isLake = destination.type === "ducklake";
  if (isLake && destination.catalog === undefined)
    refuse(["destination", "catalog"], configMessages.lake_without_catalog());
  if (isLake && destination.data_path === undefined)
    refuse(["destination", "data_path"], configMessages.lake_without_data_path());
  if (isLake && destination.storage.key_id !== undefined && destination.storage.secret === undefined)
    refuse(["destination", "storage", "secret"], configMessages.access_key_without_secret());
  if (destination.schema.toLowerCase() === destination.state_schema.toLowerCase())
    refuse(["destination", "state_schema"], configMessages.state_schema_taken());
  if (privacy.key === undefined && (privacy.pii === "hash" || privacy.hash_columns.length > 0))
    refuse(["privacy", "key"], configMessages.hashing_without_key());
  for (const [index, target] of (notify.targets ?? []).entries()) {
    if ((target.url === undefined) === (target.command === undefined))
      refuse(["notify", "targets", index], configMessages.url_or_command());
  }
  for (const [index, { out, mail, post, after, company }] of (config.reports ?? []).entries()) {
    if (out === undefined && mail === undefined && post === undefined)
      refuse(["reports", index], configMessages.report_without_target());
    if (mail?.when === "always" && mail.every !== undefined)
      refuse(["reports", index, "mail", "every"], configMessages.every_without_changed({ every: mail.every }));
    const known = config.schedules.map(({ name }) => name);
    const stray = after.find(name => !known.includes(name));
    if (stray !== undefined)
      refuse(["reports", index, "after"], configMessages.unknown_schedule({ name: stray, known }));
    if (company !== undefined && !(companies ?? [{ name: config.company }]).some(({ name }) => name === company))
      refuse(["reports", index, "company"], configMessages.unknown_company({ company }));
  }
  // PostgreSQL cuts names at 63 bytes.
  const analytics = `${destination.schema}_analytics`;
  if (config.views !== false && Buffer.byteLength(analytics) > 63)
    refuse(["destination", "schema"], configMessages.views_schema_too_long({ schema: analytics }));
  if (config.views !== false && destination.state_schema.toLowerCase() === analytics.toLowerCase())
    refuse(["destination", "state_schema"], configMessages.state_schema_of_views({ schema: analytics }));
  const repeated = (list: readonly { readonly name: string }[]): number =>
    list.findIndex((entry, index) => list.findIndex(other => other.name === entry.name) < index);
  const company = repeated(config.companies ?? []);
  if (company >= 0) refuse(["companies", company, "name"], configMessages.repeated_name());
  const plan = repeated(config.schedules);
  if (plan >= 0) refuse(["schedules", plan, "name"], configMessages.repeated_name());
});

/** The configuration in the file's shape, defaults filled in. */
export type EffectiveConfig = z.output<typeof configSchema>;

/** The schema of the value at a path; `undefined` where no such key exists. */
export function schemaAt(schema: z.core.$ZodType, path: readonly (string | number)[]): z.core.$ZodType | undefined {
  const [head, ...rest] = path;
  if (head === undefined) return schema;
  const bare = bareSchema(schema);
  if (bare instanceof z.ZodRecord) return schemaAt(bare.valueType, rest);
  if (bare instanceof z.ZodArray) return schemaAt(bare.element, rest);
  const shape = bare instanceof z.ZodObject ? bare.shape : {};
  const inner: z.core.$ZodType | undefined = Object.hasOwn(shape, head) ? shape[head] : undefined;
  return inner === undefined ? undefined : schemaAt(inner, rest);
}

/** Whether a value at a path is a name or an option rather than a possible secret. */
export function isOpen(path: readonly (string | number)[]): boolean {
  for (let schema = schemaAt(configSchema, path); schema !== undefined; schema = unwrapped(schema)) {
    if (z.globalRegistry.get(schema)?.["open"] === true) return true;
  }
  return false;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const wraps = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional;
  return wraps ? schema.unwrap() : undefined;
}
