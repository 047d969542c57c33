/** A table of an export as it is told. `unchanged`: its files are those of the export before. */
export interface TableLine {
  readonly table: string;
  readonly stream: string | null;
  readonly status: "written" | "unchanged";
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

/** What `export` did, as `--json` prints it. `unchanged`: nothing at all was written. */
export interface ExportReport {
  readonly out: string;
  readonly manifest: string;
  readonly status: "written" | "unchanged";
  /** The folder that `out` leads to. */
  readonly version: string;
  /** The moment that all tables are of, ISO 8601. */
  readonly read_at: string;
  /** When what was read had been published; null where readers see every transaction. */
  readonly published_at: string | null;
  readonly tables: readonly TableLine[];
  /** Tables of the export before that this one has not. */
  readonly removed: readonly string[];
  /** Streams that are on or were named and have no table yet. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
}
