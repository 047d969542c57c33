/** How a column's values are shown. Money and prices stand in the currency of their row. */
export type Format = "text" | "month" | "date" | "currency" | "count" | "money" | "price" | "percent" | "share";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly format: Format;
  /** A share that no answer holds: of the sum of this column over the rows of the same currency. */
  readonly of?: string;
  /** Who the row is about: the page can be filtered by it. */
  readonly isParty?: true;
}

/**
 * A select over models, by the names that models are written with. It may use `:company`, `:today`, `:from` (first day of
 * the period), `:until` (the day after its last), `:before` (first day of the period before), `:month` (first day of its last
 * month) and `:month_before` (of the one before that).
 */
export interface Question {
  readonly sql: string;
}

/** A headline: rows with `value`, and where there are such, `currency_code`, `before` (in the period before), `of_all`. */
export interface Figure extends Question {
  readonly label: string;
  readonly note: string;
  /** A count's rows may have `amount`, in their currency; a share's only row has `of_all`, how many it is a share of; money's rows may have `count`. */
  readonly kind: "money" | "count" | "share";
  /** What money's `count` counts. */
  readonly things?: string;
  /** The meanings that decide which rows are in it: what they take in stands beside. */
  readonly readBy?: readonly string[];
}

/**
 * Something that may ask for a decision: a row a currency with `currency_code`, `amount` (what is at stake), `value` (how many things
 * that is), `of_all` (of how many), `latest` and `previous` (the parts of the amount that are dated in the last month and in the one
 * before), `subject` and `subject_amount` (who or what it is most about). Nothing is said of amounts that aren't above 0.
 */
export interface Message extends Question {
  readonly title: string;
  /** `{amount}`, `{value}`, `{of_all}`, `{currency}`, `{subject}`, `{subject_amount}`, `{month}` stand for the row's. */
  readonly sentence: string;
  /** How the last month's part came about, as in `from findings made in`; absent where nothing is dated, and no month can be compared. */
  readonly dated?: string;
  /** What it means when the last month brought more than the one before; absent: it may be either. */
  readonly rise?: "good" | "bad";
  readonly section: string;
  readonly readBy?: readonly string[];
}

/** What is drawn of an answer; the names are those of its columns. */
export type Drawing =
  | { readonly kind: "months"; readonly value: string; readonly mark?: string; readonly markNote?: string }
  | { readonly kind: "bars"; readonly label: string; readonly parts: readonly string[]; readonly rest?: string }
  | { readonly kind: "lines"; readonly panel: string; readonly value: string; readonly unit: string };

/** A question, its answer as a table, and where a drawing says more, as one. */
export interface Block extends Question {
  readonly title: string;
  /** How it is to be read; absent where the title says it. */
  readonly note?: string;
  readonly empty: string;
  readonly fields: readonly Field[];
  readonly drawing?: Drawing;
  /** So many rows are shown; 500 unless told. */
  readonly most?: number;
}

export interface Section {
  readonly slug: string;
  readonly title: string;
  readonly lead: string;
  readonly blocks: readonly Block[];
}

export interface Report {
  readonly title: string;
  /** The names that the questions call the schemas by. */
  readonly writtenFor: { readonly schema: string; readonly stateSchema: string };
  /** Models that several questions, or models, read: they are worked out once. Of those with a row a line each reader takes another part. */
  readonly holds: readonly string[];
  /** `today`: the day that all ages are counted to. */
  readonly calendar: Question;
  /** `currency_code`, the one with most behind it first: so they stand everywhere. */
  readonly currencies: Question;
  /** `stream`, `is_on`, `complete_to`, `last_success_at`, `last_run_status`. */
  readonly freshness: Question;
  /** `meaning`, `row_count`, `touched_count`, `unclear_count`. */
  readonly assumptions: Question;
  /** The last month in a sentence, whatever stands behind it. */
  readonly opening: Message;
  /** Those with most at stake stand first on the page, behind them those that rest on what nothing says. */
  readonly messages: readonly Message[];
  readonly figures: readonly Figure[];
  readonly sections: readonly Section[];
}
