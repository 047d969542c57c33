import { asksNothing } from "../catalog/lookup.ts";
import { type Program, programForm } from "../options/program_form.ts";
import { configSchema, type DESTINATION_KEYS, type EffectiveConfig, streamSettings } from "./schema.ts";

type Given = Program<EffectiveConfig>;
type GivenSettings = Given["streams"]["settings"][string];

/** What a stream's settings say where the file says nothing. */
const UNSAID = { volatile: [], key: [], statuses: [], ...asksNothing } as const;

/** The whole configuration, validated and with every default filled in. */
export interface Config
  extends Omit<
    Given,
    "api" | "company" | "companies" | "destination" | "memory" | "notify" | "privacy" | "reports" | "server" | "streams"
  > {
  readonly api: Omit<Given["api"], "baseUrl" | "key"> & {
    /** What answers, and the rows made of them, may take of memory at once. */
    readonly memoryBytes: number;
  };
  /** At least one; names are unique. */
  readonly companies: readonly Company[];
  readonly destination: DestinationConfig;
  readonly streams: Omit<Given["streams"], "settings"> & {
    /** By stream name, not yet compared with the catalogue; what is undefined follows the stream's own value or `defaults`. */
    readonly settings: Readonly<Record<string, StreamSettings>>;
  };
  readonly privacy: Pick<Given["privacy"], "pii" | "key"> & {
    readonly exclude: readonly string[];
    readonly hash: readonly string[];
    readonly mask: readonly string[];
  };
  readonly server: Omit<Given["server"], "listen"> & Given["server"]["listen"];
  readonly notify: Omit<Given["notify"], "targets"> & { readonly targets: readonly NotifyTarget[] };
  readonly reports: NonNullable<Given["reports"]>;
}

export type StreamDefaults = Given["streams"]["defaults"];

export type StreamSettings = {
  readonly [Key in keyof GivenSettings]: Key extends keyof typeof UNSAID
    ? NonNullable<GivenSettings[Key]>
    : GivenSettings[Key];
};

export type Schedule = Config["schedules"][number];
export type ServerConfig = Config["server"];
export type ArchiveConfig = NonNullable<Config["archive"]>;
export type HooksConfig = NonNullable<Config["hooks"]>;

type GivenTarget = NonNullable<Given["notify"]["targets"]>[number];

export type Occasion = GivenTarget["on"][number];

/** An address that gets a POST, or a program that gets the notification as JSON on its standard input. */
export interface NotifyTarget extends Pick<GivenTarget, "on"> {
  readonly to:
    | { readonly url: string; readonly format: GivenTarget["format"] }
    | { readonly command: readonly string[] };
}

/** One value of `_company`: its origin (no trailing slash, no /api/v1) and its key. */
export interface Company {
  readonly name: string;
  readonly baseUrl: string;
  /** The key as last read. */
  key(): string;
  /** Reads the key's variables and files again: at the start of a run and once after a 401. @throws ConfigError */
  refreshKey(): Promise<string>;
}

export type DestinationConfig = DuckdbConfig | PostgresConfig | DucklakeConfig;

type Type = keyof typeof DESTINATION_KEYS;
type KeysOf<T extends Type> = (typeof DESTINATION_KEYS)[T][number];

/** What a destination of this type has of the configuration, but for keys that are put otherwise. */
type Of<T extends Type, Put extends string = never> = Omit<
  Program<Omit<EffectiveConfig["destination"], Exclude<KeysOf<Type>, KeysOf<T>> | Put>>,
  "type"
>;

export type DuckdbConfig = Of<"duckdb"> & {
  readonly type: "duckdb";
  /** What DuckDB takes of memory for usual rows, in MB of 1,000,000 bytes. */
  readonly memoryMb: number;
  /** A file has no roles, and there is no server to wait for. */
  readonly grantSelectTo: readonly never[];
  readonly connectWaitMs: 0;
};

