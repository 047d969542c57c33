/** The whole configuration, validated and with every default filled in. Durations are milliseconds, shares 0–1, paths absolute. */
export interface Config {
  readonly api: ApiConfig;
  /** At least one; names are unique. */
  readonly companies: readonly Company[];
  readonly destination: DestinationConfig;
  readonly streams: StreamsConfig;
  /** Deletions above both limits are held back until they are confirmed. */
  readonly deletes: {
    readonly maxShare: number;
    readonly minRows: number;
    /** Addresses of missing rows that a run asks of a list. */
    readonly confirmMax: number;
    /** Lists of at most so many pages are read a second time in the same run where rows are missing. */
    readonly secondLookPages: number;
  };
  readonly problems: { readonly maxShare: number; readonly onExceed: "warn" | "fail" };
  /** Date formats beside ISO, and the IANA zone of moments that carry none. */
  readonly formats: { readonly dates: readonly DateFormat[]; readonly timezone: string };
  readonly privacy: PrivacyConfig;
  readonly schedules: readonly Schedule[];
  readonly server: ServerConfig;
  /** Data older than this is late. */
  readonly freshness: { readonly lateAfterMs: number };
  readonly notify: NotifyConfig;
  /** Undefined: nobody can start a run from outside. */
  readonly hooks: HooksConfig | undefined;
  /** Undefined: answers are kept nowhere. */
  readonly archive: ArchiveConfig | undefined;
  readonly retention: Retention;
  /** Whether the tables stand once more as views for analysts, with models beside them. */
  readonly views: boolean;
  /** A backfill of more requests is confirmed by a person, or by --yes. */
  readonly backfill: { readonly confirmAbove: number };
}

/** How long what the program notes of its work is kept: of runs, of rejects that are over, of verifications. */
export interface Retention {
  readonly runsMs: number;
  readonly rejectsMs: number;
  readonly verificationsMs: number;
}

/** Where the status page listens, and who may see it: a bearer token, a login, or anybody who reaches it. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

/** Which values are not stored as they come: columns as `table.column`, `*` for any part. */
export interface PrivacyConfig {
  /** Of all columns that hold personal data and are not named otherwise. */
  readonly pii: "keep" | "exclude" | "hash";
  /** What hashes are made with. */
  readonly key: string | undefined;
  readonly exclude: readonly string[];
  readonly hash: readonly string[];
  readonly mask: readonly string[];
}

/** Raw answers, as they came, in compressed files: what `replay` loads from. */
export interface ArchiveConfig {
  /** Absolute; a folder. */
  readonly path: string;
  /** Files of runs that began longer ago are removed. */
  readonly keepMs: number;
  /** What a page means that could not be kept: its stream fails, or a warning. */
  readonly onError: "fail" | "warn";
}

/** What happens to fields that the documents don't name: kept in `_extra`, given a column of their own, or refused. */
export type UnknownFields = "keep" | "column" | "fail";

export type Occasion = "failure" | "recovery" | "late";

export interface NotifyConfig {
  /** The same occasion is told at most this often. */
  readonly atMostEveryMs: number;
  readonly targets: readonly NotifyTarget[];
}

/** An address that gets a POST, or a program that gets the notification as JSON on its standard input. */
export interface NotifyTarget {
  readonly to: { readonly url: string; readonly format: "json" | "slack" } | { readonly command: readonly string[] };
  readonly on: readonly Occasion[];
}

/** `POST /hooks/<secret>` asks for a run soon. */
export interface HooksConfig {
  readonly secret: string;
  /** Empty: all feeds that are on. */
  readonly streams: readonly string[];
  /** How long after the first hint the run starts; further hints until then change nothing. */
  readonly debounceMs: number;
  /** From one such run's start to the next one's. */
  readonly atMostEveryMs: number;
}

/** How fast and how patiently the service is asked, whichever company it is for. */
export interface ApiConfig {
  readonly maxConcurrency: number;
  readonly requestsPerSecond: number | undefined;
  readonly timeoutMs: number;
  readonly maxWaitMs: number;
  /** What answers, and the rows made of them, may take of memory at once. */
  readonly memoryBytes: number;
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

export type DestinationConfig = DuckdbConfig | PostgresConfig;

export interface DuckdbConfig {
  readonly type: "duckdb";
  /** Absolute; with `snapshot` a link to the newest published version. */
  readonly path: string;
  readonly readers: "snapshot" | "direct";
  readonly keepVersions: number;
  readonly publishEveryMs: number;
  /** What DuckDB takes of memory for usual rows, in MB of 1,000,000 bytes. */
  readonly memoryMb: number;
  readonly schema: string;
  readonly stateSchema: string;
}

export interface PostgresConfig {
  readonly type: "postgres";
  readonly url: string;
  readonly schema: string;
  readonly stateSchema: string;
  readonly grantSelectTo: readonly string[];
  /** How long a run waits for its first connection. */
  readonly connectWaitMs: number;
  /** How long a statement waits for a lock of another session's. */
  readonly lockWaitMs: number;
  readonly publishEveryMs: number;
}

export interface StreamsConfig {
  readonly preset: "core" | "standard" | "all";
  /** Names or patterns, not yet compared with the catalogue. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** YYYY-MM-DD: nothing older is asked for. */
  readonly start: string | undefined;
  readonly defaults: StreamDefaults;
  /** By stream name, not yet compared with the catalogue; what is undefined follows the stream's own value or `defaults`. */
  readonly settings: Readonly<Record<string, StreamSettings>>;
}

export interface StreamDefaults {
  readonly unknownFields: UnknownFields;
  readonly audit: number;
  readonly maxRejectShare: number;
  /** Whether every version of a row is kept. */
  readonly history: boolean;
}

export interface StreamSettings {
  readonly fullScanPages: number | undefined;
  readonly fullScanEveryMs: number | undefined;
  readonly lookbackMs: number | undefined;
  /** Details of parents whose column `while` is true are due again after `everyMs`. */
  readonly refresh: { readonly while: string; readonly everyMs: number } | undefined;
  readonly maxDetails: number | undefined;
  /** Columns whose change alone is no change, beside the built-in ones. */
  readonly volatile: readonly string[];
  /** Further values of the list's `status` parameter, read as parts of every full scan. */
  readonly statuses: readonly string[];
  /** Sets of values, each asked for by itself. */
  readonly values: readonly Readonly<Record<string, string>>[];
  /** Values of single parameters: all combinations. */
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  /** Columns (`table.column`) whose distinct values a parameter takes. */
  readonly from: Readonly<Record<string, readonly string[]>>;
  /** Other names under which parameters are sent. */
  readonly rename: Readonly<Record<string, string>>;
  /** Details of distinct values are due again after so long. */
  readonly refreshEveryMs: number | undefined;
  readonly unknownFields: UnknownFields | undefined;
  readonly audit: number | undefined;
  readonly maxRejectShare: number | undefined;
  readonly history: boolean | undefined;
}

export type DateFormat = "iso" | "MM/DD/YYYY" | "DD.MM.YYYY";

export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  /** Empty: all that are on. */
  readonly streams: readonly string[];
  readonly maxTimeMs: number | undefined;
  /** A run starts up to so much later, by chance. */
  readonly jitterMs: number;
  /** How long a run waits for another one that has the lock. */
  readonly waitMs: number;
  /** How often a failed run is tried again before the next regular one, and after what pause; each pause doubles. */
  readonly retries: number;
  readonly retryAfterMs: number;
}
