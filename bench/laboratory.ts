import type { Built } from "./build.ts";
import type { Figure, Warehouse } from "./figure.ts";

/** What every part of the benchmark measures with. */
export interface Laboratory {
  readonly built: Built;
  /** Everything that is made lies in here. */
  readonly folder: string;
  readonly warehouses: readonly Warehouse[];
  /** A PostgreSQL server where databases may be made; empty where none is measured. */
  readonly postgresUrl: string;
  /** A folder with DuckDB's extensions for lakes; empty where none is measured. */
  readonly extensions: string;
  /** How often short jobs are run; medians are told. */
  readonly runs: number;
  /** Whether the harness works is all that is asked: what only makes figures truer can be left out. */
  readonly quick: boolean;
  /** Node's own flags for measured processes. */
  readonly nodeFlags: readonly string[];
  /** Folder for CPU profiles, if any. */
  readonly profiles: string | undefined;
  /** A number of rows at the scale that was asked for, at least `least`. */
  size(rows: number, least?: number): number;
  say(sentence: string): void;
}

/** One of the numbered parts: what it measures is in bench/README.md. */
export interface Part {
  readonly name: string;
  measure(laboratory: Laboratory): Promise<Figure[]>;
}
