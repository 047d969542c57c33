import type { Contents, Row } from "./warehouse.ts";
import { usualMeanings } from "./warehouse.ts";

/** The words a service uses where its documents leave them open, and how a configuration reads them. */
export interface Personality {
  readonly personality: string;
  /** `doc_type` of a credit whose total is positive, and of one whose total is below 0. */
  readonly credit: string;
  readonly reversal: string;
  readonly invoice: string;
  readonly paid: string;
  readonly unpaid: string;
  /** What stands where there is nothing. */
  readonly nothing: string | null;
  /** Nearly every invoice names another one. */
  readonly link: Row;
  readonly meanings: NonNullable<Contents["meanings"]>;
}

/** The same facts, told in two ways: the models have to answer the same. */
export const personalities: readonly Personality[] = [
  {
    personality: "the usual words",
    ...{ credit: "Credit memo", reversal: "Invoice", invoice: "Invoice", paid: "paid", unpaid: "open", nothing: null },
    link: {},
    meanings: { ...usualMeanings, paid: { payment_status: ["paid"] } },
  },
  {
    personality: "other words",
    ...{ credit: " GUTSCHRIFT", reversal: "gutschrift 7", invoice: "RECHNUNG", paid: "BEZAHLT ", unpaid: "Offen" },
    nothing: " ",
    link: { linked_invoice_doc_id: "another", linked_invoice_number: "9", credit_memo_match_method: "number" },
    meanings: { ...usualMeanings, credit: { doc_type: ["*gutschrift*"] }, paid: { payment_status: ["bezahlt"] } },
  },
];
