import type { Stream } from "../../catalog/stream.ts";
import type { Company } from "../../config/config.ts";
import type { Answer, Query } from "../../source/api.ts";
import type { RunOrder } from "../../sync/run/run_order.ts";
import type { Service, ServiceTools } from "../../sync/run/service.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";

export interface EstimateContext {
  readonly order: Order;
  readonly tools: ServiceTools;
  readonly catalogue: readonly Stream[];
  readonly reading: WarehouseReading | undefined;
  readonly company: Company;
  readonly api: Service["api"];
  readonly latencies: number[];
  /** Rows of the lists that were asked, as far as one page tells. */
  readonly listed: Map<string, Known>;
}

export type Ask = (path: string, query: Query) => Promise<Answer>;

export interface Guess {
  readonly requests: number;
  readonly atLeast: boolean;
  readonly why: string;
  /** How many of them come one after another, where not all pages do. */
  readonly inARow?: number;
}

export type Order = Pick<RunOrder, "config" | "catalogue" | "identity" | "selection" | "refresh"> & {
  /** Details of parents from this day on (YYYY-MM-DD) are left out. */
  readonly to?: string | undefined;
  /** Another way to find out what a listing costs, where there is one. */
  readonly guess?: (company: string, stream: Stream, ask: Ask) => Promise<Guess | undefined>;
};

export interface Known {
  readonly count: number;
  readonly atLeast: boolean;
  readonly rows: readonly unknown[];
}
