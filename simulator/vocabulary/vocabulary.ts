import type { Collection, Listing } from "../collection.ts";
import type { Row } from "../source.ts";
import { mixedOrder } from "./mixed_order.ts";
import { dataSaid, keySaid, rowSaid, type Teller, understood } from "./translation.ts";

export const VOCABULARIES = ["plain", "other"] as const;
export type VocabularyName = (typeof VOCABULARIES)[number];

/** How the company's facts are told: with which values, in which formats and orders. The documents leave all of it open. */
export interface Vocabulary {
  /** Nearly every invoice names another one, and credits are negative. */
  readonly linksInvoices: boolean;
  /** The order of a list that no document promises one for; undefined: its own. */
  readonly order: (collection: Collection, seed: number) => Listing | undefined;
  readonly data: (data: unknown, template: string, paged: boolean, teller: Teller) => unknown;
  readonly row: (row: Row, template: string, field: string, teller: Teller) => Row;
  readonly key: (key: string) => string;
  /** A value of a path or a query, in the simulator's own words. */
  readonly understood: (text: string) => string;
}

const same = <T>(value: T): T => value;

/** `plain` is the simulator's own; `other` tells the same company differently wherever the documents promise nothing. */
export const vocabularies: Readonly<Record<VocabularyName, Vocabulary>> = {
  plain: { linksInvoices: false, order: () => undefined, data: same, row: same, key: same, understood: same },
  other: { linksInvoices: true, order: mixedOrder, data: dataSaid, row: rowSaid, key: keySaid, understood },
};
