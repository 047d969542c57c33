import { id, moment, quantity, record, text } from "../fields.ts";

/** A row of `GET /analytics/contract-reviews`, history. */
export const contractReview = record("Reviews that the service made of the contracts, with what each one found.", {
  id: id().describe("Identifier of the review."),
  review_period: text().nullable().describe("Period that the review covers, as the service names it."),
  status: text().describe("Where the review stands, as the service names it; values not documented."),
  contracts_reviewed: quantity().nullable().describe("How many contracts were looked at."),
  critical_findings: quantity().nullable().describe("How many findings of the review are critical."),
  high_findings: quantity().nullable().describe("How many findings of the review are of high severity."),
  medium_findings: quantity().nullable().describe("How many findings of the review are of medium severity."),
  completed_at: moment().nullable().describe("When the review was done; null while it is not."),
});
