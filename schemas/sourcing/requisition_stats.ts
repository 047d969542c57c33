import { count, money, notGiven, record } from "../fields.ts";

/** `GET /requisitions/stats`. */
export const requisitionStats = record("How many requisitions stand where, measured once a day.", {
  drafts: count().describe("How many requisitions are drafts."),
  pending: count().describe("How many requisitions wait for a decision."),
  approved: count().describe("How many requisitions are approved."),
  rejected: count().describe("How many requisitions are rejected."),
  changes_requested: count().describe("How many requisitions are to be changed by their requester."),
  po_generated: count().describe("How many requisitions have become an order."),
  cancelled: count().describe("How many requisitions are cancelled."),
  this_month: count().describe("How many requisitions the service counts for the present month."),
  approved_this_month_amount: money(notGiven).describe("Value of the requisitions approved in the present month."),
});