export type PostgresConfig = Of<"postgres", "url" | "grant_select_to"> & {
  readonly type: "postgres";
  readonly url: string;
  readonly grantSelectTo: readonly string[];
};

export type DucklakeConfig = Of<"ducklake", "catalog" | "data_path" | "grant_select_to"> & {
  readonly type: "ducklake";
  readonly catalog: string;
  readonly dataPath: string;
  readonly grantSelectTo: readonly string[];
  /** What DuckDB takes of memory for usual rows, in MB of 1,000,000 bytes. */
  readonly memoryMb: number;
};

/**
 * Of `memory` so much is DuckDB's: 80 MB, with which a million usual rows are loaded, of 256. Answers and rows get half of it:
 * the rest is for what was released and the garbage collector has not yet freed.
 */
const DATABASE_SHARE = 5 / 16;
const ANSWERS_SHARE = 1 / 2;

/** The file's shape, its defaults filled in → the program's. */
export function configOf(effective: EffectiveConfig, companies: readonly Company[], directory: string): Config {
  const given = programForm(configSchema, effective, directory) as Given;
  const { company: _company, companies: _companies, memory, ...rest } = given;
  const { baseUrl: _baseUrl, key: _key, ...api } = given.api;
  const { listen, ...server } = given.server;
  const { pii, key, excludeColumns, hashColumns, maskColumns } = given.privacy;
  const { archive, retentionMs, streams } = given;
  const settings = Object.entries(streams.settings).map(([name, own]) => [name, settingsOf(own, streams.defaults)]);
  return {
    ...rest,
    api: { ...api, memoryBytes: Math.floor(memory * ANSWERS_SHARE) },
    companies,
    destination: destinationOf(given.destination, Math.floor((memory * DATABASE_SHARE) / 1e6)),
    streams: { ...streams, settings: Object.fromEntries(settings) },
    privacy: { pii, key, exclude: excludeColumns, hash: hashColumns, mask: maskColumns },
    server: { ...server, ...listen },
    reports: given.reports ?? [],
    notify: { ...given.notify, targets: (given.notify.targets ?? []).map(targetOf) },
    // A replay asks the run log which of the archive's answers were loaded.
    retentionMs: Math.max(retentionMs, archive?.keepMs ?? 0),
  };
}

/** What holds where there is no configuration: the defaults, of no company and no service. */
export const unconfigured = (): Config =>
  configOf(configSchema.parse({ api: { base_url: "https://procurement.example.com" } }), [], "");

function destinationOf(given: Given["destination"], memoryMb: number): DestinationConfig {
  const { path, readers, keepVersions, url = "", grantSelectTo = [], connectWaitMs, lockWaitMs, ...rest } = given;
  const { catalog = "", catalogSchema, dataPath = "", storage, keepSnapshotsMs, extensions, type, ...shared } = rest;
  const waits = { connectWaitMs, lockWaitMs };
  if (type === "duckdb")
    return { type, path, readers, keepVersions, memoryMb, grantSelectTo: [], connectWaitMs: 0, ...shared };
  if (type === "postgres") return { type, url, grantSelectTo, ...waits, ...shared };
  const lake = { catalog, catalogSchema, dataPath, storage, keepSnapshotsMs, extensions };
  return { type, ...lake, memoryMb, grantSelectTo, ...waits, ...shared };
}

function settingsOf(given: GivenSettings, { unknownFields }: StreamDefaults): StreamSettings {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...given, ...UNSAID, unknownFields, ...Object.fromEntries(said) };
}

/** Those of a stream that the file says nothing of. */
export const noSettings: StreamSettings = {
  ...(programForm(streamSettings, {}, "") as GivenSettings),
  ...UNSAID,
};

function targetOf({ url, command = [], format, on }: GivenTarget): NotifyTarget {
  return { to: url === undefined ? { command } : { url, format }, on };
}
