import { z } from "zod";
import { flag, id, json, lineId, moment, personal, record, table, text } from "../fields.ts";

const executionFields = {
  id: id().describe("Identifier of the execution, unique within the company."),
  company_id: id().nullable().describe("The service's identifier of the company; null where the row does not say."),
  rule_id: id().describe("Automation rule that was executed, automation_rules.id."),
  rule_name: text().nullable().describe("Name of the executed rule as a label; null where it is not known."),
  trigger_event: text().nullable().describe("Event that set the rule off, as the service names it."),
  trigger_data: json().describe("What the rule was set off with; content not documented, kept as JSON."),
  status: text().describe("Where the execution stands, as the service names it; values not documented."),
  engine_workflow_id: id().nullable().describe("The workflow engine's own identifier of it; null where it has none."),
  vendor_id: id().nullable().describe("Vendor that the execution concerned; null where it concerned none."),
  vendor_name: text().nullable().describe("Name of that vendor as a label, never to be joined on."),
  result: json().nullable().describe("What came of it; content not documented, kept as JSON, null without a result."),
  started_at: moment().nullable().describe("When the execution began; null where that is not known."),
  completed_at: moment().nullable().describe("When the execution ended; null as long as it has not."),
  error: text().nullable().describe("What went wrong, in the service's words; null where nothing did."),
  edited_subject: personal(text())
    .nullable()
    .describe("Subject line as somebody changed it before sending; null if unchanged."),
  edited_body: personal(text())
    .nullable()
    .describe("E-mail text as somebody changed it before sending; null if unchanged."),
};

/** A row of `GET /automations/executions`. */
export const automationExecution = record("Executions of automation rules, one row each time a rule ran.", {
  ...executionFields,
});

/** `GET /automations/executions/{id}`. */
export const automationExecutionDetail = record("Each execution of an automation rule as its own endpoint tells it.", {
  execution: z.object(executionFields),
  action_logs: table(
    "automation_execution_action_logs",
    "What was done step by step in each execution of an automation rule, one row an action.",
    {
      id: lineId(id()).describe("Identifier of the logged action."),
      execution_id: id().describe("Execution that the logged action belongs to, as the entry itself says."),
      action_type: text().nullable().describe("Kind of action, as the service names it; values not documented."),
      action_data: json().describe("What the action worked with; content not documented, kept as JSON."),
      result: text().nullable().describe("How the action ended, as the service names it; values not documented."),
      created_at: moment().nullable().describe("When the action was logged; null where that is not known."),
    },
  ),
  emails: table(
    "automation_execution_emails",
    "E-mails that belong to each execution of an automation rule, sent and received, one row a message.",
    {
      id: lineId(id()).describe("Identifier of the message among those of executions."),
      execution_id: id().describe("Execution that the message belongs to, as the message itself says."),
      direction: text().describe("Whether the message came in or went out, as the service names it."),
      sender: personal(text())
        .nullable()
        .describe("Address that the message was sent from; null where it is not known."),
      recipient: personal(text())
        .nullable()
        .describe("Address that the message was sent to; null where it is not known."),
      subject: personal(text()).nullable().describe("Subject line of the message; null where it has none."),
      body_html: personal(text()).nullable().describe("Text of the message as HTML; null where it has none."),
      body_text: personal(text()).nullable().describe("Text of the message without markup; null where it has none."),
      mailer_message_id: id().nullable().describe("The mail system's own identifier of the message."),
      created_at: moment().nullable().describe("When the message was recorded; null where that is not known."),
    },
  ),
});

/** `GET /automations/executions/{id}/preview`. */
export const automationExecutionPreview = record("The e-mail that each execution of an automation rule would send.", {
  subject: personal(text()).nullable().describe("Subject line of the e-mail; null where there is none."),
  body_html: personal(text()).nullable().describe("Text of the e-mail as HTML; null where there is none."),
  recipient_email: personal(text()).nullable().describe("Address the e-mail would go to; null where none is known."),
  trigger_data: json().describe("What the rule was set off with; content not documented, kept as JSON."),
  trigger_event: text().nullable().describe("Event that set the rule off, as the service names it."),
  vendor_name: text().nullable().describe("Vendor the e-mail is meant for, as a label and never to be joined on."),
  rule_name: text().nullable().describe("Rule that wrote the e-mail, as a label; null where it is not known."),
  is_edited: flag().describe("Whether somebody has changed what the rule wrote."),
});
