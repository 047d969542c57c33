import { money, notGiven, quantity, record } from "../fields.ts";

/** `GET /requisitions/stats`. */
export const requisitionStats = record("How many requisitions stand where, measured once a day.", {
  drafts: quantity().describe("How many requisitions are drafts."),
  pending: quantity().describe("How many requisitions wait for a decision."),
  approved: quantity().describe("How many requisitions are approved."),
  rejected: quantity().describe("How many requisitions are rejected."),
  changes_requested: quantity().describe("How many requisitions are to be changed by their requester."),
  po_generated: quantity().describe("How many requisitions have become an order."),
  cancelled: quantity().describe("How many requisitions are cancelled."),
  this_month: quantity().describe("How many requisitions the service counts for the present month."),
  approved_this_month_amount: money(notGiven).describe("Value of the requisitions approved in the present month."),
});
