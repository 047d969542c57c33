import type { Company } from "./company.ts";

/** A span of numbers, both ends included; empty when `first` > `last`. */
export interface Span {
  readonly first: number;
  readonly last: number;
  readonly length: number;
}

/**
 * Two base lists of different length cover the same history, so their rows are paired in order: child `k` of `children`
 * belongs to parent `ceil(k * parents / children)`. Both directions are arithmetic, nothing is stored.
 */
export function parentOf(child: number, children: number, parents: number): number {
  return Math.min(parents, Math.max(1, Math.ceil((child * parents) / Math.max(1, children))));
}

/** The children that `parentOf` gives to `parent`. */
function childrenOf(parent: number, children: number, parents: number): Span {
  if (parents === 0 || children === 0) return { first: 1, last: 0, length: 0 };
  const first = Math.floor(((parent - 1) * children) / parents) + 1;
  const last = Math.floor((parent * children) / parents);
  return { first, last, length: Math.max(0, last - first + 1) };
}

/** The order a base invoice was written for; the rest of the invoice's story is in its own facts. */
export function orderOfInvoice(company: Company, invoice: number): number {
  return parentOf(invoice, company.sizes.invoices, company.sizes.orders);
}

export function invoicesOfOrder(company: Company, order: number): Span {
  return childrenOf(order, company.sizes.invoices, company.sizes.orders);
}

/** The order a base finding cites. */
export function orderOfFinding(company: Company, finding: number): number {
  return parentOf(finding, company.sizes.findings, company.sizes.orders);
}

export function findingsOfOrder(company: Company, order: number): Span {
  return childrenOf(order, company.sizes.findings, company.sizes.orders);
}
