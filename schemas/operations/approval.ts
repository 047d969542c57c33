import { date, flag, id, json, moment, personal, quantity, record, score, text } from "../fields.ts";

/** A row of `GET /approvals/pending`. */
export const pendingApproval = record(
  "Approvals that invoices wait for, one row an approval that is still to be given.",
  {
    action_id: id().nullable().describe("Identifier of the approval as an action; null where it has none."),
    doc_id: id().describe("Document that waits for approval, by an assumed join invoices.doc_id."),
    action_type: text().nullable().describe("What is to be decided, as the service names it; values not documented."),
    approval_status: text().nullable().describe("Where the approval stands, as the service names it."),
    assigned_to: personal(text()).nullable().describe("Who is to decide; null where nobody was named."),
    due_date: date().nullable().describe("Day by which the decision is due; null where there is none."),
    invoice: json().describe("The invoice in short; content not documented, kept as JSON."),
    match: json().describe("How the invoice matches its order; content not documented, kept as JSON."),
    rule: json().describe("Approval rule that applies; content not documented, kept as JSON."),
    vendor_risk_score: score().nullable().describe("How risky the vendor is held to be; the scale is not documented."),
    notes: text().nullable().describe("Notes for whoever decides; null where there are none."),
    created_by: personal(text()).nullable().describe("Who asked for the approval; null where that is not known."),
    created_at: moment().nullable().describe("When the approval was asked for; null where that is not known."),
  },
);

/** A row of `GET /approvals/rules`. */
export const approvalRule = record("Rules that say who must approve what, one row a rule.", {
  id: id().describe("Identifier of the rule, unique within the company."),
  rule_name: text().describe("Name of the rule as the company gave it."),
  rule_type: text().describe("Kind of rule, as the service names it; values not documented."),
  conditions: json().nullable().describe("When the rule applies; content not documented, kept as JSON."),
  approver_role: text().nullable().describe("Role that approves; null where the rule names none."),
  approver_user_id: personal(id()).nullable().describe("User that approves; null where the rule names none."),
  approver_email: personal(text())
    .nullable()
    .describe("E-mail address of the approver; null where the rule names none."),
  priority: quantity().describe("Rank of the rule among the others; which end comes first is not documented."),
  is_active: flag().describe("Whether the rule is in force."),
  created_at: moment().nullable().describe("When the rule was set up; null where that is not known."),
  updated_at: moment().nullable().describe("When the rule was last edited; null where that is not known."),
});
