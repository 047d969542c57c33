import type { WireAnswer } from "./exchange.ts";
import { httpDate } from "./retry.ts";

/** Two answers in a row whose `Date` is further from our clock than this, and alike, prove that one of the clocks is wrong. */
const APART_MS = 5 * 60_000;
const ALIKE_MS = 60_000;
/** A single `Date` that is further from our clock than this dates nothing. */
const DATING_MS = 60 * 60_000;

export interface AnswerTime {
  /** The answer's `Date`; where that dates nothing, when the request was sent by our clock. */
  readonly at: Date;
  /** What both clocks say, once two answers prove that one of them is wrong. */
  readonly contradiction: string | undefined;
}

/** Compares the `Date` of a service's answers with our clock. A cache's answer, which has an `Age`, says nothing. */
export class ServiceClock {
  readonly #isIgnored: boolean;
  #offMs: number | undefined;

  constructor(use: "check" | "ignore") {
    this.#isIgnored = use === "ignore";
  }

  /** By how many ms the service's clock was ahead of ours in its last answer; undefined: it does not say. */
  get offMs(): number | undefined {
    return this.#offMs;
  }

  get isApart(): boolean {
    return this.#offMs !== undefined && Math.abs(this.#offMs) > APART_MS;
  }

  /** `sent` and `received`: by our clock, ms since 1970. */
  read({ date, age }: WireAnswer["headers"], sent: number, received: number): AnswerTime {
    const said = this.#isIgnored || age !== undefined ? undefined : httpDate(String(date ?? ""));
    if (said === undefined) return { at: new Date(sent), contradiction: undefined };
    // A computer may sleep while it waits for an answer.
    const offMs = said.getTime() - Math.min(Math.max(said.getTime(), sent), received);
    const before = this.isApart ? this.#offMs : undefined;
    this.#offMs = offMs;
    const isWrong = this.isApart && before !== undefined && Math.abs(offMs - before) <= ALIKE_MS;
    return {
      at: Math.abs(offMs) > DATING_MS ? new Date(sent) : said,
      contradiction: isWrong
        ? `the time ${said.toISOString()} when this machine's clock was at ${new Date(received).toISOString()}, as in the answer before`
        : undefined,
    };
  }
}
