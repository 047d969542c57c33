/** One request as it came; `path` is without /api/v1 and query, `template` the endpoint's ("" for none). */
export interface RequestEntry {
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly query: Record<string, string>;
  readonly status: number;
  /** When it came, on this process's monotonic clock, in ms. */
  readonly at: number;
  readonly headers: Record<string, string>;
}

/** What was asked of the simulator since it started or was cleared; entries are capped at the last 100,000. */
export interface RequestLog {
  readonly total: number;
  readonly maxInFlight: number;
  /** In the order in which they were answered. Status 0: no answer was begun (hang, or the client left). */
  readonly entries: readonly RequestEntry[];
  /** Requests of an endpoint, e.g. "/po/{po_number}". */
  count(template: string): number;
  /** Requests by template. */
  counts(): Record<string, number>;
  /** By template, from each request's arrival until its answer was begun, together, in ms. */
  spentMs(): Record<string, number>;
  clear(): void;
}

const KEPT = 100_000;

/** The log with its writing end. */
export class Requests implements RequestLog {
  #entries: RequestEntry[] = [];
  readonly #counts = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  #total = 0;
  #inFlight = 0;
  #maxInFlight = 0;

  get total(): number {
    return this.#total;
  }

  get maxInFlight(): number {
    return this.#maxInFlight;
  }

  get entries(): readonly RequestEntry[] {
    return this.#entries.slice(-KEPT);
  }

  count(template: string): number {
    return this.#counts.get(template) ?? 0;
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  spentMs(): Record<string, number> {
    return Object.fromEntries(this.#spent);
  }

  clear(): void {
    this.#entries = [];
    this.#counts.clear();
    this.#spent.clear();
    this.#total = 0;
    this.#maxInFlight = this.#inFlight;
  }

  /** Call when an answer is about to be sent. */
  answering(template: string, ms: number): void {
    this.#spent.set(template, (this.#spent.get(template) ?? 0) + ms);
  }

  /** Call when a request arrives; returns the call for its end, which may be made once. */
  begin(template: string): (entry: Omit<RequestEntry, "template" | "at">) => void {
    this.#total += 1;
    this.#counts.set(template, (this.#counts.get(template) ?? 0) + 1);
    this.#inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
    const at = performance.now();
    let ended = false;
    return entry => {
      if (ended) return;
      ended = true;
      this.#inFlight -= 1;
      this.#entries.push({ ...entry, template, at });
      // Dropping the oldest in one cut of many keeps the push cheap.
      if (this.#entries.length > KEPT * 1.1) this.#entries = this.#entries.slice(-KEPT);
    };
  }
}
